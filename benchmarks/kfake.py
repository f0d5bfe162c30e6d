"""A rebalance of bare members here and at kfake, franz-go's stand-in for a broker: a compiled Go
program. Both have one core; they are measured in turns, so that other work on the machine meets
both. Needs Go, which builds kfake into `build/`.

The members, and what a round is, are those of `benchmarks.rebalance`. Given are the best round's
time, the server's processor time for a round, and how many times that of kfake the emulator's is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.process import Row, free_port, running, server
from benchmarks.rebalance import Measured, measure

_SIZES = (3, 100, 1000)
_TURNS = 5
_ROUNDS = 9
_SOURCE = Path(__file__).parent / "kfake"
_PROGRAM = Path("build", "kfake").resolve()


def _emulator(size: int, rounds: int) -> Measured:
    with server("--config", "group.initial.rebalance.delay.ms=500") as serving:
        return measure(serving, size, rounds)


def _kfake(size: int, rounds: int) -> Measured:
    port = free_port()
    with running([str(port)], port, _PROGRAM) as serving:
        return measure(serving, size, rounds)


def run(
    sizes: tuple[int, ...] = _SIZES, turns: int = _TURNS, rounds: int = _ROUNDS
) -> Iterator[Row]:
    """Measure each size; nothing without Go."""
    if shutil.which("go") is None:
        print(
            "kfake: not measured: Go builds it, and there is no `go` on the path", file=sys.stderr
        )
        return
    subprocess.run(
        ["go", "build", "-o", str(_PROGRAM), "."],
        cwd=_SOURCE,
        env={**os.environ, "CGO_ENABLED": "0"},
        check=True,
    )
    for size in sizes:
        here: list[Measured] = []
        there: list[Measured] = []
        for _ in range(turns):
            here.append(_emulator(size, rounds))
            there.append(_kfake(size, rounds))
        told = f"rebalance of {size} members"
        yield from _rows(told, "best", "<= 1", *(_best(each) for each in (here, there)))
        yield from _rows(told, "server's CPU", "", *(_cpu(each) for each in (here, there)))


def _best(measured: list[Measured]) -> float:
    return min(took for each in measured for took in each.took_s)


def _cpu(measured: list[Measured]) -> float:
    """Processor time of a round, in the turn that needed the least."""
    return min(each.cpu_s / len(each.took_s) for each in measured)


def _rows(told: str, what: str, target: str, here: float, there: float) -> Iterator[Row]:
    yield Row(f"{told}, {what}: emulator", here * 1000, "ms")
    yield Row(f"{told}, {what}: kfake", there * 1000, "ms")
    yield Row(f"{told}, {what}: emulator by kfake", here / there, "times", target)


if __name__ == "__main__":
    for row in run():
        print(row, flush=True)
