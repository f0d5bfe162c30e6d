"""The command `coordinator ctl`: a subcommand for each operation of the control port, made from the table
in `coordinator/kit/http/table.py`. Commands that are not made from it are in `others.py`."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Final

from coordinator.base.printable import printable

from .. import Subparsers, UsageError

DESCRIPTION: Final = """Ask a running emulator's control port for what the testing kit can do, one
command each.

    coordinator ctl group wait billing --state Stable --members 2
    coordinator ctl fault add fail OffsetCommit --error REBALANCE_IN_PROGRESS --group billing --times 1

The port is named by --control or COORDINATOR_CONTROL, its token by COORDINATOR_CONTROL_TOKEN.
Prints a short text, or with --format json what the port answered. Status 0: done; 1: it cannot be
done, did not come about, or nobody answers; 2: wrong options."""

if TYPE_CHECKING:
    from .command_parts import Leaf


def add_parser(subparsers: Subparsers) -> None:
    """Declare the options of `ctl`: a command for each operation of the control port."""
    from coordinator.kit.http.table import all_operations

    from . import others
    from .command_parts import Words

    parser = subparsers.add_parser(
        "ctl",
        help="act on a running emulator through its control port",
        description=DESCRIPTION,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    words = Words(parser.add_subparsers(dest="noun", metavar="what", title="what", required=True))
    for entry in all_operations().values():
        if entry.name not in others.BY_HAND:
            words.operation(entry)
    others.add(words)


def run(args: argparse.Namespace) -> int:
    """Send the operation to the control port; return the exit status."""
    from coordinator.kit.http.client import Client, NoControlPort, Refused
    from coordinator.kit.http.shapes import ShapeError

    leaf: Leaf = args.leaf
    try:
        client = Client.from_environment(args.control)
    except NoControlPort as error:
        raise UsageError(str(error)) from None
    try:
        answer = leaf.call(client, args)
    except ShapeError as error:
        raise UsageError(str(error)) from None
    except NoControlPort as error:
        return _failed(str(error))
    except Refused as refused:
        if refused.status == 400:
            raise UsageError(str(refused)) from None
        if args.format == "json":
            print(json.dumps(refused.problem))
        return _failed(str(refused))
    text = json.dumps(answer) if args.format == "json" else leaf.tell(answer)
    if text:
        print("\n".join(map(printable, text.split("\n"))))
    return 1 if isinstance(answer, dict) and answer.get("holds") is False else 0


def _failed(why: str) -> int:
    print("\n".join(map(printable, why.split("\n"))), file=sys.stderr)
    return 1
