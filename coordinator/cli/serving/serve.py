"""The command `coordinator serve`: the emulator as a server process, until SIGINT or SIGTERM.

It prints the settings in force (addresses, differences from Kafka's defaults, the seed), then a
line when it listens. Wrong options end with status 2 and say what is wrong and what would be
right. A second signal ends the process at once. With --from-environment, variables such as those
of the apache/kafka image are read, too; options override them.
"""

from __future__ import annotations

import argparse
import gc
import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from signal import SIGINT, SIGTERM, signal
from typing import TYPE_CHECKING, Final

from coordinator.base.releases import NEWEST, RELEASES, ReleaseError, release_named

from .. import Subparsers, UsageError, log_options
from . import log_topic

if TYPE_CHECKING:
    import asyncio

    from coordinator.kit.emulator.embedded import Emulator
    from coordinator.kit.http.serving import ControlPort
    from coordinator.lab.page.server import PageServer

DEFAULT_LISTEN = "127.0.0.1:9092"
DEFAULT_NODE_ID = 1
REMEMBERED_LINES = 100_000
"""So many lines of the event log are kept for the control port when they go into no file."""


def _add_addresses(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    address = "[NAME://]HOST:PORT"
    add(
        "--listen",
        action="append",
        metavar=address,
        help=f"where to listen, port 0 for a free one (default {DEFAULT_LISTEN}); repeatable",
    )
    add(
        "--advertise",
        action="append",
        default=[],
        metavar=address,
        help="the address that clients get instead of the listener's own",
    )
    add(
        "--allow-remote",
        action="store_true",
        help="allow listeners beyond loopback: everybody who reaches the port may use it",
    )
    add(
        "--brokers",
        type=int,
        metavar="N",
        help="number of brokers; each listens on the port after the previous one's (default 1)",
    )
    add("--racks", metavar="RACK,...", help="the brokers' racks, one for each")
    add("--node-id", type=int, metavar="N", help=f"the broker's id (default {DEFAULT_NODE_ID})")
    add("--cluster-id", metavar="ID", help="the cluster's id (default: drawn from the seed)")


def _add_configuration(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--topic",
        action="append",
        default=[],
        metavar="NAME[:PARTITIONS]",
        help="a topic to have from the start; repeatable",
    )
    add(
        "--config",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a broker configuration by Kafka's name; repeatable",
    )
    add(
        "--kafka-version",
        metavar="RELEASE",
        help=f"which release of Kafka it behaves as: one of {', '.join(RELEASES)} (default: {NEWEST.name})",
    )
    add(
        "--feature",
        action="append",
        default=[],
        metavar="NAME=LEVEL",
        help="a feature level that differs from that release's, such as share.version=0; repeatable",
    )
    add(
        "--kafka-defaults",
        action="store_true",
        help="keep Kafka's initial rebalance delay of 3000 ms; without this it is 0",
    )
    add("--seed", type=int, metavar="N", help="draw every id from this seed")
    add(
        "--from-environment",
        action="store_true",
        help="also read KAFKA_* and COORDINATOR_* environment variables (docs/docker.md)",
    )


def _add_log(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--log",
        metavar="PATH",
        help="write the event log to this file (see `coordinator explain`); an existing file is refused",
    )
    mode = group.add_mutually_exclusive_group()
    mode.add_argument(
        "--log-append",
        nargs="?",
        const=True,
        metavar="PATH",
        help="continue the log as a new run (--log PATH --log-append)",
    )
    mode.add_argument(
        "--log-replace",
        nargs="?",
        const=True,
        metavar="PATH",
        help="start the log anew (--log PATH --log-replace)",
    )
    add(
        "--kafka-log",
        metavar="PATH",
        help="append the lines that a Kafka broker would log about its groups to this file (docs/diagnose.md)",
    )
    add(
        "--log-topic",
        metavar="NAME",
        help="also publish the event log to this topic, of the emulator itself unless --log-bootstrap is given "
        "(docs/event_log.md)",
    )
    add(
        "--log-bootstrap",
        metavar="HOST:PORT",
        help="bootstrap servers of the Kafka that has the topic of --log-topic",
    )
    add(
        "--log-command-config",
        metavar="FILE",
        help="client properties for that Kafka, as for --command-config of Kafka's tools",
    )


def _add_control(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--control",
        metavar="HOST:PORT",
        help="also open the control port at this address (docs/control.md); port 0: a free one",
    )
    add(
        "--control-advertise",
        metavar="HOST[:PORT]",
        help="host name by which others call the control port",
    )
    add(
        "--control-allow-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="an origin whose web pages may call the control port; repeatable",
    )
    add(
        "--page",
        nargs="?",
        type=_page_port,
        const=0,
        metavar="PORT",
        help="also show the groups in a browser (docs/lessons.md)",
    )
    add(
        "--page-act",
        action="store_true",
        help="with --page: everybody who opens the printed address may act on groups",
    )


def _add_security(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--user",
        action="append",
        default=[],
        metavar="NAME:PASSWORD",
        help="a user who may log in at a listener with SASL (docs/security.md); repeatable",
    )
    add("--users-file", metavar="PATH", help="a file with users, one NAME:PASSWORD a line")
    add(
        "--acl",
        action="append",
        default=[],
        metavar="SENTENCE",
        help="an access rule, such as 'User:billing may Read topic orders'; repeatable",
    )
    add(
        "--super-user",
        action="append",
        default=[],
        metavar="PRINCIPAL",
        help="a principal that may do everything, such as User:root; repeatable",
    )


def _add_limits(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--max-output-bytes",
        type=int,
        metavar="N",
        help="total bytes of answers that clients may leave unread before larger answers wait",
    )
    add(
        "--max-response-bytes",
        type=int,
        metavar="N",
        help="largest answer in bytes; a larger one closes its connection",
    )
    add(
        "--loop",
        choices=("auto", "asyncio", "uvloop"),
        default="asyncio" if hasattr(select, "epoll") else "auto",
        help="event loop; auto: uvloop if it is installed; default: asyncio's, which serves first who waited longest, where there is epoll",
    )


_OPTIONS: Final = (
    ("addresses and brokers", _add_addresses),
    ("topics, configurations, release", _add_configuration),
    ("event log", _add_log),
    ("control port and page", _add_control),
    ("security", _add_security),
    ("limits and event loop", _add_limits),
)


def add_parser(subparsers: Subparsers) -> None:
    """Declare the options of `serve`."""
    parser = subparsers.add_parser(
        "serve",
        help="run the emulator as a server",
        description="Run the emulator as a server until a signal.",
        allow_abbrev=False,
    )
    for title, add_options in _OPTIONS:
        add_options(parser.add_argument_group(title))


def run(args: argparse.Namespace) -> int:
    """Serve until a signal comes; return 0 after a graceful stop, 2 if the server cannot start."""
    with _stoppable(), _not_collecting():
        new_loop = loop_factory(args.loop)
        import asyncio

        if args.page_act and args.page is None:
            raise UsageError("--page-act: there is no page; give --page as well")
        _take_log_options(args)
        if args.from_environment:
            _take_environment(args)
        log_topic.check_options(args)
        with ExitStack() as ended:
            # The page shows a log, and a topic has one, so there is one for as long as it is looked
            # at.
            if (args.page is not None or args.log_topic is not None) and args.log is None:
                from tempfile import TemporaryDirectory

                args.log = os.path.join(
                    ended.enter_context(TemporaryDirectory(prefix="coordinator-")), "run.jsonl"
                )
            emulator = _emulator(args)
            collect_rarely()
            runner = ended.enter_context(asyncio.Runner(loop_factory=new_loop))
            return runner.run(_serve(emulator, _control_port(args, emulator), args))


@contextmanager
def _not_collecting() -> Iterator[None]:
    """Stop Python's garbage collector during start-up, which makes much that stays and no
    garbage. After that `collect_rarely` sets its pace."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def collect_rarely() -> None:
    """Let the garbage collector examine long-lived objects less often: a full collection with
    100,000 offsets takes a tenth of a second."""
    gc.enable()
    if hasattr(gc, "set_threshold"):  # PyPy has no thresholds
        gc.freeze()
        gc.set_threshold(5_000, 2, 250)


def _page_port(text: str) -> int:
    from ..watch import port

    return port(text)


@contextmanager
def _stoppable() -> Iterator[None]:
    """Handle SIGTERM before the loop does. Process 1 of a container would ignore it, and `docker
    stop` would wait for long."""
    former = signal(SIGTERM, lambda *_: sys.exit(0))
    try:
        yield
    finally:
        signal(SIGTERM, former)


def loop_factory(kind: str) -> Callable[[], asyncio.AbstractEventLoop]:
    """Return the function that makes the event loop."""
    from coordinator.server.net.fair_selector import new_loop

    if kind == "asyncio":
        return new_loop
    try:
        from uvloop import Loop
    except ImportError:
        if kind == "uvloop":
            from coordinator.base.installing import lacks

            raise UsageError(
                lacks("--loop uvloop: it is not installed", "fast", "--loop asyncio needs nothing")
            ) from None
        return new_loop
    made: Callable[[], asyncio.AbstractEventLoop] = Loop
    return made


def _take_log_options(args: argparse.Namespace) -> None:
    log_options.take(args, "append", "replace", needs_path=not args.from_environment)


def _take_environment(args: argparse.Namespace) -> None:
    """Take settings from the environment where no option is given; print warnings to standard
    error."""
    from . import environment

    settings = environment.read(
        os.environ,
        listen=args.listen or (),
        advertise=args.advertise,
        allow_remote=args.allow_remote,
        kafka_version=args.kafka_version,
    )
    for warning in settings.warnings:
        print(f"coordinator serve: warning: {warning}", file=sys.stderr)
    args.listen, args.advertise = settings.listen, settings.advertise
    given = {topic.partition(":")[0] for topic in args.topic}
    args.topic = [
        topic for topic in settings.topics if topic.partition(":")[0] not in given
    ] + args.topic
    args.acl = settings.acls + args.acl
    args.config = [f"{name}={value}" for name, value in settings.configs.items()] + args.config
    args.kafka_defaults = args.kafka_defaults or settings.kafka_defaults
    for name in (
        "node_id",
        "cluster_id",
        "log",
        "log_mode",
        "log_topic",
        "log_bootstrap",
        "log_command_config",
        "seed",
        "brokers",
        "racks",
        "kafka_version",
        "control",
        "control_advertise",
    ):
        if getattr(args, name) is None:
            setattr(args, name, getattr(settings, name))


def _emulator(args: argparse.Namespace) -> Emulator:
    from coordinator.kit.emulator.embedded import Emulator, EmulatorError
    from coordinator.server.build import TopicError
    from coordinator.server.settings.broker_configs import (
        BrokerConfigs,
        ConfigError,
        feature_options,
    )

    node_id = DEFAULT_NODE_ID if args.node_id is None else args.node_id
    try:
        configs = BrokerConfigs.from_options(
            args.config,
            kafka_defaults=args.kafka_defaults,
            node_id=node_id,
            release=NEWEST if args.kafka_version is None else release_named(args.kafka_version),
            features=feature_options(args.feature),
        )
    except ReleaseError as error:
        raise UsageError(f"--kafka-version: {error}") from None
    except ConfigError as error:
        raise UsageError(
            f"{'configuration' if args.from_environment else '--config'}: {error}"
        ) from None
    bounds = {
        name: value
        for name in ("max_output_bytes", "max_response_bytes")
        if (value := getattr(args, name)) is not None
    }
    try:
        return Emulator(
            args.topic,
            configs,
            listen=args.listen or DEFAULT_LISTEN,
            advertise=args.advertise,
            log=args.log,
            log_mode=args.log_mode or "new",
            kafka_log=args.kafka_log,
            seed=args.seed,
            allow_remote=args.allow_remote,
            node_id=node_id,
            cluster_id=args.cluster_id,
            brokers=1 if args.brokers is None else args.brokers,
            racks=[rack.strip() or None for rack in args.racks.split(",")] if args.racks else (),
            users=_users(args),
            acls=args.acl,
            super_users=args.super_user,
            remember=REMEMBERED_LINES if args.control and not args.log else 0,
            **bounds,
        )
    except TopicError as error:
        raise UsageError(f"--topic: {error}") from None
    except EmulatorError as error:
        raise UsageError(str(error)) from None


def _users(args: argparse.Namespace) -> dict[str, str] | None:
    """Return users and passwords; None if no option names any. Raises UsageError."""
    rows = [("--user", row) for row in args.user]
    if args.users_file is not None:
        try:
            with open(args.users_file) as file:
                lines = [line.rstrip("\n") for line in file]
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"--users-file {args.users_file}: {error}") from None
        rows += [
            (f"--users-file, line {number}", line)
            for number, line in enumerate(lines, 1)
            if line.strip() and not line.startswith("#")
        ]
    users = {}
    for where, row in rows:
        name, colon, password = row.partition(":")
        if not colon or not name or not password:
            raise UsageError(f"{where}: write NAME:PASSWORD, such as billing:secret")
        users[name] = password
    return users if rows else None


def _control_port(args: argparse.Namespace, emulator: Emulator) -> ControlPort | None:
    """Return the control port, if an option asks for it. Raises UsageError."""
    if not args.control:
        for option in ("control_advertise", "control_allow_origin"):
            if getattr(args, option):
                raise UsageError(
                    f"--{option.replace('_', '-')}: there is no control port; give --control 127.0.0.1:0, say"
                )
        return None
    from coordinator.kit.http.serving import ControlPort, ControlPortError

    try:
        return ControlPort(
            emulator,
            args.control,
            advertise=args.control_advertise,
            origins=args.control_allow_origin,
            allow_remote=args.allow_remote,
        )
    except ControlPortError as error:
        raise UsageError(f"--control: {error}") from None


async def _serve(emulator: Emulator, control: ControlPort | None, args: argparse.Namespace) -> int:
    import asyncio

    from coordinator.kit.emulator.embedded import EmulatorError

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
    ready = f"ready: {emulator.bootstrap_servers}"
    if control is not None:
        ready += await _opened(emulator, control)
    page = None
    if args.page is not None:
        page = await _shown(emulator, control, args.page, may_act=args.page_act)
        ready += f" page {page.url_to_act}"
    publication = log_topic.published(
        emulator, args.log_topic, args.log_bootstrap, args.log_command_config
    )
    print(
        "\n".join([*describe(emulator), *([publication.told] if publication is not None else [])])
    )
    print(ready, flush=True)
    await asked_to_stop.wait()
    print("stopping", flush=True)
    if page is not None:
        page.stop()
    if control is not None:
        await control.stop()
    if publication is not None:
        await publication.emulator_stops()
    await emulator.stop()
    if publication is not None:
        await publication.emulator_stopped()
    return 0


async def _opened(emulator: Emulator, control: ControlPort) -> str:
    """Open the control port; return its part of the line `ready:`. The token is shown only if it
    was drawn, because a given one is known. Raises UsageError."""
    from coordinator.kit.http.serving import ControlPortError

    try:
        await control.start()
    except ControlPortError as error:
        await emulator.stop()
        raise UsageError(f"--control: {error}") from None
    return f" control {control.url}" + (f" token {control.token}" if control.token_is_drawn else "")


async def _shown(
    emulator: Emulator, control: ControlPort | None, port: int, *, may_act: bool
) -> PageServer:
    """Return the page on the event log, served by threads of its own. Raises UsageError."""
    from coordinator.lab.page.following import Follower
    from coordinator.lab.page.server import PageServer, assets

    assert emulator.log_path is not None
    deeds = None
    if may_act:
        from coordinator.lab.page.live_actions import Deeds

        deeds = Deeds(emulator)
    try:
        page = PageServer(
            "127.0.0.1",
            port,
            assets(),
            "watch.html",
            Follower(emulator.log_path),
            address=emulator.bootstrap_servers,
            acting=deeds,
        )
    except OSError as error:
        if control is not None:
            await control.stop()
        await emulator.stop()
        raise UsageError(
            f"--page {port}: cannot listen there: {error.strerror or error}; --page alone takes a free port"
        ) from None
    page.start()
    return page


def describe(emulator: Emulator) -> list[str]:
    """Return the settings in force: addresses, topics, seed, configuration; differences from
    Kafka's defaults are marked."""
    from coordinator.base.version import __version__
    from coordinator.server.cluster import CONSUMER_OFFSETS
    from coordinator.server.settings.broker_configs import broker_defs

    brokers = emulator.brokers
    cluster = next(iter(brokers.values())).cluster
    nodes = "node" if len(brokers) == 1 else "nodes"
    lines = [
        f"coordinator {__version__}: the group coordinator of Apache Kafka {emulator.configs.release}, emulated",
        f"cluster {cluster.cluster_id}, {nodes} {', '.join(map(str, brokers))}, seed {emulator.seed}",
    ]
    for node, server in emulator.servers.items():
        whose = "" if len(brokers) == 1 else f"broker {node} "
        for endpoint in server.endpoints:
            host, port = cluster.brokers[node].endpoints[endpoint.name]
            advertised = (
                ""
                if (host, port) == (endpoint.host, endpoint.port)
                else f", advertised as {host}:{port}"
            )
            lines.append(f"{whose}listening on {endpoint}{advertised}")
    topics = [
        f"{topic.name}:{len(topic.partitions)}"
        for topic in cluster.topics.values()
        if topic.name != CONSUMER_OFFSETS
    ]
    lines.append(f"topics: {', '.join(topics) or 'none yet'}")
    if emulator.log_path is not None:
        lines.append(f"event log: {emulator.log_path}")
    lines.append("configuration in force (* not Kafka's default):")
    for name, value, _, honoured in emulator.configs.in_force():
        default = broker_defs(emulator.configs.release)[name].default
        mark = (
            f"  {name} = {value}" if value == default else f"* {name} = {value} (Kafka: {default})"
        )
        lines.append(mark if honoured else f"{mark}; shown only: nothing depends on it here")
    return lines
