"""Markers of transactions: each partition that came into one is marked before it is complete."""

from __future__ import annotations

from typing import Any

from coordinator.history.judges.transactions import TransactionsAreMarked
from tests.history.judges.crafted import judge

Fields = dict[str, Any]
OF = {"stream": "transaction", "transactional_id": "pay", "producer_id": 7}
BEGUN: list[Fields] = [
    {**OF, "type": "ProducerInitialized"},
    {
        **OF,
        "type": "PartitionsEnlisted",
        "partitions": [{"topic": "a", "partition": 0}, {"topic": "b", "partition": 1}],
    },
    {**OF, "type": "TransactionPrepared", "committed": True, "at_ms": 100_000},
]
COMPLETE = {
    **OF,
    "type": "TransactionCompleted",
    "committed": True,
    "at_ms": 200_000,
    "previous_producer_id": -1,
}


def _marked(topic: str, partition: int) -> Fields:
    return {
        "stream": "data",
        "type": "MarkerWritten",
        "topic": topic,
        "partition": partition,
        "producer_id": 7,
    }


def _found(*lines: Fields) -> list[str]:
    streams = frozenset({"data", "transaction"})
    (verdict,) = judge([*BEGUN, *lines, COMPLETE], [TransactionsAreMarked], streams=streams)
    return [finding.text for finding in verdict.findings]


def test_each_partition_of_a_transaction_is_marked() -> None:
    assert _found(_marked("a", 0), _marked("b", 1)) == []
    text = "the transaction of pay is complete, but b-1 has no marker of it"
    assert _found(_marked("a", 0)) == [text]
    assert _found(_marked("a", 0), _marked("b", 0)) == [text]


def test_partitions_that_are_gone_or_lead_nowhere_are_passed_over() -> None:
    deleted = {"stream": "cluster", "type": "TopicDeleted", "topic": "b", "partitions": 2}
    lost = {
        "stream": "cluster",
        "type": "LeaderLost",
        "topic": "b",
        "partition": 1,
        "leader_id": -1,
        "at_ms": 150_000,
    }
    back = {**lost, "type": "LeaderElected", "leader_id": 2, "at_ms": 160_000}
    assert _found(_marked("a", 0), deleted) == []
    assert _found(_marked("a", 0), lost) == []
    assert _found(_marked("a", 0), lost, back) == []
    assert _found(_marked("a", 0), {**lost, "at_ms": 1}, {**back, "at_ms": 2}) != []


def test_who_coordinates_next_may_not_know_of_what_was_lost() -> None:
    lost = {
        "stream": "coordinator",
        "type": "LogTruncated",
        "topic": "__transaction_state",
        "partition": 0,
        "lost": [2],
    }
    assert _found(lost) == []
