"""`coordinator peers`: well-behaved members in a group of any Kafka, until SIGINT or SIGTERM.

Prints what they own: redrawn in place on a terminal, else a few plain lines for each generation (in
the consumer protocol: each epoch) that everybody has settled in. They do not consume: they fetch
committed offsets and, only if enable.auto.commit is set, commit those again. Status 0 after a clean
leave, 1 if the broker cannot be reached or a member failed, 2 for wrong options. A second signal
ends the process at once.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from .. import Subparsers, UsageError, command_config

if TYPE_CHECKING:
    import asyncio

    from coordinator.members import MemberConfig

_NOT_FOR_CONFIG = {
    "group.id": "--group",
    "client.id": "--client-id",
    "group.instance.id": "--static",
    "client.rack": "--racks",
    "partition.assignment.strategy": "--assignor",
    "group.protocol": "--protocol",
    "group.remote.assignor": "--server-assignor",
}
_REACH_TIMEOUT_S = 10.0
_DEFAULT_ASSIGNORS = "range,cooperative-sticky"
_CLASSIC, _CONSUMER, _SHARE = "classic", "consumer", "share"


def add_parser(subparsers: Subparsers) -> None:
    """Declare the options of `peers`."""
    parser = subparsers.add_parser(
        "peers",
        help="run simulated members in a group of any Kafka",
        allow_abbrev=False,
        description="Run simulated members in a group, on this emulator or any Kafka. Shows what they own; they leave on "
        "a signal.",
    )
    add = parser.add_argument
    add("--bootstrap", required=True, metavar="HOST:PORT[,...]", help="brokers to ask first")
    add("--command-config", metavar="FILE", help=command_config.HELP)
    add("--group", required=True, metavar="ID", help="the group to join")
    add("--topics", metavar="NAME[,...]", help="topics to subscribe to")
    add(
        "--pattern",
        metavar="REGEX",
        help="instead of --topics: all topics whose whole name matches, now and later",
    )
    add("-n", "--count", type=int, default=1, metavar="N", help="how many members (default 1)")
    known = "range, roundrobin, sticky, cooperative-sticky or module:Class"
    add(
        "--protocol",
        choices=(_CLASSIC, _CONSUMER, _SHARE),
        default=_CLASSIC,
        help="group protocol; consumer is KIP-848's, share KIP-932's (default classic)",
    )
    add(
        "--assignor",
        metavar="NAME[,...]",
        help=f"{known}, in order of vote (default {_DEFAULT_ASSIGNORS})",
    )
    add(
        "--server-assignor",
        metavar="NAME",
        help="with --protocol consumer: the assignor of the coordinator, such as uniform or range",
    )
    add(
        "--static",
        action="store_true",
        help="static members, with the client id as group.instance.id; a member that ends remains in the group "
        "until its session timeout",
    )
    add(
        "--client-id",
        metavar="PREFIX",
        help="client ids are PREFIX-1, PREFIX-2, ... (default peer)",
        default="peer",
    )
    add(
        "--processing",
        type=int,
        default=0,
        metavar="MS",
        help="with --protocol share: processing time of a record (default 0)",
    )
    for word, what in (("release", "gives a record back"), ("reject", "refuses it for good")):
        add(
            f"--{word}",
            type=float,
            default=0.0,
            metavar="P",
            help=f"with --protocol share: how probable it is that a member {what}, from 0 to 1",
        )
    add(
        "--renew",
        type=int,
        default=0,
        metavar="MS",
        help="with --protocol share: processing time after which a member renews its locks, repeatedly (default 0: "
        "never)",
    )
    add("--racks", metavar="RACK[,...]", help="client.rack of the members, in turn")
    add(
        "--config",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a consumer setting by Kafka's name; repeatable",
    )
    add("--seed", type=int, metavar="N", help="draw the jitter of backoffs from this seed")
    add(
        "--for",
        dest="seconds",
        type=float,
        metavar="SECONDS",
        help="leave after this time, without a signal",
    )
    add(
        "--loop",
        choices=("auto", "asyncio", "uvloop"),
        default="auto",
        help="event loop; auto: uvloop if it is installed",
    )


def run(args: argparse.Namespace) -> int:
    """Run the members until a signal comes."""
    if args.protocol == _SHARE:
        return _run_share(args)
    if args.processing or args.release or args.reject or args.renew:
        raise UsageError(
            "--processing, --release, --reject and --renew: only with --protocol share"
        )
    configs = member_configs(args)
    from ..serving.serve import loop_factory

    new_loop = loop_factory(args.loop)
    import asyncio

    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(_live(args, configs))


def _run_share(args: argparse.Namespace) -> int:
    from .share_peers import live, share_configs

    _check_counts(args)
    configs, work = share_configs(args)
    if args.topics is None:
        raise UsageError("give --topics jobs,mails: what the share group reads")
    topics = _names(args.topics, "--topics")
    from ..serving.serve import loop_factory

    new_loop = loop_factory(args.loop)
    import asyncio

    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(live(args, configs, work, topics))


def _check_counts(args: argparse.Namespace) -> None:
    from coordinator.members.live.bootstrap import AddressError, parse_addresses

    if args.count < 1:
        raise UsageError(f"-n {args.count}: at least 1 member")
    if args.seconds is not None and args.seconds < 0:
        raise UsageError(f"--for {args.seconds:g}: a number of seconds from 0")
    try:
        parse_addresses(args.bootstrap)
    except AddressError as error:
        raise UsageError(f"--bootstrap: {error}") from None


def member_configs(args: argparse.Namespace) -> list[MemberConfig]:
    """Return a configuration for each member. Raises UsageError that names the option and the
    values it takes."""
    from coordinator.members import MemberConfig, MemberConfigError

    _check_subscription(args)
    _check_counts(args)
    racks = _names(args.racks, "--racks") if args.racks else [""]
    properties: dict[str, object] = {"enable.auto.commit": False}
    for text in args.config:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(
                f"--config {text!r}: write NAME=VALUE, such as session.timeout.ms=6000"
            )
        if name in _NOT_FOR_CONFIG:
            raise UsageError(f"--config {name}: there is {_NOT_FOR_CONFIG[name]} for this")
        properties[name] = value
    configs = []
    try:
        for i in range(args.count):
            client_id = f"{args.client_id}-{i + 1}"
            named = {
                "group.id": args.group,
                "client.id": client_id,
                "client.rack": racks[i % len(racks)],
            }
            named |= _assignor(args)
            if args.static:
                named["group.instance.id"] = client_id
            configs.append(MemberConfig.from_properties({**properties, **named}))
        if args.protocol == _CLASSIC:
            configs[0].make_assignors()
    except MemberConfigError as error:
        text = str(error)
        option = next(
            (f"{option}: " for name, option in _NOT_FOR_CONFIG.items() if text.startswith(name)),
            "--config: ",
        )
        raise UsageError(f"{option}{text}") from None
    return configs


def _assignor(args: argparse.Namespace) -> dict[str, str]:
    """Return the settings of protocol and assignor: the members' assignors, or the
    coordinator's."""
    protocol = {"group.protocol": args.protocol}
    if args.protocol == _CONSUMER:
        if args.assignor is not None:
            raise UsageError(
                "--assignor: with --protocol consumer the coordinator assigns; give --server-assignor, or neither"
            )
        return (
            protocol
            if args.server_assignor is None
            else {**protocol, "group.remote.assignor": args.server_assignor}
        )
    if args.server_assignor is not None:
        raise UsageError(
            "--server-assignor: in the classic protocol the group's leader assigns; give --assignor, or --protocol consumer"
        )
    names = _DEFAULT_ASSIGNORS if args.assignor is None else args.assignor
    return {**protocol, "partition.assignment.strategy": ",".join(_names(names, "--assignor"))}


