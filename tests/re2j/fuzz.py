"""`python -m tests.re2j.fuzz --count 10000`: patterns and texts at random, RE2J's verdicts beside
ours. 1 if any differs.

Patterns that are too large for us (docs/divergences.md) are counted apart.
"""

from __future__ import annotations

import argparse
import sys

from tests.java_jars import NoJavaError, java_program
from tests.re2j.cases import PROGRAM, make_case, ours, theirs

BATCH = 500
TOO_LARGE = "error parsing regexp: expression too large: "


def main(arguments: list[str] | None = None) -> int:
    """Without Java it only says so."""
    parser = argparse.ArgumentParser(prog="python -m tests.re2j.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    print(f"seed {options.seed}, {options.count} patterns", flush=True)
    differ = accepted = too_large = 0
    try:
        with java_program(PROGRAM, long=True) as java:
            for first in range(0, options.count, BATCH):
                cases = [
                    make_case(options.seed, number)
                    for number in range(first, min(first + BATCH, options.count))
                ]
                for case, answer in zip(cases, theirs(java, cases), strict=True):
                    accepted += answer.startswith("+")
                    mine = ours(case)
                    if TOO_LARGE in mine:  # docs/divergences.md
                        too_large += 1
                    elif mine != answer:
                        differ += 1
                        print(
                            f"pattern {case.pattern!r} texts {case.texts!r}\n  RE2J: {answer}\n  ours: {mine}"
                        )
    except NoJavaError as missing:
        print(f"skipped: {missing}", file=sys.stderr)
        return 0
    print(
        f"{options.count} patterns, {accepted} accepted by RE2J, {too_large} too large for us, {differ} differ",
        flush=True,
    )
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
