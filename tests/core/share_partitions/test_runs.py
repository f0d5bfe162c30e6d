"""Runs of offsets that are in one condition, beside a plain dictionary of offsets."""

from __future__ import annotations

from random import Random

import pytest

from coordinator.core.share_partitions.runs import Condition, Runs
from coordinator.core.share_partitions.states import RecordState

CONDITIONS = [Condition(RecordState.AVAILABLE, count) for count in range(3)] + [None]


def plain(runs: Runs) -> dict[int, Condition]:
    """The condition of each offset."""
    return {offset: run.condition for run in runs for offset in range(run.first, run.last + 1)}


@pytest.mark.parametrize("seed", range(400))
def test_changes_in_any_order(seed: int) -> None:
    random, runs, expected = Random(seed), Runs(), dict[int, Condition | None]()
    for _ in range(8):
        if random.random() < 0.15:
            before = random.randint(0, 30)
            runs.drop_before(before)
            expected = {at: of for at, of in expected.items() if at >= before}
            continue
        at, rows = random.randint(0, 20), []
        for _ in range(random.randint(1, 4)):
            last = at + random.randint(0, 5)
            rows.append((at, last, random.choice(CONDITIONS)))
            at = last + 1 + random.choice((0, 0, 1, 3))
        runs.change(rows)
        for first, last, condition in rows:
            expected.update(dict.fromkeys(range(first, last + 1), condition))
        wanted = {at: of for at, of in expected.items() if of is not None}
        assert plain(runs) == wanted
        low = random.randint(0, 25)
        cut = [(run.first, run.last) for run in runs.between(low, low + 7)]
        assert {at for first, last in cut for at in range(first, last + 1)} == {
            at for at in wanted if low <= at <= low + 7
        }


def test_neighbours_in_one_condition_are_one_run() -> None:
    runs, one = Runs(), Condition(RecordState.AVAILABLE, 1)
    runs.change([(0, 4, one), (5, 9, one)])
    runs.change([(10, 1 << 40, one)])
    assert len(runs) == 1
    runs.change([(3, 3, None)])
    runs.change([(3, 3, one)])
    assert [tuple(run)[:2] for run in runs] == [(0, 1 << 40)]
