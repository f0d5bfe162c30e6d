"""A transactional producer as scenarios need one: it knows its id and epoch, and waits until its
transactions have really ended.

Kafka writes the markers of a transaction after it has answered EndTxn, and its coordinator makes
its topic when first asked. Whatever depends on either is awaited here without a step, so that
transcripts repeat.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from integration_tests.wire.batches import Producer, batch
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session

TRANSACTIONAL = 16
BEFORE_V2, SINCE_V2 = 11, 12
"""Versions of Produce: the last that needs AddPartitionsToTxn, the first that adds partitions by
itself (KIP-890)."""
_PASSING = (14, 15, 16, 51)


def await_transactions(s: Session, *names: str) -> None:
    """Wait until the broker coordinates these transactional ids, and has producer ids to give."""
    for name in names:
        s.until(partial(_coordinated, s, name), f"nobody coordinates {name}")


def _coordinated(s: Session, name: str) -> bool:
    found = s.stage().ask_quietly("FindCoordinator", 4, coordinator_keys=[name], key_type=1)[
        "coordinators"
    ][0]["error_code"]
    fresh = s.stage().ask_quietly(
        "InitProducerId", 4, transactional_id=None, transaction_timeout_ms=1
    )["error_code"]
    return not found and not fresh and state_of(s, name)["error_code"] not in _PASSING


def state_of(s: Session, name: str) -> Plain:
    """What the coordinator knows of a transactional id; leaves no step."""
    described: Plain = s.stage().ask_quietly("DescribeTransactions", 0, transactional_ids=[name])[
        "transaction_states"
    ][0]
    return described


def settled(s: Session, name: str) -> None:
    """Wait until no transaction of this id is being ended."""
    s.until(
        lambda: not str(state_of(s, name)["transaction_state"]).startswith("Prepare"),
        f"the transaction of {name} never ended",
    )


def now_ms() -> int:
    """The time of day: markers carry it, and a log whose timestamps leap by a week begins a new
    segment, where a fetch ends."""
    return int(time.time() * 1000)


class Transactor:
    """A producer under one transactional id."""

    def __init__(self, s: Session, link: Link, label: str = "tx") -> None:
        self.s = s
        self.link = link
        self.name = s.name(label)
        self.producer_id = -1
        self.epoch = -1
        self.sequences: dict[tuple[str, int], int] = {}
        await_transactions(s, self.name)

    def init(
        self, version: int = 4, *, timeout_ms: int = 60_000, again: bool = True, **other: Any
    ) -> Plain:
        """InitProducerId; while the coordinator says that a transaction is being ended, once more
        if `again`."""
        fields: Plain = {
            "transactional_id": self.name,
            "transaction_timeout_ms": timeout_ms,
        } | other
        answer = self.link.ask("InitProducerId", version, **fields)
        while again and answer["error_code"] == 51:
            settled(self.s, self.name)
            answer = self.link.ask("InitProducerId", version, **fields)
        if answer["error_code"] == 0:
            self._is(answer)
        return answer

    def _is(self, answer: Plain) -> None:
        self.producer_id, self.epoch = answer["producer_id"], answer["producer_epoch"]
        self.sequences.clear()

    def fields(self, **other: Any) -> Plain:
        """Who it is, as requests name it."""
        return {
            "transactional_id": self.name,
            "producer_id": self.producer_id,
            "producer_epoch": self.epoch,
        } | other

    def add(self, *topics: tuple[str, list[int]], version: int = 3, **other: Any) -> Plain:
        """AddPartitionsToTxn for a client (v0-3)."""
        who = {f"v3_and_below_{key}": value for key, value in self.fields(**other).items()}
        listed = [{"name": name, "partitions": partitions} for name, partitions in topics]
        return self.link.ask(
            "AddPartitionsToTxn",
            version,
            shuffled="results_by_topic_v3_and_below",
            v3_and_below_topics=listed,
            **who,
        )

    def add_batched(
        self,
        *topics: tuple[str, list[int]],
        version: int = 5,
        verify_only: bool = False,
        **other: Any,
    ) -> Plain:
        """AddPartitionsToTxn for brokers (v4 and later)."""
        listed = [{"name": name, "partitions": partitions} for name, partitions in topics]
        transactions = [self.fields(**other) | {"verify_only": verify_only, "topics": listed}]
        return self.link.ask(
            "AddPartitionsToTxn",
            version,
            shuffled="results_by_transaction",
            transactions=transactions,
        )

    def add_offsets(self, group: str, version: int = 3, **other: Any) -> Plain:
        """AddOffsetsToTxn."""
        return self.link.ask("AddOffsetsToTxn", version, **self.fields(**other), group_id=group)

    def batch(self, *values: bytes, topic: str, partition: int = 0, **other: Any) -> str:
        """The next transactional batch for a partition."""
        sequence = self.sequences.get((topic, partition), 0)
        self.sequences[topic, partition] = sequence + len(values)
        me = Producer(self.producer_id, self.epoch, sequence)
        fields: dict[str, Any] = {
            "producer": me,
            "attributes": TRANSACTIONAL,
            "timestamp_ms": now_ms(),
        } | other
        return batch(*values, **fields)

    def produce(
        self, topic: str, *values: bytes, partition: int = 0, version: int = SINCE_V2, **other: Any
    ) -> Plain:
        """A transactional batch to a topic by its name; from version 12 on that adds the partition
        too.

        Once more while the broker says that it cannot reach the coordinator (19): its own
        connection to it has idled out.
        """
        records = self.batch(*values, topic=topic, partition=partition, **other)
        data = [{"name": topic, "partition_data": [{"index": partition, "records": records}]}]
        return self.link.ask_until(
            _reached,
            "Produce",
            version,
            transactional_id=self.name,
            acks=-1,
            timeout_ms=5000,
            topic_data=data,
        )

    def commit_offsets(
        self, group: str, topic: str, *offsets: int, version: int = 5, **other: Any
    ) -> Plain:
        """TxnOffsetCommit of partitions 0, 1, ..."""
        partitions = [
            {"partition_index": i, "committed_offset": offset, "committed_metadata": "m"}
            for i, offset in enumerate(offsets)
        ]
        fields = self.fields(
            group_id=group, topics=[{"name": topic, "partitions": partitions}], **other
        )
        return self.link.ask("TxnOffsetCommit", version, **fields)

    def end(self, *, commit: bool, version: int = 5, **other: Any) -> Plain:
        """EndTxn, and its markers awaited; from version 5 on the next epoch is taken over."""
        answer = self.link.ask("EndTxn", version, **self.fields(committed=commit, **other))
        if version >= 5 and answer["error_code"] == 0:
            self._is(answer)
        settled(self.s, self.name)
        return answer

    def describe(self) -> Plain:
        """DescribeTransactions, as a step."""
        return self.link.ask(
            "DescribeTransactions", 0, shuffled="transaction_states", transactional_ids=[self.name]
        )


def _reached(answer: Plain) -> bool:
    return all(p["error_code"] != 19 for t in answer["responses"] for p in t["partition_responses"])
