"""`python -m tests.java_pattern.fuzz --count 10000`: random patterns, Java's verdicts beside ours. 1
if any differs."""

from __future__ import annotations

import argparse
import sys

from tests.java_jars import NoJavaError, java_program
from tests.java_pattern.cases import PROGRAM, make_case, taken, taken_by_java


def main(arguments: list[str] | None = None) -> int:
    """Without Java it only says so."""
    parser = argparse.ArgumentParser(prog="python -m tests.java_pattern.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    patterns = [make_case(options.seed, number) for number in range(options.count)]
    try:
        with java_program(PROGRAM, long=True) as java:
            verdicts = taken_by_java(java, patterns)
    except NoJavaError as missing:
        print(f"skipped: {missing}", file=sys.stderr)
        return 0
    differ = [
        (pattern, verdict)
        for pattern, verdict in zip(patterns, verdicts, strict=True)
        if taken(pattern) != verdict
    ]
    for pattern, verdict in differ:
        print(f"pattern {pattern!r}: Java {'takes' if verdict else 'refuses'} it")
    print(
        f"seed {options.seed}: {options.count} patterns, {sum(verdicts)} taken by Java, {len(differ)} differ"
    )
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
