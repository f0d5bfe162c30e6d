"""See the package's docstring."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .making import makers
from .outputs import OUTPUTS, Lines
from .store import differences, names, store, store_log, stored, stored_log


def main(argv: Sequence[str]) -> int:
    """Carry out one command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.frozen", allow_abbrev=False)
    parser.add_argument("names", nargs="*", metavar="NAME", help="logs (default: all)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--logs", action="store_true", help="make the logs that are missing")
    what.add_argument("--show", metavar="OUTPUT", choices=OUTPUTS, help="print a stored output")
    what.add_argument("--diff", action="store_true", help="print what writing would change")
    args = parser.parse_args(argv)
    if args.logs:
        there = set(names())
        for name, make in makers():
            if name not in there:
                store_log(name, make())
                print(name)
        return 0
    for name in args.names or names():
        if args.show is not None:
            print(stored(name, args.show), end="")
        elif args.diff:
            for output, rows in differences(name, Lines(stored_log(name))).items():
                print(f"{name}: {output}", *rows, sep="\n")
        else:
            log = Lines(stored_log(name))
            for output, make in OUTPUTS.items():
                if store(name, output, make(log)):
                    print(f"{name}: {output}")
    return 0


sys.exit(main(sys.argv[1:]))
