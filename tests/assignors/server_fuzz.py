"""`python -m tests.assignors.server_fuzz --count 100000`: the coordinator's assignors against
Kafka's own, case after case.

A difference prints the command that repeats just that case, made as small as it gets.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from tests.assignors.client_java import mean_the_same_java
from tests.assignors.server_cases import (
    ASSIGNORS,
    STEPS,
    Case,
    differences,
    ours,
    same,
    sequence,
    told,
)
from tests.java_jars import JavaProgram, NoJavaError, java_program

T = TypeVar("T")
_BATCH = 50


def main(argv: list[str] | None = None) -> int:
    """1 if anything differed. Without Java it only says so."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.assignors.server_fuzz", description=__doc__
    )
    parser.add_argument("--assignor", choices=ASSIGNORS, action="append", help="default: both")
    parser.add_argument(
        "--count",
        type=int,
        default=100_000,
        help=f"cases for each assignor, in sequences of {STEPS}",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sequence", type=int, help="only this sequence ...")
    parser.add_argument(
        "--step", type=int, default=0, help="... and of it only this step, made small"
    )
    options = parser.parse_args(argv)
    print(f"seed {options.seed}, {options.count} cases for each server-side assignor", flush=True)
    try:
        with java_program("ServerAssignors", long=True) as java:
            mean_the_same_java(java)
            for assignor in options.assignor or ASSIGNORS:
                if options.sequence is not None:
                    case = sequence(
                        assignor, f"{options.seed}-{options.sequence}", options.step + 1
                    )[-1]
                    difference = _difference(java, _smaller(java, case))
                    print(difference or "no difference")
                    return int(difference is not None)
                if _differs(java, assignor, options.seed, options.count // STEPS):
                    return 1
    except NoJavaError as missing:
        print(f"skipped: {missing}", file=sys.stderr)
    return 0


def _differs(java: JavaProgram, assignor: str, seed: int, sequences: int) -> bool:
    started = time.monotonic()
    for first in range(0, sequences, _BATCH):
        for difference in differences(
            java, assignor, seed, range(first, min(first + _BATCH, sequences))
        ):
            print(difference)
            return True
    print(
        f"{assignor}, server side: {sequences * STEPS} cases agree ({time.monotonic() - started:.0f} s)",
        flush=True,
    )
    return False


def _difference(java: JavaProgram, case: Case) -> str | None:
    mine, theirs = ours(case), java.ask([told(case)])[0]
    if same(mine, theirs):
        return None
    return f"case {told(case)}\nours {mine}\nJava {theirs}"


def _smaller(java: JavaProgram, case: Case) -> Case:
    _, spec, _ = case
    fewer = [
        *(_without_member(case, member_id) for member_id in spec.members),
        *(_without_topic(case, topic) for topic in spec.partitions),
    ]
    return next((_smaller(java, smaller) for smaller in fewer if _difference(java, smaller)), case)


def _without_member(case: Case, member_id: str) -> Case:
    name, spec, others = case
    return (
        name,
        replace(
            spec,
            members={other: member for other, member in spec.members.items() if other != member_id},
        ),
        others,
    )


def _without_topic(case: Case, topic: bytes) -> Case:
    name, spec, others = case
    members = {
        member_id: replace(
            member,
            topics=[t for t in member.topics if t != topic],
            assignment=_lacking(member.assignment, topic),
        )
        for member_id, member in spec.members.items()
    }
    return (
        name,
        replace(spec, members=members, partitions=_lacking(spec.partitions, topic)),
        _lacking(others, topic),
    )


def _lacking(by_topic: Mapping[bytes, T], topic: bytes) -> dict[bytes, T]:
    return {other: value for other, value in by_topic.items() if other != topic}


if __name__ == "__main__":
    sys.exit(main())
