"""A release: `python -m tools.release write | check | build`.

`write` makes every file that release.toml decides; it says which have changed. `check` names the
fields that are still empty. `build` makes dist/, checks what is in it, and says what is left to the
owner. Status 0; 1 if something
is missing; 2 with one line about what is wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tools.release.building import PARTS, build
from tools.release.fields import ROOT, ReleaseError, read
from tools.release.owner import told
from tools.release.writing import write


def main(argv: Sequence[str] | None = None) -> int:
    """Perform; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.release", description=__doc__.partition("\n\n")[2], allow_abbrev=False
    )
    parser.add_argument("verb", choices=("write", "check", "build"))
    parser.add_argument("--tag", default="", help="the tag that is built, such as v1.2.3")
    parser.add_argument(
        "--without",
        default="",
        metavar="PARTS",
        help=f"what is left out by `build`, of {', '.join(PARTS)}, separated by commas",
    )
    args = parser.parse_args(argv)
    try:
        release = read()
        if args.verb == "write":
            print(*(f"written: {name}" for name in write(ROOT, release)), sep="\n", end="\n")
            return 0
        if args.verb == "build":
            without = args.without.split(",") if args.without else []
            if unknown := sorted(set(without) - set(PARTS)):
                raise ReleaseError(f"--without {unknown[0]}: there are {', '.join(PARTS)}")
            print(*build(release, args.tag, without), sep="\n")
            print(*sorted(f"dist/{path.name}" for path in (ROOT / "dist").iterdir()), sep="\n")
            print(*told(release), sep="\n")
    except ReleaseError as error:
        print(error, file=sys.stderr)
        return 2
    status = _check(release.missing, published=release.published)
    return status if args.verb == "check" else 0


def _check(missing: list[str], *, published: bool) -> int:
    for name in missing:
        print(f"release.toml: {name} is empty")
    if not published:
        print("release.toml: published is false: pages show how a checkout is installed")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
