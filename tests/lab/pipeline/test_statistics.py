"""Intervals hold as often as they say; the frontier keeps those that nobody beats."""

from __future__ import annotations

import random
from itertools import product
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.lab.statistics import frontier, paired, quantile


@pytest.mark.parametrize(("count", "q"), [(20, 0.5), (20, 0.9), (50, 0.1), (7, 0.5), (100, 0.99)])
def test_an_interval_covers_as_often_as_it_says(count: int, q: float) -> None:
    """Of uniform values, whose q-quantile is q. The share of intervals that hold it is within five
    standard errors of the coverage."""
    draws = random.Random(f"{count} {q}")
    tries = 3000
    held = 0
    for _ in range(tries):
        found = quantile([draws.random() for _ in range(count)], q)
        held += found.low <= q <= found.high
    share, coverage = held / tries, found.coverage
    assert abs(share - coverage) < 5 * (max(coverage * (1 - coverage), 1e-4) / tries) ** 0.5
    most = 1 - q**count - (1 - q) ** count  # of the whole range
    assert coverage >= 0.95 or coverage == pytest.approx(most)


@pytest.mark.parametrize("q", [0.5, 0.9, 0.99])
def test_the_interval_of_opposite_values_mirrors_it(q: float) -> None:
    """So does that of b - a mirror that of a - b, whatever the number of seeds."""
    for count in range(1, 60):
        values = [float((number * 7919) % 101) for number in range(count)]
        one, other = quantile(values, q), quantile([-value for value in values], 1 - q)
        assert (other.value, other.low, other.high) == pytest.approx(
            (-one.value, -one.high, -one.low)
        )
        assert other.coverage == pytest.approx(one.coverage)


def test_each_tail_of_an_interval_has_at_most_half_of_what_is_left() -> None:
    """Of eight values [1, 7] would hold the median with 96 %, and be missed above with 3.5 %."""
    assert quantile(list(range(1, 9)), 0.5)[1:4] == (1, 8, 1 - 2 / 2**8)
    assert quantile(list(range(1, 21)), 0.5)[:3] == (10.5, 6, 15)
    for count in range(6, 60):
        found = quantile(list(range(count)), 0.5)
        below = sum(comb(count, k) for k in range(int(found.low) + 1)) / 2**count
        assert below <= 0.025 and found.high == count - 1 - found.low
        narrower = below + comb(count, int(found.low) + 1) / 2**count
        assert narrower > 0.025


def test_an_interval_is_told_with_its_coverage() -> None:
    assert str(quantile([1, 2, 3, 4, 5, 6], 0.5)) == "3.5 [1, 6] 96.9%"


def test_quantiles() -> None:
    assert quantile([3.0], 0.5)[:4] == (3.0, 3.0, 3.0, 0.0)
    assert quantile(list(range(101)), 0.9).value == 90
    assert quantile([1, 2], 0.5).value == 1.5


def test_differences_are_paired_by_seed() -> None:
    assert paired({1: 10, 2: 20, 3: 30}, {2: 21, 3: 31, 4: 0}) == quantile([1, 1], 0.5)
    assert paired({1: 1}, {2: 1}) is None


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12))
def test_the_frontier_is_what_nobody_beats(values: list[tuple[int, int]]) -> None:
    points = [(str(number), float(x), float(y)) for number, (x, y) in enumerate(values)]
    beaten = {
        name
        for (name, x, y), (_, a, b) in product(points, points)
        if a <= x and b <= y and (a, b) != (x, y)
    }
    assert set(frontier(points)) == {name for name, _, _ in points} - beaten
