"""Random lives of producers on a cluster of three, lived on real brokers and on the emulator's, and
compared step by step.

    python -m integration_tests.cluster.producer_lives [--seed N] [--count N] [--record]

Brokers, leaders and replicas do as in `lives`, and coordinators of transactions move. Between
these, two idempotent producers send new batches, batches that they have sent before, and gaps, and
two transactional ids write, end and begin anew, one of them as before KIP-890; what leaders know of
producers is asked for. Records are dated now, for what is older than a day is forgotten in a
restart.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from integration_tests.cluster import lives
from integration_tests.cluster.registry import Story
from integration_tests.cluster.stage import (
    BROKERS,
    INTERNAL_PARTITIONS,
    TRANSACTIONS,
    Cluster,
    coordinator_partition,
)
from integration_tests.wire.batches import Producer, batch
from integration_tests.wire.raw import Plain

STEPS: Final = 24
_TRANSACTIONAL: Final = 16
_CONCURRENT, _NOT_FOUND = 51, 105
_OVER: Final = ("CompleteCommit", "CompleteAbort", "Empty")
_BACK: Final = (0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, -1)
"""How many batches before its next one a producer sends again; -1: it leaves one out."""
_VERSION_2: Final = "v2"
"""The transactional id whose producer leaves adding partitions to brokers."""
At = tuple[str, int]


@dataclass(slots=True)
class Writer:
    """A producer: its id and epoch, its next sequence by partition, and the partitions in its open
    transaction."""

    producer_id: int
    epoch: int = 0
    sequences: dict[At, int] = field(default_factory=dict)
    enlisted: dict[At, None] = field(default_factory=dict)


class ProducerLife(lives.Life):
    """One life, drawn from a seed."""

    def __init__(self, c: Cluster, seed: int) -> None:
        super().__init__(c, seed)
        self.steps = STEPS
        self.idempotent: dict[str, Writer] = {}
        self.transactional: dict[str, Writer] = {}

    def live(self) -> None:
        """All of it, and what the leaders know in the end."""
        super().live()
        for topic, index in self.replicas:
            self._told(topic, index)

    def _possible(self) -> list[Callable[[], None]]:
        brokers = [self._comes_back] if self.down else [self._goes]
        moves = [self._leads, self._leads, self._moves, self._transactions_move]
        return [
            *brokers,
            *brokers,
            *moves,
            *[self._writes] * 6,
            *[self._transacts] * 6,
            self._asks,
            self._asks,
        ]

    def _goes(self) -> None:
        super()._goes()
        for index in range(INTERNAL_PARTITIONS):
            self.c.until(TRANSACTIONS, index, isr_nodes=set(BROKERS) - {self.down})

    def _comes_back(self) -> None:
        super()._comes_back()
        for index in range(INTERNAL_PARTITIONS):
            self.c.until(TRANSACTIONS, index, isr_nodes=set(BROKERS))
        for broker in BROKERS:
            self._fresh_id(broker)  # its first one is COORDINATOR_LOAD_IN_PROGRESS for a while

    def _transactions_move(self) -> None:
        index, to = (
            self.random.randrange(INTERNAL_PARTITIONS),
            self.random.choice([node for node in BROKERS if node != self.down]),
        )
        self.c.lead(TRANSACTIONS, index, to)
        self.c.s.steps.append({"coordinates transactions": [index, to]})

    # -- what leaders know

    def _asks(self) -> None:
        self._told(*self.random.choice(list(self.replicas)))

    def _told(self, topic: str, index: int) -> None:
        """DescribeProducers without the coordinators' epochs, which are those of all lives; and the
        last stable offset."""
        leader = self._leader(topic, index)
        if not leader:
            return
        answer = self.c.quietly(
            "DescribeProducers", 0, leader, topics=[{"name": topic, "partition_indexes": [index]}]
        )
        found = answer["topics"][0]["partitions"][0]
        for producer in found["active_producers"]:
            del producer["coordinator_epoch"]
        names = (
            self.c.s.names
        )  # which of two ids is the lower one depends on the blocks that brokers drew before
        found["active_producers"].sort(
            key=lambda producer: str(names.value("producer_id", producer["producer_id"]))
        )
        self.c.s.say(f"producers of {self.c.s.names.text(topic)}-{index}", found)
        entries = [{"partition_index": index, "timestamp": -1}]
        self.c.at(leader).ask(
            "ListOffsets",
            7,
            replica_id=-1,
            isolation_level=1,
            topics=[{"name": topic, "partitions": entries}],
        )

    # -- batches

    def _fresh_id(self, broker: int = 0) -> int:
        found: Plain = {}

        def given() -> bool:
            nonlocal found
            found = self.c.quietly(
                "InitProducerId", 4, broker, transactional_id=None, transaction_timeout_ms=1_000
            )
            return not found["error_code"]

        self.c.s.until(given, "no producer id was ever given")
        return int(found["producer_id"])

    def _send(
        self, at: At, leader: int, one: Writer, back: int, version: int = 9, **transaction: Any
    ) -> bool:
        """Send the next batch of a producer, or one that is so many before it; was it appended?"""
        sequence = max(0, one.sequences.get(at, 0) - back)
        attributes = _TRANSACTIONAL if transaction else 0
        records = batch(
            b"value",
            producer=Producer(one.producer_id, one.epoch, sequence),
            attributes=attributes,
            timestamp_ms=int(time.time() * 1000),
        )
        data: list[Any] = [
            {"name": at[0], "partition_data": [{"index": at[1], "records": records}]}
        ]
        answer = self.c.at(leader).ask(
            "Produce", version, acks=-1, timeout_ms=10_000, topic_data=data, **transaction
        )
        row = answer["responses"][0]["partition_responses"][0]
        appended = not row["error_code"] and row["base_offset"] == self.ends[at]
        if appended:
            self.ends[at] += 1
            one.sequences[at] = sequence + 1
        return bool(appended)

    def _writes(self) -> None:
        at, who, back = (
            self.random.choice(list(self.replicas)),
            self.random.choice("ab"),
            self.random.choice(_BACK),
        )
        times, leader = self.random.randint(1, 3), self._leader(*at)
        if not leader:
            return
        if who not in self.idempotent:
            self.idempotent[who] = Writer(self._fresh_id())
            self.c.s.names.value("producer_id", self.idempotent[who].producer_id)
        for _ in range(times):
            self._send(at, leader, self.idempotent[who], back)

    # -- transactions

    def _transacts(self) -> None:
        """One of two transactional ids goes on, at whoever coordinates it. It does not end while a
        partition of it has no leader."""
        label, what = (
            self.random.choice(["v1", _VERSION_2]),
            self.random.choice(["write"] * 3 + ["end"] * 2 + ["new", "same", "before"]),
        )
        at, back, committed = (
            self.random.choice(list(self.replicas)),
            self.random.choice((0, 0, 0, 1, 2)),
            self.random.random() < 0.5,
        )
        one = self.transactional.get(label)
        if one is None or what in ("new", "same", "before"):
            self._begins(label, one, what)
        elif what == "write":
            self._enlists(label, one, at, back)
        elif all(self._leader(*each) for each in one.enlisted):
            self._ends(label, one, committed)

    def _state(self, label: str, broker: int) -> Plain:
        answer = self.c.quietly(
            "DescribeTransactions", 0, broker, transactional_ids=[self.c.name(label, 1)]
        )
        return dict(answer["transaction_states"][0])

    def _coordinated_by(self, label: str) -> int:
        """Who coordinates a transactional id, and serves it."""
        found = 0

        def served() -> bool:
            nonlocal found
            found = int(
                self.c.partition(TRANSACTIONS, coordinator_partition(self.c.name(label, 1)))[
                    "leader_id"
                ]
            )
            return found in self.c.alive and self._state(label, found)["error_code"] in (
                0,
                _NOT_FOUND,
            )

        self.c.s.until(served, f"nobody coordinates {label}")
        return found

    def _begins(self, label: str, one: Writer | None, what: str) -> None:
        """InitProducerId, without an epoch, with the present one, or with the one before."""
        if one is not None and not all(self._leader(*each) for each in one.enlisted):
            return
        broker = self._coordinated_by(label)
        asked: Plain = {
            "transactional_id": self.c.name(label, 1),
            "transaction_timeout_ms": 900_000,
        }
        if one is not None and what != "new":
            asked |= {
                "producer_id": one.producer_id,
                "producer_epoch": max(0, one.epoch - (what == "before")),
            }
        answer = self.c.at(broker).ask("InitProducerId", 4, **asked)
        if answer["error_code"] == _CONCURRENT and one is not None:
            self._over(label, one, broker)
            answer = self.c.at(broker).ask("InitProducerId", 4, **asked)
        if answer["error_code"]:
            return
        begun = self.transactional[label] = Writer(answer["producer_id"], answer["producer_epoch"])
        if one is not None and (one.producer_id, one.epoch) == (begun.producer_id, begun.epoch):
            begun.sequences = one.sequences

    def _enlists(self, label: str, one: Writer, at: At, back: int) -> None:
        leader, broker = self._leader(*at), self._coordinated_by(label)
        if not leader:
            return
        name = self.c.name(label, 1)
        if label != _VERSION_2:
            answer = self.c.at(broker).ask(
                "AddPartitionsToTxn",
                3,
                v3_and_below_transactional_id=name,
                v3_and_below_producer_id=one.producer_id,
                v3_and_below_producer_epoch=one.epoch,
                v3_and_below_topics=[{"name": at[0], "partitions": [at[1]]}],
            )
            if answer["results_by_topic_v3_and_below"][0]["results_by_partition"][0][
                "partition_error_code"
            ]:
                return
            one.enlisted[at] = None
        self._send(at, leader, one, back, 12 if label == _VERSION_2 else 9, transactional_id=name)
        for topic in self._state(label, broker)["topics"]:
            one.enlisted |= dict.fromkeys((topic["topic"], index) for index in topic["partitions"])

    def _ends(self, label: str, one: Writer, committed: bool) -> None:
        broker = self._coordinated_by(label)
        who: Plain = {
            "transactional_id": self.c.name(label, 1),
            "producer_id": one.producer_id,
            "producer_epoch": one.epoch,
        }
        version = 5 if label == _VERSION_2 else 3
        answer = self.c.at(broker).ask("EndTxn", version, **who, committed=committed)
        if answer["error_code"]:
            return
        self._over(label, one, broker)
        if label == _VERSION_2:
            self.transactional[label] = Writer(answer["producer_id"], answer["producer_epoch"])

    def _over(self, label: str, one: Writer, broker: int) -> None:
        """Wait until a transaction is over and its markers are in each of its partitions."""
        self.c.s.until(
            lambda: self._state(label, broker)["transaction_state"] in _OVER,
            f"{label} was never over",
        )
        for at in one.enlisted:
            self.ends[at] += 1
        for at in one.enlisted:
            self._leader(*at)
        one.enlisted = {}
        self.c.s.say("over", self._state(label, broker))


def life(seed: int) -> Story:
    """The story of a seed."""
    return partial(_live, seed)


def _live(seed: int, c: Cluster) -> None:
    ProducerLife(c, seed).live()


if __name__ == "__main__":
    sys.exit(lives.main(module="producer_lives", description=__doc__, story=life))
