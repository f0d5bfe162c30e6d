"""`python -m tests.assignors.fuzz --count 100000`: our client-side assignors against Kafka's own,
case after case.

A disagreement prints the command that repeats just that case; with `--case` it is also made as
small as it gets.
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.assignors.client_cases import ASSIGNORS, make_case
from tests.assignors.client_java import (
    PROGRAM,
    disagreements,
    mean_the_same_java,
    question,
    readable,
    shrink,
)
from tests.java_jars import JavaProgram, NoJavaError, java_program

BATCH = 500


def main(argv: list[str] | None = None) -> int:
    """1 if anything differed. Without Java it only says so."""
    parser = argparse.ArgumentParser(prog="python -m tests.assignors.fuzz", description=__doc__)
    parser.add_argument("--assignor", choices=ASSIGNORS, action="append", help="default: all four")
    parser.add_argument("--count", type=int, default=100_000, help="cases for each assignor")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="only the case of this number, made small")
    options = parser.parse_args(argv)
    print(f"seed {options.seed}, {options.count} cases for each assignor", flush=True)
    try:
        with java_program(PROGRAM, long=True) as java:
            mean_the_same_java(java)
            for assignor in options.assignor or ASSIGNORS:
                differs = (
                    _one(java, assignor, options)
                    if options.case is not None
                    else _many(java, assignor, options)
                )
                if differs:
                    return 1
    except NoJavaError as missing:
        print(f"skipped: {missing}", file=sys.stderr)
    return 0


def _many(java: JavaProgram, assignor: str, options: argparse.Namespace) -> bool:
    started = time.monotonic()
    for first in range(0, options.count, BATCH):
        numbers = range(first, min(first + BATCH, options.count))
        cases = {number: make_case(assignor, options.seed, number) for number in numbers}
        for case, step, theirs, ours in disagreements(java, cases.values()):
            number = next(n for n, made in cases.items() if made is case)
            print(
                f"{assignor}: case {number} differs at step {step}\n  Java: {readable(theirs)}\n  ours: {readable(ours)}"
            )
            print(
                f"repeat: python -m tests.assignors.fuzz --assignor {assignor} --seed {options.seed} --case {number}"
            )
            return True
    print(
        f"{assignor}: {options.count} cases agree ({time.monotonic() - started:.0f} s)", flush=True
    )
    return False


def _one(java: JavaProgram, assignor: str, options: argparse.Namespace) -> bool:
    case = make_case(assignor, options.seed, options.case)
    if not any(True for _ in disagreements(java, [case])):
        print(f"{assignor}: case {options.case} agrees")
        return False
    case = shrink(java, case)
    ((_, step, theirs, ours),) = disagreements(java, [case])
    for i, made in enumerate(case.steps):
        print(f"step {i}: partitions {made.partitions}, racks {made.racks}")
        for member, told in made.members.items():
            print(f"    {member!r}: {told}")
        print(f"    as asked: {question(made)}")
    print(f"differs at step {step}\n  Java: {readable(theirs)}\n  ours: {readable(ours)}")
    return True


if __name__ == "__main__":
    sys.exit(main())
