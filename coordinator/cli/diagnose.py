"""The command `coordinator diagnose`: its options, output and exit status. It knows no line of any log;
reading and reasoning are in `coordinator/clusters/`."""

from __future__ import annotations

import json
import os
import re
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from coordinator.base.printable import printable, shortened

from . import Subparsers, UsageError

DESCRIPTION: Final = """Tell from logs why a consumer group rebalanced.

Reads what people have in hand: a broker's log, clients' logs, output of kafka-consumer-groups, in
any mix and order, also gzip and zip. Each cause is told with the lines that show it; what the files
do not tell is said to be unknown. Status 2 if no file can be read."""

if TYPE_CHECKING:
    from coordinator.clusters.diagnosis import Diagnosis
    from coordinator.clusters.output.redaction import Redaction

_DAY_MS = 86_400_000


def add_parser(subparsers: Subparsers) -> None:
    """Declare the options of `diagnose`."""
    parser = subparsers.add_parser(
        "diagnose",
        help="explain from logs of brokers and clients why a group rebalanced",
        description=DESCRIPTION,
        allow_abbrev=False,
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="logs and describes; - reads standard input"
    )
    parser.add_argument("--group", metavar="GROUP", help="this group only")
    parser.add_argument(
        "--member", metavar="MEMBER", help="this client id, instance id or member id only"
    )
    parser.add_argument(
        "--since", type=_instant, metavar="TIME", help="from 20:15, or 2026-11-28T20:15:00"
    )
    parser.add_argument("--until", type=_instant, metavar="TIME", help="up to this time")
    parser.add_argument(
        "--zone",
        type=_zone,
        metavar="ZONE",
        help="time zone of timestamps without one: Z or an offset such as +02:00",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="for programs (docs/diagnose.md)")
    form.add_argument("--markdown", action="store_true", help="for a ticket")
    form.add_argument("--html", action="store_true", help="one page for a browser")
    form.add_argument(
        "--text",
        action="store_true",
        help="with --redact: print the input itself, redacted",
    )
    parser.add_argument(
        "--log",
        metavar="LOG",
        help="write the findings as an event log, for `coordinator explain LOG` and the tables; an existing file "
        "is refused",
    )
    parser.add_argument(
        "--redact",
        action="store_true",
        help="replace names of groups, members and files by stable others; quote no lines",
    )


def _zone(text: str) -> int:
    from coordinator.clusters.lines.stamps import zone_minutes

    minutes = zone_minutes(text)
    if minutes is None:
        raise ArgumentTypeError(f"{text!r} is no zone: give Z or an offset such as +02:00")
    return minutes


def _instant(text: str) -> tuple[int, bool, bool]:
    """Return an instant in ms, whether it has a date, and whether it has a time zone."""
    from coordinator.clusters.lines.stamps import stamp_at

    padded = (
        re.sub(r"^(.*\d\d:\d\d)(Z|[+-]\d\d:?\d\d)?$", r"\1:00\2", text)
        if text.count(":") < 2
        else text
    )
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        padded = f"{text} 00:00:00"
    found = stamp_at(padded)
    if found is None or found[1] != len(padded):
        raise ArgumentTypeError(f"{text!r} is no time: give 20:15, 20:15:30 or 2026-11-28T20:15:30")
    ms = found[0].ms
    return ms, ms >= _DAY_MS or ms < 0, found[0].offset is not None


def _window(args: Namespace) -> Callable[[int | None, int | None], bool] | None:
    if args.since is None and args.until is None:
        return None

    def inside(at: int | None, offset: int | None) -> bool:
        if at is None:
            return True
        for bound, sign in ((args.since, 1), (args.until, -1)):
            if bound is None:
                continue
            ms, day, zoned = bound
            shown = at if zoned else at + (offset or 0) * 60_000
            if sign * ((shown if day else shown % _DAY_MS) - ms) < 0:
                return False
        return True

    return inside


