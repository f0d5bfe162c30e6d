"""The command `coordinator reassign`: its options, files and exit status. It works on any cluster, so it
sends nothing but Kafka's own requests. Planning and carrying out are in `coordinator/lab/reassign/`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from . import Subparsers, UsageError, command_config

DESCRIPTION: Final = """Move partitions to other brokers, as kafka-reassign-partitions does, on
any cluster.

generate prints a proposal, execute begins it, verify tells how far it is and clears throttles, list
tells of all that is under way, cancel undoes it. Files are Kafka's. Status 0 if all went well, 1 if
verify finds something unfinished or a broker refuses, 2 for wrong options and files, and for plans
with brokers, topics or partitions that do not exist."""

if TYPE_CHECKING:
    from coordinator.kit.admin import Admin

T = TypeVar("T")


def add_parser(subparsers: Subparsers) -> None:
    """Declare the options of `reassign` and of its actions."""
    parser = subparsers.add_parser(
        "reassign",
        help="move partitions to other brokers",
        description=DESCRIPTION,
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for action, text in (
        ("generate", "propose an assignment for topics and brokers"),
        ("execute", "begin a reassignment"),
        ("verify", "show the progress; clear throttles when it is done"),
        ("list", "list all reassignments under way"),
        ("cancel", "cancel reassignments under way"),
    ):
        sub = actions.add_parser(action, help=text, description=text, allow_abbrev=False)
        sub.add_argument(
            "--bootstrap-server",
            required=True,
            metavar="HOST:PORT",
            help="a broker; several with commas",
        )
        sub.add_argument(command_config.OPTION, metavar="FILE", help=command_config.HELP)
        if action == "generate":
            sub.add_argument(
                "--topics-to-move-json-file", required=True, metavar="FILE", help="the topics"
            )
            sub.add_argument(
                "--broker-list", required=True, metavar="ID,...", help="the brokers to move them to"
            )
            sub.add_argument("--disable-rack-aware", action="store_true", help="ignore racks")
            sub.add_argument(
                "--seed", type=int, metavar="N", help="draw the proposal from this seed"
            )
        if action in ("generate", "list"):
            continue
        sub.add_argument(
            "--reassignment-json-file", required=True, metavar="FILE", help="the replicas wanted"
        )
        if action == "execute":
            sub.add_argument(
                "--additional",
                action="store_true",
                help="allow it beside, or in place of, reassignments under way",
            )
            sub.add_argument(
                "--throttle",
                type=int,
                metavar="BYTES",
                help="limit in bytes a second between brokers",
            )
        else:
            sub.add_argument(
                "--preserve-throttles", action="store_true", help="do not change throttles"
            )


def run(args: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    from coordinator.kit.admin import Admin, AdminError
    from coordinator.lab.reassign.tool import PlanError, ToolError
    from coordinator.members.live.bootstrap import AddressError, parse_addresses

    try:
        bootstrap = parse_addresses(args.bootstrap_server)
    except AddressError as error:
        raise UsageError(f"--bootstrap-server: {error}") from None
    entry = command_config.read(args.command_config)
    actions = {
        "generate": _generate,
        "execute": _execute,
        "verify": _verify,
        "list": _list,
        "cancel": _cancel,
    }
    act: Callable[[Admin], int] = actions[args.action](args)
    try:
        with Admin(bootstrap, entry=entry) as admin:
            return act(admin)
    except (AdminError, ToolError) as error:
        print(f"coordinator reassign {args.action}: {error}", file=sys.stderr)
        return 2 if isinstance(error, PlanError) else 1


def _generate(args: argparse.Namespace) -> Callable[[Admin], int]:
    from random import Random

    from coordinator.lab.reassign import tool
    from coordinator.lab.reassign.files import read_topics

    topics = _read(args.topics_to_move_json_file, read_topics)
    try:
        brokers = [int(text) for text in args.broker_list.split(",")]
    except ValueError:
        raise UsageError(
            f"--broker-list {args.broker_list}: broker ids are meant, such as 1,2,3"
        ) from None

    def act(admin: Admin) -> int:
        tool.generate(
            admin, topics, brokers, Random(args.seed), print, racks=not args.disable_rack_aware
        )
        return 0

    return act


def _execute(args: argparse.Namespace) -> Callable[[Admin], int]:
    from coordinator.lab.reassign import tool
    from coordinator.lab.reassign.files import read_assignment

    targets = _read(args.reassignment_json_file, read_assignment)
    if args.throttle is not None and args.throttle <= 0:
        raise UsageError(f"--throttle {args.throttle}: a number of bytes a second above 0 is meant")

    def act(admin: Admin) -> int:
        tool.execute(admin, targets, print, additional=args.additional, throttle=args.throttle)
        return 0

    return act


def _verify(args: argparse.Namespace) -> Callable[[Admin], int]:
    from coordinator.lab.reassign import tool
    from coordinator.lab.reassign.files import read_assignment

    targets = _read(args.reassignment_json_file, read_assignment)
    return lambda admin: (
        0 if tool.verify(admin, targets, print, preserve_throttles=args.preserve_throttles) else 1
    )


def _list(args: argparse.Namespace) -> Callable[[Admin], int]:
    from coordinator.lab.reassign import tool

    def act(admin: Admin) -> int:
        tool.listed(admin, print)
        return 0

    return act


def _cancel(args: argparse.Namespace) -> Callable[[Admin], int]:
    from coordinator.lab.reassign import tool
    from coordinator.lab.reassign.files import read_assignment

    targets = _read(args.reassignment_json_file, read_assignment)

    def act(admin: Admin) -> int:
        tool.cancel(admin, targets, print, preserve_throttles=args.preserve_throttles)
        return 0

    return act


def _read(path: str, read: Callable[[str], T]) -> T:
    from coordinator.lab.reassign.files import FileError

    try:
        return read(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    except FileError as error:
        raise UsageError(f"{path}: {error}") from None
