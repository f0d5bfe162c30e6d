"""PART-1, PART-2 and explicit partitions."""

from __future__ import annotations

import pytest

from coordinator.members.partitioners import (
    AdaptivePartitioner,
    CounterPartitioner,
    Partitioner,
    StickyPartitioner,
    TopicView,
    explicit_partition,
    murmur2,
    partition_for_key,
)
from coordinator.members.partitioners.murmur2 import to_positive


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"abc", 479470107),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
    ],
)
def test_murmur2_gives_what_java_gives(key: bytes, expected: int) -> None:
    """PART-1, the vectors."""
    assert murmur2(key) == expected


def test_murmur2_agrees_with_a_client_that_ships_it() -> None:
    """PART-1, against aiokafka's own implementation, for every tail length and for bytes with the
    high bit set."""
    from aiokafka.partitioner import murmur2 as theirs

    for length in range(40):
        key = bytes((37 * i + 11 * length) & 0xFF for i in range(length))
        assert murmur2(key) & 0xFFFFFFFF == theirs(key) & 0xFFFFFFFF, key


def test_to_positive_clears_the_sign_bit() -> None:
    assert to_positive(-1) == 0x7FFFFFFF
    assert to_positive(-(2**31)) == 0
    assert to_positive(5) == 5


def test_a_key_goes_to_one_of_all_partitions() -> None:
    """PART-2: also to one without a leader."""
    wanted = (-973932308 & 0x7FFFFFFF) % 12
    assert partition_for_key(b"21", 12) == wanted
    elsewhere = TopicView("t", 12, [p for p in range(12) if p != wanted])
    partitioners: list[Partitioner] = [
        CounterPartitioner(int),
        StickyPartitioner(int),
        AdaptivePartitioner(int),
    ]
    for partitioner in partitioners:
        assert partitioner.partition(elsewhere, b"21") == wanted


def test_the_empty_key_is_a_key() -> None:
    """PART-2: only a missing key is no key."""
    rng = iter([1, 2, 3])
    assert CounterPartitioner(lambda: next(rng)).partition(
        TopicView.all_available("t", 7), b""
    ) == partition_for_key(b"", 7)
    assert next(rng) == 1


def test_explicit_partitions_are_taken_as_they_are() -> None:
    assert explicit_partition(0, 3) == 0
    assert explicit_partition(2, 3) == 2
    for wrong in (-1, 3):
        with pytest.raises(ValueError, match=f"partition {wrong}: the topic has 0 to 2"):
            explicit_partition(wrong, 3)
