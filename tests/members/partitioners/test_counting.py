"""PART-3 and PART-4."""

from __future__ import annotations

from coordinator.members.partitioners import CounterPartitioner, RoundRobinPartitioner, TopicView

FOUR = TopicView.all_available("t", 4)
HALF = TopicView("t", 4, [1, 3])
NONE = TopicView("t", 4, [])


def test_round_robin_counts_from_zero_and_ignores_keys() -> None:
    """PART-4."""
    partitioner = RoundRobinPartitioner()
    assert [partitioner.partition(FOUR, key) for key in (None, b"a", b"a", None, b"b")] == [
        0,
        1,
        2,
        3,
        0,
    ]


def test_each_topic_has_its_own_counter() -> None:
    """PART-4."""
    partitioner = RoundRobinPartitioner()
    other = TopicView.all_available("u", 4)
    assert [partitioner.partition(topic, None) for topic in (FOUR, other, FOUR, other)] == [
        0,
        0,
        1,
        1,
    ]


def test_only_partitions_with_a_leader_unless_there_is_none() -> None:
    """PART-3, PART-4: the counter goes on whatever the topic looks like."""
    partitioner = RoundRobinPartitioner()
    assert [partitioner.partition(topic, None) for topic in (HALF, HALF, HALF, NONE, FOUR)] == [
        1,
        3,
        1,
        3,
        0,
    ]


def test_before_2_4_the_counter_starts_at_random() -> None:
    """PART-3: one draw a topic, then in turn."""
    draws = iter([6, 1])
    partitioner = CounterPartitioner(lambda: next(draws))
    other = TopicView.all_available("u", 4)
    assert [partitioner.partition(FOUR, None) for _ in range(3)] == [2, 3, 0]
    assert [partitioner.partition(other, None) for _ in range(2)] == [1, 2]


def test_the_counter_wraps_like_a_java_int() -> None:
    """PART-3: after 2147483647 comes a negative number whose sign bit is cleared, so 0."""
    partitioner = CounterPartitioner(lambda: 2**31 - 1)
    three = TopicView.all_available("t", 3)
    assert [partitioner.partition(three, None) for _ in range(3)] == [(2**31 - 1) % 3, 0, 1]


def test_round_robin_skips_when_a_new_batch_asks_twice() -> None:
    """PART-5, known effect: with one record a batch and an even count, half of the partitions never
    get a record."""
    partitioner = RoundRobinPartitioner()
    used = set()
    for _ in range(8):
        first = partitioner.partition(FOUR, None)
        partitioner.on_new_batch(FOUR, first)
        used.add(partitioner.partition(FOUR, None))
    assert used == {1, 3}