def _check_subscription(args: argparse.Namespace) -> None:
    if (args.topics is None) == (args.pattern is None):
        raise UsageError("give either --topics orders,payments or --pattern 'orders.*'")
    if args.topics is not None:
        _names(args.topics, "--topics")
        return
    if args.protocol == _CONSUMER:  # the coordinator reads it, in RE2's syntax
        return
    import re

    try:
        re.compile(args.pattern)
    except re.error as error:
        raise UsageError(
            f"--pattern {args.pattern!r}: {error}; a regular expression such as 'orders.*'"
        ) from None


def _names(text: str, option: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise UsageError(f"{option} {text!r}: names with commas between them, none empty")
    if len(set(names)) < len(names) and option != "--racks":
        raise UsageError(f"{option} {text!r}: a name stands there twice")
    return names


async def _live(args: argparse.Namespace, configs: list[MemberConfig]) -> int:
    import asyncio

    from coordinator.members.live import Fleet, FleetError

    from ..interrupts import stop_on_signals
    from .table import how_many, make_view

    asked_to_stop = asyncio.Event()
    stop_on_signals(asyncio.get_running_loop(), asked_to_stop)
    entry = command_config.read(args.command_config)
    fleet = Fleet(args.bootstrap, seed=args.seed, client_id=args.client_id, entry=entry)
    view = make_view(fleet, args.group)
    topics = None if args.topics is None else _names(args.topics, "--topics")
    status = 0
    try:
        peers = [fleet.peer(config, topics=topics, pattern=args.pattern) for config in configs]
        view.start(peers)
        status = await _until_asked(fleet, asked_to_stop, args.seconds)
        view.say(f"leaving: {how_many(len(fleet.peers))}")
    except FleetError as error:
        view.complain(f"{error}")
        status = 1
    finally:
        await fleet.close()
        view.end()
    return 1 if view.failed else status


async def _until_asked(fleet: object, asked_to_stop: asyncio.Event, seconds: float | None) -> int:
    """Wait for the signal, the end of the time, or the end of the last member. Return 1 if no
    broker was ever reached."""
    import asyncio

    from coordinator.members.live import Fleet, FleetError

    assert isinstance(fleet, Fleet)
    loop = asyncio.get_running_loop()
    began = loop.time()
    while fleet.peers and not asked_to_stop.is_set():
        past = loop.time() - began
        over = seconds is not None and past >= seconds
        if not fleet.bootstrap.reached and (
            past >= _REACH_TIMEOUT_S or (over and fleet.bootstrap.trouble)
        ):
            raise FleetError(f"no broker could be reached: {fleet.bootstrap.trouble}")
        if over:
            break
        left = 0.25 if seconds is None else min(0.25, seconds - past)
        try:
            await asyncio.wait_for(asked_to_stop.wait(), left)
        except TimeoutError:
            continue
    return 0
