"""See the package's docstring."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .against import compare

_LOGS = Path(__file__).with_name("logs")


def main(argv: Sequence[str]) -> int:
    """Carry out one command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.frozen", allow_abbrev=False)
    parser.add_argument("names", nargs="*", metavar="NAME", help="logs (default: all)")
    parser.add_argument(
        "--against",
        metavar="CHECKOUT",
        type=Path,
        help="store nothing: make many logs and all outputs by this checkout and by another one, and"
        " print what differs; NAME may be a pattern",
    )
    parser.add_argument(
        "--lines",
        metavar="N",
        type=int,
        default=40,
        help="with --against, print at most N lines of each difference (default: %(default)s)",
    )
    args = parser.parse_args(argv)
    if args.against is not None:
        return compare(args.against, args.names, args.lines, _LOGS)
    from .stored import names, store  # --against works where these imports do not

    unknown = set(args.names) - set(names())
    if unknown:
        parser.error(f"no stored log is named {', '.join(sorted(unknown))}: they are {names()}")
    for name in args.names or names():
        for path in store(name):
            print(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
    return 0


sys.exit(main(sys.argv[1:]))
