"""Statistics of a few dozen values: quantiles with intervals that hold for any distribution, paired
differences, the frontier.

The interval of a quantile comes from ranks: of `n` independent values, those at two ranks enclose
the quantile with a probability that is binomial, whatever the distribution. Where there are too few
values for 95 %, it is the whole range; `coverage` says how much that is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import comb
from typing import NamedTuple

CONFIDENCE = 0.95


class Estimate(NamedTuple):
    """A quantile of some values and the interval around it. `coverage`: with which probability the
    interval holds the true quantile."""

    value: float
    low: float
    high: float
    coverage: float
    size: int


def quantile(values: Sequence[float], q: float) -> Estimate:
    """The `q`-quantile (0 < q < 1) of at least one value, interpolated, and its interval by
    ranks."""
    ranked, count = sorted(values), len(values)
    place = q * (count - 1)
    below = int(place)
    above = min(below + 1, count - 1)
    value = ranked[below] + (ranked[above] - ranked[below]) * (place - below)
    low, high, coverage = _ranks(count, round(q, 6))
    return Estimate(value, ranked[low], ranked[high], coverage, count)


_RANKS: dict[tuple[int, float], tuple[int, int, float]] = {}


def _ranks(count: int, q: float) -> tuple[int, int, float]:
    """Two ranks (from 0) that enclose the quantile with 95 %, as near to each other as that allows;
    and the probability."""
    found = _RANKS.get((count, q))
    if found is None:
        chance = [comb(count, k) * q**k * (1 - q) ** (count - k) for k in range(count + 1)]
        # The values at ranks low and high (from 0) enclose it if more than `low` and at most `high`
        # of all values lie below it.
        low = high = min(int(q * count), count - 1)
        if low > 0 and low == high:
            low -= 1
        coverage = sum(chance[low + 1 : high + 1])
        while coverage < CONFIDENCE and (low > 0 or high < count - 1):
            gain_low = chance[low] if low > 0 else -1.0
            gain_high = chance[high + 1] if high < count - 1 else -1.0
            if gain_low >= gain_high:
                low -= 1
            else:
                high += 1
            coverage = sum(chance[low + 1 : high + 1])
        found = _RANKS[count, q] = (low, high, coverage)
    return found


def paired(base: Mapping[int, float], other: Mapping[int, float]) -> Estimate | None:
    """The median of `other` minus `base` over the seeds that both have; None if there is none."""
    differences = [value - base[seed] for seed, value in sorted(other.items()) if seed in base]
    return quantile(differences, 0.5) if differences else None


def frontier(points: Iterable[tuple[str, float, float]]) -> list[str]:
    """The names of those that no other beats, sorted by the first measure: nobody has less of one
    measure and no more of the other.

    Of several with the same values all stay.
    """
    every = sorted(points, key=lambda point: (point[1], point[2], point[0]))
    kept: list[str] = []
    best, same = float("inf"), (float("nan"), float("nan"))
    for name, x, y in every:
        if y < best or (x, y) == same:
            kept.append(name)
            best, same = min(best, y), (x, y)
    return kept
