"""Unmodified clients on three brokers: their group's coordinator crashes and comes back, and no
record and no commit is lost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from coordinator.common.java_hash import coordinator_partition
from coordinator.control.cluster import StopBroker
from coordinator.emulator.embedded import Emulator

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
    again."""

    def __init__(
        self,
        kafka: Emulator,
        send: Callable[[bytes], None],
        receive: Callable[[], list[bytes]],
        commit: Callable[[], None],
    ) -> None:
        self.kafka = kafka
        self.send = send
        self.receive = receive
        self.commit = commit
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
            self.seen.update(int(value) for value in self.receive())

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
    try:
        Story(
            kafka,
            lambda value: producer.send("orders", value),
            lambda: polled(consumer),
            lambda: patiently(consumer.commit),
        ).play("python")
        committed = [
            consumer.committed(partition, metadata=False) or 0
            for partition in consumer.assignment()
        ]
        assert sum(committed) == 60
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

    try:
        Story(
            kafka,
            lambda value: producer.produce("orders", value),
            receive,
            lambda: patiently(lambda: consumer.commit(asynchronous=False)),
        ).play("confluent")
        committed = consumer.committed(consumer.assignment(), timeout=GUARD_S)
        assert (
            sum(max(place.offset, 0) for place in committed) == 60
        )  # below 0: no record came to that partition
    finally:
        producer.flush(GUARD_S)
        consumer.close()


def patiently(commit: Callable[[], object]) -> None:
    """Commit until it succeeds: while a coordinator moves, clients are told to try again."""
    end = time.monotonic() + GUARD_S
    while True:
        try:
            commit()
            return
        except Exception:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
