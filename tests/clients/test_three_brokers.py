"""Unmodified clients on three brokers: their group's coordinator crashes and comes back, and no
record and no commit is lost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from coordinator.base.java_hash import coordinator_partition
from coordinator.kit.cluster import StopBroker
from coordinator.kit.emulator.embedded import Emulator

kafka_python = pytest.importorskip("kafka")
confluent = pytest.importorskip("confluent_kafka")
pytestmark = pytest.mark.slow
CONFIG = {
    "broker.session.timeout.ms": 500,
    "controller.quorum.fetch.timeout.ms": 300,
    "default.replication.factor": 3,
    "offsets.topic.num.partitions": 4,
}
GUARD_S = 180
NOWHERE = -1001
"""The position in a partition of which nothing was read since it was assigned."""


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator({"orders": 3}, CONFIG, brokers=3, racks=["a", "b", "c"], seed=5) as emulator:
        yield emulator


def coordinator_of(kafka: Emulator, group: str) -> int:
    def look() -> int:
        running = next(broker for node, broker in kafka.brokers.items() if kafka.is_running(node))
        partition = running.cluster.partition("__consumer_offsets", coordinator_partition(group, 4))
        assert partition is not None
        return partition.leader

    return kafka.run(look)


class Story:
    """Records go in and come out; in the middle the coordinator crashes, and later it is started
    again. `committed`: of each partition that the consumer has, what is committed, and where it
    is."""

    def __init__(
        self,
        kafka: Emulator,
        send: Callable[[bytes], None],
        receive: Callable[[], list[bytes]],
        commit: Callable[[], object],
        committed: Callable[[], list[tuple[int, int]]],
    ) -> None:
        self.kafka = kafka
        self.send = send
        self.receive = receive
        self._commit = commit
        self._committed = committed
        self.sent = 0
        self.seen: set[int] = set()

    def go_on(self, records: int) -> None:
        for _ in range(records):
            self.send(b"%d" % self.sent)
            self.sent += 1
        end = time.monotonic() + GUARD_S
        while len(self.seen) < self.sent:
            assert time.monotonic() < end, (
                f"{self.sent - len(self.seen)} of {self.sent} records never came"
            )
            self.take()

    def take(self) -> None:
        self.seen.update(int(value) for value in self.receive())

    def commit(self) -> None:
        """Commit until every record counts; what was committed once is what the coordinator says.

        While a coordinator moves, and while its group rebalances, a consumer is told to try again:
        in a rebalance its polls alone bring it on, and may read again what was not committed.
        """
        end = time.monotonic() + GUARD_S
        while True:
            try:
                self._commit()
                places = self._committed()
            except (kafka_python.errors.KafkaError, confluent.KafkaException):
                if time.monotonic() > end:
                    raise
            else:
                assert all(at in (committed, NOWHERE) for committed, at in places), places
                if sum(committed for committed, _ in places) == self.sent:
                    return
                assert time.monotonic() < end, places
            self.take()

    def play(self, group: str) -> None:
        self.go_on(20)
        self.commit()
        before = coordinator_of(self.kafka, group)
        undo = self.kafka.control(StopBroker(before, how="crash"))
        assert undo is not None
        self.go_on(20)
        self.commit()
        assert coordinator_of(self.kafka, group) != before
        self.kafka.control(undo)
        self.go_on(20)
        self.commit()
        assert self.seen == set(range(60))


def test_kafka_python(kafka: Emulator) -> None:
    producer = kafka_python.KafkaProducer(
        bootstrap_servers=kafka.bootstrap_servers, acks="all", retries=1000
    )
    consumer = kafka_python.KafkaConsumer(
        "orders",
        bootstrap_servers=kafka.bootstrap_servers,
        group_id="python",
        auto_offset_reset="earliest",
    )
    consumer.partitions_for_topic(
        "orders"
    )  # else it may learn its topic while it joins, and lose that join

    def committed() -> list[tuple[int, int]]:
        return [
            (consumer.committed(place, metadata=False) or 0, consumer.position(place))
            for place in consumer.assignment()
        ]

    try:
        Story(
            kafka,
            lambda value: producer.send("orders", value),
            lambda: polled(consumer),
            consumer.commit,
            committed,
        ).play("python")
    finally:
        producer.close()
        consumer.close()


def polled(consumer: Any) -> list[bytes]:
    """What a poll brings. A defect of 3.0.12: a member that rejoins because its metadata changed
    loses the result of a join that is under way when a poll ends, and is silent for ever, unless it
    is told to join again.
    """
    values = [
        record.value for records in consumer.poll(timeout_ms=100).values() for record in records
    ]
    if consumer._coordinator.rejoining:
        consumer._coordinator.request_rejoin()
    return values


def test_confluent(kafka: Emulator) -> None:
    producer = confluent.Producer({"bootstrap.servers": kafka.bootstrap_servers, "acks": "all"})
    consumer = confluent.Consumer(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "group.id": "confluent",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe(["orders"])

    def receive() -> list[bytes]:
        producer.poll(0)
        return [
            message.value()
            for message in consumer.consume(100, timeout=0.2)
            if message.error() is None
        ]

    def committed() -> list[tuple[int, int]]:
        told = consumer.committed(consumer.assignment(), timeout=GUARD_S)
        return [
            (max(place.offset, 0), at.offset)
            for place, at in zip(told, consumer.position(told), strict=True)
        ]

    try:
        Story(
            kafka,
            lambda value: producer.produce("orders", value),
            receive,
            lambda: consumer.commit(asynchronous=False),
            committed,
        ).play("confluent")
    finally:
        producer.flush(GUARD_S)
        consumer.close()
