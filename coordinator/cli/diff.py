"""The command `coordinator diff`: its options, output and exit status. Two logs are compared
by `coordinator/events/compare.py`."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import Final

from coordinator.base.printable import printable
from coordinator.events.line import Line

from . import Subparsers, UsageError

DESCRIPTION: Final = """Tell where two event logs part, with what came before and why
it happened.

Status 0 if everything that happened is the same, 1 if not, 2 for something that is no log."""

_WIDTH = 200


def add_parser(subparsers: Subparsers) -> None:
    """Declare the options of `diff`."""
    parser = subparsers.add_parser(
        "diff",
        help="find where two event logs begin to differ",
        description=DESCRIPTION,
        allow_abbrev=False,
    )
    parser.add_argument("one", metavar="A", help="an event log")
    parser.add_argument("other", metavar="B", help="another one")


def run(args: Namespace) -> int:
    """Compare two logs; return 0, 1 if they differ, or 2 if a file is no log."""
    from coordinator.events.compare import first_divergence
    from coordinator.events.files import read
    from coordinator.events.line import LogError

    try:
        found = first_divergence(read(args.one), read(args.other))
    except LogError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"cannot read {error.filename}: {error.strerror or error}") from None
    if found is None:
        print("the same happened in both")
        return 0
    for line in found.before:
        print(f"  {_text(line)}")
    for sign, path, side, causes in (
        ("-", args.one, found.one, found.causes[0]),
        ("+", args.other, found.other, found.causes[1]),
    ):
        print(f"{sign} {_text(side)}" if side is not None else f"{sign} {path} has ended")
        for cause in causes:
            print(f"      caused by {_text(cause)}")
    return 1


def _text(line: Line) -> str:
    own = {
        key: value
        for key, value in line.plain.items()
        if key not in ("seq", "at_ms", "type", "stream", "cause", "run")
    }
    text = printable(f"{line.seq} at {line.at_ms} ms: {line.name} {json.dumps(own)}")
    return text if len(text) <= _WIDTH else text[: _WIDTH - 3] + "..."
