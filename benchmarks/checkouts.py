"""The same work in two checkouts of the project, in processes that take turns;
`benchmarks.request_cost` says what is compared."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Final

PIECES: Final = 12


class NotThereError(Exception):
    """A checkout has not what a row measures."""


class _Checkout:
    """A process that measures pieces in one checkout."""

    def __init__(self, script: Path, directory: Path, name: str) -> None:
        environment = {**os.environ, "PYTHONPATH": str(directory), "PYTHONSAFEPATH": "1"}
        self._process = subprocess.Popen(
            [sys.executable, str(script), "--pieces", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=directory,
            env=environment,
        )
        if self._read() != "ready":
            raise NotThereError(directory)

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def piece(self) -> float:
        """Seconds of one request, of processor time."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(self._read())

    def close(self) -> None:
        """End it."""
        self._process.communicate()


def _pair(script: Path, theirs: Path, name: str, order: int) -> tuple[float, float]:
    ours = script.resolve().parent.parent
    directories = [ours, theirs] if order % 2 else [theirs, ours]
    checkouts = [_Checkout(script, directory, name) for directory in directories]
    pieces: list[list[float]] = [[], []]
    for _ in range(PIECES):
        for checkout, taken in zip(checkouts, pieces, strict=True):
            taken.append(checkout.piece())
    for checkout in checkouts:
        checkout.close()
    cheapest = [min(taken) for taken in pieces]
    return (cheapest[0], cheapest[1]) if order % 2 else (cheapest[1], cheapest[0])


def compare(script: Path, theirs: Path, names: list[str], pairs: int) -> None:
    """Print for each piece of work the ratio of its processor time here to that in `theirs`: median
    and 95 % interval of the pairs."""
    for name in names:
        try:
            taken = [_pair(script, theirs, name, order) for order in range(pairs)]
        except NotThereError as error:
            print(f"{name:<32} cannot be measured in {error}", flush=True)
            continue
        ratios = sorted(mine / other for mine, other in taken)
        mine, other = (median(side) * 1e6 for side in zip(*taken, strict=True))
        low, high = (ratios[1], ratios[-2]) if len(ratios) > 3 else (ratios[0], ratios[-1])
        print(
            f"{name:<32} {other:>10.1f} us {mine:>10.1f} us   ratio {median(ratios):.3f} ({low:.3f} to {high:.3f})",
            flush=True,
        )
