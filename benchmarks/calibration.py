"""Do simulated scenarios go as live ones do? Five shipped scenarios in virtual time, live on an
emulator, and live on a real broker.

    python -m benchmarks.calibration [--bootstrap HOST:PORT] [--only NAME ...]

Each scenario runs in its three worlds, the live runs of a scenario beside each other, in real time
(about three minutes each). Compared are the steps that members themselves tell of: who starts,
stops, is paused, and which generation they were assigned in, in order; and how long each generation
took from what caused it to the last member that was told its partitions.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from coordinator.events.faults import MemberResumed
from coordinator.events.files import read
from coordinator.events.line import Line
from coordinator.events.members import (
    MemberClosing,
    MemberCrashed,
    MemberFailed,
    MemberStarted,
    PartitionsAssigned,
    PartitionsLost,
)
from coordinator.lab.named import client_of
from coordinator.verbs.members import PauseMember

SCENARIOS: dict[str, tuple[str, ...]] = {
    "one_crash_one_join": ("duration=170s", "churn.1.at=30s", "churn.1.down=80s"),
    "flapping_member": (
        "duration=170s",
        "churn.1.at=30s",
        "churn.1.times=4",
        "churn.1.every=25s",
        "parameters.pause=10s",
    ),
    "flapping_member_static": (
        "duration=100s",
        "churn.1.at=30s",
        "churn.1.times=3",
        "churn.1.every=20s",
    ),
    "rolling_surge": ("duration=170s", "churn.1.at=30s"),
    "long_gc_pause": ("duration=150s", "faults.1.at=30s"),
}
"""Shipped scenarios that can be in every world, and the settings that make them short."""
_HEARTBEAT_INTERVAL_MS = 3000
_LIFE = frozenset(
    {
        MemberStarted,
        MemberClosing,
        MemberCrashed,
        MemberFailed,
        PauseMember,
        MemberResumed,
    }
)


class Step(NamedTuple):
    """Something that happened to a group by its members' own word. `took_ms`: since what caused it;
    None for causes."""

    what: str
    took_ms: int | None


def steps(lines: Iterable[Line]) -> list[Step]:
    """The steps of a run. A generation's step stands where its last member was told its
    partitions."""
    told: dict[int, dict[str, tuple[int, int]]] = {}
    happened: list[tuple[int, int, str, bool]] = []
    for number, line in enumerate(lines):
        client = client_of(line)
        if line.kind in _LIFE or line.kind is PartitionsLost:
            what = f"{line.name} {client}"
            happened.append((line.at_ms, number, what, line.kind in _LIFE))
        elif line.kind is PartitionsAssigned and client is not None:
            assigned = told.setdefault(line.generation or 0, {})
            if client in assigned:  # a static member that is back
                again = f"{client} again in generation {line.generation}"
                happened.append((line.at_ms, number, again, False))
            else:
                assigned[client] = line.at_ms, number
    for generation, assigned in told.items():
        happened.append(
            (
                *max(assigned.values()),
                f"generation {generation}: {', '.join(sorted(assigned))}",
                False,
            )
        )
    found, cause = [], 0
    for at_ms, _, what, causes in sorted(happened):
        found.append(Step(what, None if causes else at_ms - cause))
        cause = at_ms if causes else cause
    return found


class Difference(NamedTuple):
    """The largest difference of a duration between two runs. `part`: of the virtual duration, or of
    a heartbeat interval if that is longer.

    Members hear of a rebalance with their next heartbeat, so that a heartbeat that was a little
    late moves every such wait after it.
    """

    part: float
    ms: int

    def __str__(self) -> str:
        return f"within {self.part:.1%} ({self.ms} ms)"


def compare(virtual: Sequence[Step], live: Sequence[Step]) -> Difference | None:
    """How far durations are apart; None: the steps are not the same, or in another order."""
    if [step.what for step in virtual] != [step.what for step in live]:
        return None
    pairs = [
        (one.took_ms, other.took_ms or 0)
        for one, other in zip(virtual, live, strict=True)
        if one.took_ms is not None
    ]
    return Difference(
        max(
            (abs(one - other) / max(one, _HEARTBEAT_INTERVAL_MS) for one, other in pairs),
            default=0.0,
        ),
        max((abs(one - other) for one, other in pairs), default=0),
    )


def _run(name: str, log: Path, *more: str) -> subprocess.Popen[bytes]:
    settings = [part for each in SCENARIOS[name] for part in ("--set", each)]
    command = [
        sys.executable,
        "-m",
        "coordinator",
        "simulate",
        name,
        "--log",
        str(log),
        *settings,
        *more,
    ]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def main() -> int:
    """Run, and print the table; 1 if a scenario went otherwise, or took more than 15 % longer or
    shorter."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bootstrap", metavar="HOST:PORT", help="a real broker, too")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=tuple(SCENARIOS),
        default=list(SCENARIOS),
        metavar="NAME",
        help="some of them",
    )
    parser.add_argument("--steps", action="store_true", help="print the steps of every run")
    args = parser.parse_args()
    worlds = {"virtual": (), "emulator": ("--live",)} | (
        {"Kafka": ("--live", "--bootstrap", args.bootstrap)} if args.bootstrap is not None else {}
    )
    print(
        "| scenario | steps | "
        + " | ".join(f"{world}: order | {world}: durations" for world in list(worlds)[1:])
        + " |"
    )
    print("|---|---|" + "---|---|" * (len(worlds) - 1), flush=True)
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in args.only:
            logs = {world: Path(folder, f"{name}-{world}.jsonl") for world in worlds}
            for process in [_run(name, logs[world], *more) for world, more in worlds.items()]:
                process.wait()
            found = {world: steps(read(log)) for world, log in logs.items()}
            cells = [name, str(len(found["virtual"]))]
            for world in list(worlds)[1:]:
                apart = compare(found["virtual"], found[world])
                bad += apart is None or apart.part > 0.15
                cells += ["DIFFERENT", "-"] if apart is None else ["same", str(apart)]
            print(f"| {' | '.join(cells)} |", flush=True)
            if args.steps:
                for world, each in found.items():
                    print(f"  {world}")
                    for step in each:
                        print(
                            f"    {step.what}"
                            + ("" if step.took_ms is None else f"  {step.took_ms} ms")
                        )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
