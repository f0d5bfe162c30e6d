"""A release: `python -m tools.release write | check`.

`write` makes every file that release.toml decides; it says which have changed. `check` names the
fields that are still empty. Status 0; 1 if something is missing; 2 with one line about what is
wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tools.release.fields import ROOT, ReleaseError, read
from tools.release.writing import write


def main(argv: Sequence[str] | None = None) -> int:
    """Perform; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.release", description=__doc__.partition("\n\n")[2], allow_abbrev=False
    )
    parser.add_argument("verb", choices=("write", "check"))
    args = parser.parse_args(argv)
    try:
        release = read()
        if args.verb == "write":
            print(*(f"written: {name}" for name in write(ROOT, release)), sep="\n", end="\n")
            return 0
    except ReleaseError as error:
        print(error, file=sys.stderr)
        return 2
    return _check(release.missing, published=release.published)


def _check(missing: list[str], *, published: bool) -> int:
    for name in missing:
        print(f"release.toml: {name} is empty")
    if not published:
        print("release.toml: published is false: pages show how a checkout is installed")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
