"""PART-6: KIP-794."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from coordinator.members.partitioners import (
    AdaptivePartitioner,
    TopicView,
    load_table,
    partition_for_key,
)

FIVE = TopicView.all_available("t", 5)


def drawing(
    *numbers: int, batch_size: int = 100, ignore_keys: bool = False, adaptive: bool = True
) -> tuple[AdaptivePartitioner, Iterator[int]]:
    draws = iter(numbers)
    return AdaptivePartitioner(
        lambda: next(draws), batch_size, ignore_keys=ignore_keys, adaptive=adaptive
    ), draws


def test_it_sticks_for_batch_size_bytes() -> None:
    partitioner, _ = drawing(7, 3)
    assert partitioner.partition(FIVE, None) == 2
    partitioner.on_append(FIVE, 99, may_switch=True)
    assert partitioner.partition(FIVE, None) == 2
    partitioner.on_append(FIVE, 1, may_switch=True)
    assert partitioner.partition(FIVE, None) == 3


def test_without_leave_to_switch_it_sticks_for_twice_as_long() -> None:
    partitioner, _ = drawing(0, 1)
    assert partitioner.partition(FIVE, None) == 0
    partitioner.on_append(FIVE, 199, may_switch=False)
    assert partitioner.partition(FIVE, None) == 0
    partitioner.on_append(FIVE, 1, may_switch=False)
    assert partitioner.partition(FIVE, None) == 1


def test_the_count_of_bytes_starts_anew_with_each_partition() -> None:
    partitioner, draws = drawing(0, 1, 2)
    partitioner.partition(FIVE, None)
    partitioner.on_append(FIVE, 1000, may_switch=True)
    partitioner.on_append(FIVE, 99, may_switch=True)
    assert partitioner.partition(FIVE, None) == 1
    assert next(draws) == 2


def test_the_same_partition_may_come_again() -> None:
    """Unlike KIP-480: one draw, whatever it gives."""
    partitioner, draws = drawing(1, 6)
    partitioner.partition(FIVE, None)
    partitioner.on_append(FIVE, 100, may_switch=True)
    assert partitioner.partition(FIVE, None) == 1
    assert next(draws, None) is None


def test_a_new_batch_by_itself_moves_nothing() -> None:
    partitioner, _ = drawing(1)
    assert partitioner.partition(FIVE, None) == 1
    partitioner.on_new_batch(FIVE, 1)
    assert partitioner.partition(FIVE, None) == 1


def test_keys_are_hashed_unless_ignored() -> None:
    partitioner, _ = drawing(1)
    assert partitioner.partition(FIVE, b"21") == partition_for_key(b"21", 5)
    ignoring, _ = drawing(1, ignore_keys=True)
    assert ignoring.partition(FIVE, b"21") == 1


def test_uniform_choice_knows_who_has_a_leader() -> None:
    partitioner, _ = drawing(5)
    assert partitioner.partition(TopicView("t", 5, [1, 4]), None) == 4
    partitioner, _ = drawing(8)
    assert partitioner.partition(TopicView("t", 5, []), None) == 3


def test_long_queues_are_chosen_rarely() -> None:
    """Weight = longest queue + 1 - own queue; the cumulative table is searched with the draw modulo
    its total."""
    table = load_table({0: 5, 1: 0, 2: 3, 3: 0, 4: 1}, 5)
    assert table is not None
    assert table.cumulative == (1, 7, 10, 16, 21)
    assert Counter(table.pick(number) for number in range(21)) == {0: 1, 1: 6, 2: 3, 3: 6, 4: 5}
    assert [table.pick(number) for number in (0, 1, 6, 7, 20, 21, 22)] == [0, 1, 1, 2, 4, 0, 1]


@pytest.mark.parametrize(
    ("queues", "partitions"),
    [({}, 3), ({0: 4}, 1), ({0: 2, 1: 2, 2: 2}, 3)],
    ids=["none available", "one partition", "all equal and available"],
)
def test_when_odds_stay_uniform(queues: dict[int, int], partitions: int) -> None:
    assert load_table(queues, partitions) is None


def test_equal_queues_of_some_partitions_still_exclude_the_others() -> None:
    table = load_table({1: 2, 4: 2}, 5)
    assert table is not None
    assert {table.pick(number) for number in range(10)} == {1, 4}


def test_odds_follow_the_last_report() -> None:
    partitioner, _ = drawing(0, 1, 8)
    partitioner.on_queue_sizes(FIVE, {0: 5, 1: 0, 2: 3, 3: 0, 4: 1})
    assert partitioner.partition(FIVE, None) == 0
    partitioner.on_append(FIVE, 100, may_switch=True)
    assert partitioner.partition(FIVE, None) == 1
    partitioner.on_queue_sizes(FIVE, dict.fromkeys(range(5), 1))
    partitioner.on_append(FIVE, 100, may_switch=True)
    assert partitioner.partition(FIVE, None) == 3


def test_not_adaptive_ignores_the_queues() -> None:
    partitioner, _ = drawing(0, adaptive=False)
    partitioner.on_queue_sizes(FIVE, {1: 0, 4: 9})
    assert partitioner.partition(FIVE, None) == 0


def test_batch_size_zero_counts_as_one() -> None:
    partitioner, _ = drawing(0, 1, batch_size=0)
    assert partitioner.partition(FIVE, None) == 0
    partitioner.on_append(FIVE, 1, may_switch=True)
    assert partitioner.partition(FIVE, None) == 1