def run(args: Namespace) -> int:
    """Diagnose; return 0, or 2 if no file could be read."""
    from coordinator.clusters.diagnosis import diagnose
    from coordinator.clusters.output.frame import as_plain, quoted
    from coordinator.clusters.output.html_page import html_page
    from coordinator.clusters.output.redaction import Redaction
    from coordinator.clusters.output.text import Page

    if args.text and not args.redact:
        raise UsageError("--text is for --redact")
    if args.text and (args.group or args.member or args.since or args.until):
        raise UsageError(
            "--redact --text gives whole files: leave --group, --member, --since and --until"
        )
    if args.text and args.log:
        raise UsageError(
            "--log writes what is told, --text the input itself: give one of them, not both"
        )
    if args.text and "-" in args.files:
        raise UsageError("--redact --text reads its files twice: give a file in place of -")
    progress = _Progress()
    found = diagnose(
        args.files,
        zone=args.zone,
        window=_window(args),
        group=None if args.text else args.group,
        progress=progress if sys.stderr.isatty() else None,
    )
    progress.end()
    if not found.reports:
        raise UsageError("\n".join(found.unreadable) or "no file could be read")
    for sentence in found.unreadable:
        print(f"coordinator diagnose: cannot read {printable(sentence)}", file=sys.stderr)
    if args.text:
        return _redact(found, args)
    missing = _choose(found, args.group, args.member)
    redaction = Redaction(found.groups, on=args.redact)
    if args.log:
        _write_log(args.log, found, redaction)
    if args.json:
        print(json.dumps(as_plain(found, redaction), indent=2))
        return 0
    if args.html:
        quotes = {} if args.redact else quoted(found)
        print(html_page(as_plain(found, redaction), quotes))
        return 0
    for line in Page(found, redaction, markdown=args.markdown).lines():
        print(line)
    if missing:
        print(missing)
    return 0


def _write_log(path: str, found: Diagnosis, redaction: Redaction) -> None:
    from coordinator.clusters.output import seen_log
    from coordinator.events.line import LogError
    from coordinator.events.writer import EventLog

    if os.path.isfile(path):
        raise UsageError(f"--log {path}: the file exists already, and is left alone; give another")
    try:
        log = EventLog.open(
            path,
            run="seen",
            epoch_ms=seen_log.first_instant(found),
            config={"zone": seen_log.zone(found)},
            kafka_version=seen_log.RELEASE,
        )
    except LogError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
    seen_log.write(log, found, redaction)
    log.close()


def _redact(found: Diagnosis, args: Namespace) -> int:
    from coordinator.clusters.output.redacted_text import Names, redacted

    for line in redacted(args.files, Names(found.groups, found.people), args.zone):
        print(line)
    return 0


class _Progress:
    """Shows the progress of reading on one line of a terminal."""

    def __init__(self) -> None:
        self.sizes: dict[str, int | None] = {}
        self.shown = False

    def __call__(self, path: str, done: int) -> None:
        if path not in self.sizes:
            packed = path == "-" or path.endswith((".gz", ".zip"))
            self.sizes[path] = None if packed else os.path.getsize(path)
        size = self.sizes[path]
        share = f"{done >> 20} MB" if not size else f"{min(done * 100 // size, 100)} %"
        print(f"\r{shortened(path, 60)}: {share} read ", end="", file=sys.stderr, flush=True)
        self.shown = True

    def end(self) -> None:
        """Clear the progress line."""
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _choose(found: Diagnosis, group: str | None, member: str | None) -> str:
    """Drop everything except the chosen group and member; return a sentence if nothing is left."""
    names = sorted(
        {*found.groups, *(name for one in found.reports.values() for name in one.groups)}
    )
    if group is not None:
        for name in names:
            if name != group and name in found.groups:
                del found.groups[name]
        if not found.groups:
            those = f"; its groups are {', '.join(map(printable, names[:10]))}" if names else ""
            return f"--group {printable(group)}: not in these files{those}"
    if member is not None:
        kept = False
        for story in found.groups.values():
            story.rebalances = [
                each
                for each in story.rebalances
                if member in (each.member, each.member_id, each.held_up_by, *each.removed)
            ]
            story.events = [each for each in story.events if member in (each.member, each.by)]
            story.findings = [each for each in story.findings if member == each.member]
            story.not_known = [each for each in story.not_known if member in each]
            kept = kept or bool(story.rebalances or story.events or story.findings)
        if not kept:
            return f"--member {printable(member)}: nothing in these files is told of it"
    if not found.groups:
        return "no group is named in these files"
    return ""
