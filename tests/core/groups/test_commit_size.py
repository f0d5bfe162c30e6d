"""A commit is one batch of __consumer_offsets, and fails as a whole if that is larger than the
partition takes (ERR-1).

The numbers are those of a Kafka 4.4.0 broker whose max.message.bytes of __consumer_offsets was
changed.
"""

from __future__ import annotations

import pytest

from coordinator.core.groups.record_size import commit_exceeds
from coordinator.events.groups.offsets import CommittedOffset
from tests.core.groups.callers import Call
from tests.core.groups.kit import World


def _most(limit: int, *, group: str = "g3", metadata: str = "", pending: bool = False) -> int:
    """How many partitions of topic `many` fit."""

    def fits(count: int) -> bool:
        offsets = tuple(
            [CommittedOffset("many", number, 1, -1, metadata, None) for number in range(count)]
        )
        return not commit_exceeds(group, offsets, limit, pending=pending)

    return next(count for count in range(1_000) if not fits(count + 1))


@pytest.mark.parametrize(
    ("limit", "plain", "with_metadata", "long_group"),
    [(300, 3, 3, 2), (1_000, 14, 12, 11), (2_000, 29, 25, 23), (10_000, 149, 129, 117)],
)
def test_how_many_partitions_a_commit_takes(
    limit: int, plain: int, with_metadata: int, long_group: int
) -> None:
    assert (_most(limit), _most(limit, metadata="0123456789"), _most(limit, group="g" * 20)) == (
        plain,
        with_metadata,
        long_group,
    )
    assert _most(limit, metadata="é" * 5) == with_metadata


@pytest.mark.parametrize(
    ("limit", "plain", "with_metadata"),
    [(300, 5, 4), (1_000, 19, 16), (2_000, 41, 34), (5_000, 104, 86)],
)
def test_a_transaction_takes_more_for_its_records_name_no_topic_id(
    limit: int, plain: int, with_metadata: int
) -> None:
    assert (_most(limit, pending=True), _most(limit, metadata="0123456789", pending=True)) == (
        plain,
        with_metadata,
    )


def test_one_partition_to_the_byte() -> None:
    one = (CommittedOffset("many", 0, 1, -1, "", None),)
    for size, pending in ((127, False), (108, True)):
        assert not commit_exceeds("g3", one, size, pending=pending)
        assert commit_exceeds("g3", one, size - 1, pending=pending)


def test_a_commit_that_is_too_large_stores_nothing_and_is_a_sign_of_life() -> None:
    """ERR-1, OC-7: -1 for each partition."""
    w = World(group="g3", record_limit=lambda: 2_000).stable("a", session_ms=10_000)
    w.advance(6_000)
    every = {("many", number): 5 for number in range(42)}
    for call in (w.commit("a", every), w.pend(1, every)):
        assert _errors(call) == [-1] * 42
    assert w.fetch(None) == {}
    w.advance(6_000)
    assert "a" in w.clients and w.state == "Stable"
    assert _errors(w.commit("a", dict(list(every.items())[:29]))) == [0] * 29
    assert _errors(w.pend(1, dict(list(every.items())[:41]))) == [0] * 41


def _errors(call: Call) -> list[int]:
    return [partition.error_code for topic in call.topics for partition in topic.partitions]
