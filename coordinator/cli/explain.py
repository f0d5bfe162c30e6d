"""The command `coordinator explain`: its options and exit status. Its sentences are in
`coordinator/history/explain/`."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentTypeError, Namespace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from coordinator.base.printable import printable

from . import Subparsers, UsageError

DESCRIPTION: Final = """Tell each group's timeline from an event log, and why each of
its rebalances happened.

Of several brokers also each reassignment: how far it came, and what it waits for.

Text for people, `--format json` for programs. Something that is no log, a group or a generation
that is not in it: what, where, what would be right; status 2."""

if TYPE_CHECKING:
    from coordinator.history.explain.reassignments import Reassignments
    from coordinator.history.world.timeline import Timeline
    from coordinator.history.world.views import GroupView


def add_parser(subparsers: Subparsers) -> None:
    """Declare the options of `explain`."""
    parser = subparsers.add_parser(
        "explain",
        help="explain from an event log why each rebalance happened",
        description=DESCRIPTION,
        allow_abbrev=False,
    )
    parser.add_argument(
        "log",
        metavar="LOG",
        help="the log, as written by `coordinator serve --log LOG`; - reads standard input",
    )
    parser.add_argument(
        "--run", metavar="RUN", help="this run of a log that holds several (default: the last one)"
    )
    parser.add_argument("--group", metavar="GROUP", help="this group only")
    parser.add_argument("--generation", type=_generation, metavar="N", help="this generation only")
    parser.add_argument(
        "--detail",
        action="store_true",
        help="also each request and answer on the way: how members learn of a rebalance",
    )
    parser.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="text for people (default), json for programs",
    )


def _generation(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} is no generation: give a number from 0 on")
    return int(text)


def run(args: Namespace) -> int:
    """Explain a log; return 0, or 2 if it cannot be explained."""
    from coordinator.history.explain import reassignments
    from coordinator.history.explain.output import as_plain, as_text

    moves = reassignments.Reassignments()
    timeline = _read(args.log, args.run, moves, details=args.detail)
    groups = _groups(timeline, args.group, args.generation)
    if args.group is not None or args.generation is not None:
        moves.all.clear()
    if args.format == "json":
        print(
            json.dumps(
                {
                    **as_plain(timeline, groups, args.generation),
                    "reassignments": reassignments.as_plain(moves),
                },
                indent=2,
            )
        )
    else:
        for line in (*as_text(timeline, groups, args.generation), *reassignments.as_text(moves)):
            print(line)
        if not groups:
            print("\nno group in this log: none of its clients joined one")
    return 0


def _read(path: str, run_name: str | None, moves: Reassignments, *, details: bool) -> Timeline:
    from coordinator.events.files import read
    from coordinator.events.line import LogError
    from coordinator.events.reader import read_lines
    from coordinator.history.explain.output import timeline_of

    try:
        if path == "-":
            return timeline_of(
                moves.follow(read_lines(sys.stdin, "standard input", run_name)),
                "standard input",
                details=details,
            )
        return timeline_of(moves.follow(read(path, run_name)), path, details=details)
    except LogError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror or error}; write one with `coordinator serve --log {path}`"
        ) from None


def _groups(timeline: Timeline, group: str | None, generation: int | None) -> list[GroupView]:
    """Return the groups that were asked for; none if clients only tried to reach the group.
    Raises UsageError if the log has no such group or generation."""
    from coordinator.history.world.obstacles import obstacles

    groups = list(timeline.groups.values())
    if group is not None:
        if group not in timeline.groups:
            if obstacles(timeline, group):
                return []
            near = get_close_matches(group, timeline.groups, 1)
            hint = (
                f"; did you mean {printable(near[0])}?" if near else _those(list(timeline.groups))
            )
            raise UsageError(f"--group {printable(group)}: not in this log{hint}")
        groups = [timeline.groups[group]]
    if generation is not None:
        groups = [
            view
            for view in groups
            if any(rebalance.generation == generation for rebalance in view.rebalances)
            or any(line.generation == generation for line in view.seen)
        ]
        if not groups:
            highest = max((view.generation for view in timeline.groups.values()), default=0)
            raise UsageError(
                f"--generation {generation}: no such generation in this log; its highest is {highest}"
            )
    return groups


def _those(names: list[str]) -> str:
    return (
        f"; its groups are {', '.join(map(printable, sorted(names)[:10]))}"
        if names
        else "; it has no group at all"
    )
