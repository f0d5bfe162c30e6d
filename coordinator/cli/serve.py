"""`coordinator serve`: the emulator as a server process, until SIGINT or SIGTERM.

Prints what is in force (addresses, what differs from Kafka's defaults, the seed), then a line when it listens. Wrong
options say what is wrong and what would be right; status 2. A second signal ends the process at once. With --from-environment,
variables such as those of the apache/kafka image count as well; options given beside them win.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from signal import SIGINT, SIGTERM, signal
from typing import TYPE_CHECKING

from . import Subparsers, UsageError

if TYPE_CHECKING:
    from coordinator.emulator import Emulator

DEFAULT_LISTEN = "127.0.0.1:9092"
DEFAULT_NODE_ID = 1


def add_parser(subparsers: Subparsers) -> None:
    """The options of `serve`."""
    parser = subparsers.add_parser(
        "serve", help="run the emulator as a server", description="Run the emulator as a server until a signal.", allow_abbrev=False
    )  # fmt: skip
    add = parser.add_argument
    address = "[NAME://]HOST:PORT"
    add("--listen", action="append", metavar=address, help=f"where to listen, port 0 for a free one (default {DEFAULT_LISTEN}); repeatable")
    add("--advertise", action="append", default=[], metavar=address, help="what clients are told instead of the listener's own address")
    add("--allow-remote", action="store_true", help="may listen beyond loopback: whoever reaches the port may use it")
    add("--topic", action="append", default=[], metavar="NAME[:PARTITIONS]", help="a topic to have from the start; repeatable")
    add("--config", action="append", default=[], metavar="NAME=VALUE", help="a broker configuration by Kafka's name; repeatable")
    add("--kafka-defaults", action="store_true", help="keep Kafka's initial rebalance delay of 3000 ms; without this it is 0")
    add("--log", metavar="PATH", help="write the event log there (see `coordinator explain`)")
    add("--seed", type=int, metavar="N", help="draw every id from this seed")
    add("--node-id", type=int, metavar="N", help=f"the broker's id (default {DEFAULT_NODE_ID})")
    add("--cluster-id", metavar="ID", help="the cluster's id (default: drawn from the seed)")
    add("--from-environment", action="store_true", help="also take KAFKA_* and COORDINATOR_* variables, as in docs/docker.md")
    add("--loop", choices=("auto", "asyncio", "uvloop"), default="auto", help="event loop; auto: uvloop if it is installed")


def run(args: argparse.Namespace) -> int:
    """Serve until a signal comes. 0 after a graceful stop, 2 if the server cannot start."""
    with _stoppable():
        new_loop = loop_factory(args.loop)
        import asyncio

        if args.from_environment:
            _take_environment(args)
        emulator = _emulator(args)
        with asyncio.Runner(loop_factory=new_loop) as runner:
            return runner.run(_serve(emulator))


@contextmanager
def _stoppable() -> Iterator[None]:
    """Hear SIGTERM before the loop does. To process 1 of a container it would be nothing, and `docker stop` would wait for long."""
    former = signal(SIGTERM, lambda *_: sys.exit(0))
    try:
        yield
    finally:
        signal(SIGTERM, former)


def loop_factory(kind: str) -> type | None:
    """What makes the event loop; None: asyncio's own."""
    if kind == "asyncio":
        return None
    try:
        from uvloop import Loop
    except ImportError:
        if kind == "uvloop":
            raise UsageError("--loop uvloop: it is not installed; take --loop asyncio, or install the extra `fast`") from None
        return None
    return Loop


def _take_environment(args: argparse.Namespace) -> None:
    """Put what the environment says where no option says otherwise; warnings go to standard error."""
    from . import environment

    settings = environment.read(os.environ, listen=args.listen or (), advertise=args.advertise, allow_remote=args.allow_remote)
    for warning in settings.warnings:
        print(f"coordinator serve: warning: {warning}", file=sys.stderr)
    args.listen, args.advertise = settings.listen, settings.advertise
    given = {topic.partition(":")[0] for topic in args.topic}
    args.topic = [topic for topic in settings.topics if topic.partition(":")[0] not in given] + args.topic
    args.config = [f"{name}={value}" for name, value in settings.configs.items()] + args.config
    args.kafka_defaults = args.kafka_defaults or settings.kafka_defaults
    for name in ("node_id", "cluster_id", "log", "seed"):
        if getattr(args, name) is None:
            setattr(args, name, getattr(settings, name))


def _emulator(args: argparse.Namespace) -> Emulator:
    from coordinator.broker.build import TopicError
    from coordinator.cluster.configs import BrokerConfigs, ConfigError
    from coordinator.emulator import Emulator, EmulatorError

    node_id = DEFAULT_NODE_ID if args.node_id is None else args.node_id
    try:
        configs = BrokerConfigs.from_options(args.config, kafka_defaults=args.kafka_defaults, node_id=node_id)
    except ConfigError as error:
        raise UsageError(f"{'configuration' if args.from_environment else '--config'}: {error}") from None
    try:
        return Emulator(
            args.topic, configs, listen=args.listen or DEFAULT_LISTEN, advertise=args.advertise, log=args.log, seed=args.seed,
            allow_remote=args.allow_remote, node_id=node_id, cluster_id=args.cluster_id,
        )  # fmt: skip
    except TopicError as error:
        raise UsageError(f"--topic: {error}") from None
    except EmulatorError as error:
        raise UsageError(str(error)) from None


async def _serve(emulator: Emulator) -> int:
    import asyncio

    from coordinator.emulator import EmulatorError

    loop = asyncio.get_running_loop()
    asked_to_stop = asyncio.Event()

    def stop() -> None:
        asked_to_stop.set()
        for number in (SIGINT, SIGTERM):  # the next one ends us in its own way
            loop.remove_signal_handler(number)

    for number in (SIGINT, SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        await emulator.start()
    except EmulatorError as error:
        raise UsageError(str(error)) from None
    print("\n".join(describe(emulator)))
    print(f"ready: {emulator.bootstrap_servers}", flush=True)
    await asked_to_stop.wait()
    print("stopping", flush=True)
    await emulator.stop()
    return 0


def describe(emulator: Emulator) -> list[str]:
    """What is in force: addresses, topics, seed, configuration; what differs from Kafka's defaults is marked."""
    from coordinator import __version__
    from coordinator.cluster import CONSUMER_OFFSETS
    from coordinator.cluster.configs import broker_defs

    cluster = emulator.broker.cluster
    lines = [
        f"coordinator {__version__}: the group coordinator of Apache Kafka 4.3.1, emulated",
        f"cluster {cluster.cluster_id}, node {emulator.broker.node_id}, seed {emulator.seed}",
    ]
    for endpoint in emulator.server.endpoints:
        host, port = emulator.endpoints[endpoint.name]
        advertised = "" if (host, port) == (endpoint.host, endpoint.port) else f", advertised as {host}:{port}"
        lines.append(f"listening on {endpoint}{advertised}")
    topics = [f"{topic.name}:{len(topic.partitions)}" for topic in cluster.topics.values() if topic.name != CONSUMER_OFFSETS]
    lines.append(f"topics: {', '.join(topics) or 'none yet'}")
    if emulator.log_path is not None:
        lines.append(f"event log: {emulator.log_path}")
    lines.append("configuration in force (* not Kafka's default):")
    for name, value, _, honoured in emulator.configs.in_force():
        default = broker_defs()[name].default
        mark = f"  {name} = {value}" if value == default else f"* {name} = {value} (Kafka: {default})"
        lines.append(mark if honoured else f"{mark}; shown only: nothing depends on it here")
    return lines
