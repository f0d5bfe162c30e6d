"""PART-5: KIP-480."""

from __future__ import annotations

from collections.abc import Iterator

from coordinator.members.partitioners import (
    StickyPartitioner,
    TopicView,
    UniformStickyPartitioner,
    partition_for_key,
)

FOUR = TopicView.all_available("t", 4)


def drawing(*numbers: int) -> tuple[UniformStickyPartitioner, Iterator[int]]:
    draws = iter(numbers)
    return UniformStickyPartitioner(lambda: next(draws)), draws


def test_it_sticks_until_a_new_batch() -> None:
    partitioner, draws = drawing(6, 3)
    assert [partitioner.partition(FOUR, None) for _ in range(5)] == [2] * 5
    partitioner.on_new_batch(FOUR, 2)
    assert [partitioner.partition(FOUR, None) for _ in range(5)] == [3] * 5
    assert next(draws, None) is None


def test_a_new_batch_of_an_older_partition_changes_nothing() -> None:
    partitioner, draws = drawing(2, 3)
    assert partitioner.partition(FOUR, None) == 2
    partitioner.on_new_batch(FOUR, 1)
    assert partitioner.partition(FOUR, None) == 2
    assert next(draws) == 3


def test_a_new_batch_before_any_record_chooses() -> None:
    partitioner, _ = drawing(1)
    partitioner.on_new_batch(FOUR, 3)
    assert partitioner.partition(FOUR, None) == 1


def test_it_draws_until_the_partition_is_another() -> None:
    partitioner, draws = drawing(2, 2, 6, 10, 5)
    assert partitioner.partition(FOUR, None) == 2
    partitioner.on_new_batch(FOUR, 2)
    assert partitioner.partition(FOUR, None) == 1
    assert next(draws, None) is None


def test_one_available_partition_needs_no_chance() -> None:
    partitioner, draws = drawing(0)
    assert partitioner.partition(TopicView("t", 4, [3]), None) == 3
    partitioner.on_new_batch(TopicView("t", 4, [3]), 3)
    assert partitioner.partition(FOUR, None) == 3
    assert next(draws) == 0


def test_none_available_draws_among_all_and_may_stay() -> None:
    partitioner, draws = drawing(5, 9)
    nobody = TopicView("t", 4, [])
    assert partitioner.partition(nobody, None) == 1
    partitioner.on_new_batch(nobody, 1)
    assert partitioner.partition(nobody, None) == 1
    assert next(draws, None) is None


def test_topics_are_apart() -> None:
    partitioner, _ = drawing(1, 2)
    other = TopicView.all_available("u", 4)
    assert [partitioner.partition(topic, None) for topic in (FOUR, other, FOUR)] == [1, 2, 1]


def test_keys_count_in_the_default_and_not_in_the_uniform_one() -> None:
    uniform, _ = drawing(1)
    assert uniform.partition(FOUR, b"21") == 1
    draws = iter([1])
    default = StickyPartitioner(lambda: next(draws))
    assert default.partition(FOUR, b"21") == partition_for_key(b"21", 4)
    assert default.partition(FOUR, None) == 1
