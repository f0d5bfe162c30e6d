"""Statistics of a few dozen values: quantiles with intervals that hold for any distribution, paired
differences, the frontier.

The interval of a quantile comes from ranks: two of `n` independent values enclose the quantile
with a binomial probability, whatever the distribution. The quantile lies below the interval with
at most 2.5 %, and above it with at most 2.5 %, so that the interval of differences b - a mirrors
that of a - b. With too few values the interval is the whole range; `coverage` is its
probability.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import comb
from typing import NamedTuple

CONFIDENCE = 0.95
TAIL = (1 - CONFIDENCE) / 2


class Estimate(NamedTuple):
    """A quantile of some values and the interval around it. `coverage`: probability that the
    interval contains the true quantile."""

    value: float
    low: float
    high: float
    coverage: float
    size: int

    def __str__(self) -> str:
        return told(self.value, self.low, self.high, self.coverage)


def told(value: float, low: float, high: float, coverage: float) -> str:
    """Return a value, its interval and the interval's coverage as text."""
    return f"{value:.4g} [{low:.4g}, {high:.4g}] {coverage:.1%}"


def quantile(values: Sequence[float], q: float) -> Estimate:
    """Return the `q`-quantile (0 < q < 1) of at least one value, interpolated, and its interval
    by ranks."""
    ranked, count = sorted(values), len(values)
    place = q * (count - 1)
    below = int(place)
    above = min(below + 1, count - 1)
    value = ranked[below] + (ranked[above] - ranked[below]) * (place - below)
    low, high, coverage = _ranks(count, round(q, 6))
    return Estimate(value, ranked[low], ranked[high], coverage, count)


_RANKS: dict[tuple[int, float], tuple[int, int, float]] = {}


def _ranks(count: int, q: float) -> tuple[int, int, float]:
    """Return two ranks (from 0) that enclose the quantile with 95 %, with at most half of the
    rest on either side, and the probability."""
    found = _RANKS.get((count, q))
    if found is None:
        # The value at rank r lies above the quantile if at most r of all values lie below it.
        chance = [comb(count, k) * q**k * (1 - q) ** (count - k) for k in range(count + 1)]
        low, high = _within_tail(chance), count - 1 - _within_tail(chance[::-1])
        coverage = sum(chance[low + 1 : high + 1])
        if coverage < CONFIDENCE:  # too few values for one of the two
            low, high = 0, count - 1
            coverage = sum(chance[1:count])
        found = _RANKS[count, q] = (low, high, coverage)
    return found


def _within_tail(chance: Sequence[float]) -> int:
    """Return the highest rank whose value lies beyond the quantile with at most the chance of a
    tail; 0 if none does."""
    rank, beyond = 0, chance[0]
    while rank + 2 < len(chance) and (beyond := beyond + chance[rank + 1]) <= TAIL:
        rank += 1
    return rank


def paired(base: Mapping[int, float], other: Mapping[int, float]) -> Estimate | None:
    """Return the median of `other` minus `base` over the seeds that both have; None if there is
    none."""
    differences = [value - base[seed] for seed, value in sorted(other.items()) if seed in base]
    return quantile(differences, 0.5) if differences else None


def frontier(points: Iterable[tuple[str, float, float]]) -> list[str]:
    """Return the names of the points that no other point beats, sorted by the first measure. A
    point beats another if it has less of one measure and no more of the other.

    Points with the same values are all kept.
    """
    every = sorted(points, key=lambda point: (point[1], point[2], point[0]))
    kept: list[str] = []
    best, same = float("inf"), (float("nan"), float("nan"))
    for name, x, y in every:
        if y < best or (x, y) == same:
            kept.append(name)
            best, same = min(best, y), (x, y)
    return kept
