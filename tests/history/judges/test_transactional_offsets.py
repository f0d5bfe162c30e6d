"""Offsets in transactions are judged by who has their partitions: Kafka takes them from whoever
sends them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.history.judges.transactional_offsets import TransactionsStayWithinAssignment
from tests.history.judges.crafted import judge

_FAST = {"heartbeat.interval.ms": 50}


def found(kafka: Emulator) -> list[str]:
    (verdict,) = judge(kafka.events(), [TransactionsStayWithinAssignment])
    return [finding.text for finding in verdict.findings]


@pytest.fixture
def topic(kafka: Emulator) -> None:
    kafka.create_topic("orders", 2)
    kafka.produce("orders", ["x"] * 4)


@pytest.mark.usefixtures("topic")
class TestAiokafka:
    """Its offsets name no member."""

    def play(self, kafka: Emulator, lost: bool) -> None:
        library = pytest.importorskip("aiokafka")
        kept, gone = library.TopicPartition("orders", 0), library.TopicPartition("orders", 1)

        async def story() -> None:
            about = {"bootstrap_servers": kafka.bootstrap_servers}
            consumer = library.AIOKafkaConsumer(
                "orders",
                **about,
                group_id="billing",
                client_id="app",
                enable_auto_commit=False,
                heartbeat_interval_ms=50,
            )
            producer = library.AIOKafkaProducer(**about, transactional_id="billing-1")
            await consumer.start()
            await producer.start()
            try:
                async with producer.transaction():
                    await producer.send_offsets_to_transaction({kept: 1, gone: 1}, "billing")
                await asyncio.to_thread(self.shared, kafka)
                given = set(kafka.group("billing").snapshot().member("app").assignment or ())
                mine = [tp for tp in (kept, gone) if tuple(tp) in given]
                others = [tp for tp in (kept, gone) if tuple(tp) not in given]
                async with producer.transaction():
                    offsets = dict.fromkeys(others if lost else mine, 2)
                    await producer.send_offsets_to_transaction(offsets, "billing")
            finally:
                await producer.stop()
                await consumer.stop()
                self.peer.stop()

        asyncio.run(story())

    def shared(self, kafka: Emulator) -> None:
        self.peer: Any = kafka.peer("billing", ["orders"], config=_FAST)
        self.peer.wait_stable(members=2)
        kafka.group("billing").wait(state="Stable", members=2, assigned="all")

    def test_a_partition_that_it_lost(self, kafka: Emulator) -> None:
        self.play(kafka, lost=True)
        (text,) = found(kafka)
        assert "which commits for app, committed orders-" in text
        with pytest.raises(AssertionError, match="no_transaction_after_losing"):
            kafka.verify("billing").no_stale_commit()

    def test_a_partition_that_it_kept(self, kafka: Emulator) -> None:
        self.play(kafka, lost=False)
        assert found(kafka) == []
        kafka.verify("billing").no_stale_commit()


@pytest.mark.usefixtures("topic")
@pytest.mark.parametrize("lost", [True, False])
def test_confluent_kafka_names_its_member(kafka: Emulator, lost: bool) -> None:
    library = pytest.importorskip("confluent_kafka")
    consumer = library.Consumer(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "group.id": "billing",
            "client.id": "app",
            "heartbeat.interval.ms": 50,
            "statistics.interval.ms": 50,
            "enable.auto.commit": False,
        }
    )
    producer = library.Producer(
        {"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": "billing-1"}
    )
    group = kafka.group("billing")
    try:
        consumer.subscribe(["orders"])
        while not consumer.assignment():
            consumer.poll(0.05)
        with kafka.peer("billing", ["orders"], config=_FAST):
            while len(consumer.assignment()) != 1 or group.state != "Stable":
                consumer.poll(0.05)
            group.wait(state="Stable", members=2, assigned="all")
            (mine,) = consumer.assignment()
            index = 1 - mine.partition if lost else mine.partition
            producer.init_transactions(10)
            producer.begin_transaction()
            offsets = [library.TopicPartition("orders", index, 1)]
            producer.send_offsets_to_transaction(offsets, consumer.consumer_group_metadata(), 10)
            producer.commit_transaction(10)
    finally:
        consumer.close()
    told = found(kafka)
    assert bool(told) == lost
    assert all("a partition that it did not have" in text for text in told)


def line(seq: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {
        "seq": seq,
        "at_ms": seq,
        "stream": "group",
        "type": kind,
        "group": "g",
        "cause": None,
        **fields,
    }


def pending(seq: int, producer: int, partition: int) -> dict[str, Any]:
    rows = [{"topic": "orders", "partition": partition, "offset": 1}]
    return line(seq, "OffsetsPending", producer_id=producer, offsets=rows)


def stored(seq: int, **owners: str) -> dict[str, Any]:
    from coordinator.wire.consumer_protocol import Assignment, TopicPartitions

    members = [
        {
            "member_id": client,
            "client_id": client,
            "subscription": "",
            "assignment": Assignment(
                partitions=[TopicPartitions(topic="orders", partitions=[int(number)])]
            )
            .encode()
            .hex(),
        }
        for number, client in ((name.removeprefix("p"), client) for name, client in owners.items())
    ]
    return line(seq, "GenerationStored", protocol_type="consumer", members=members, generation=1)


class TestOneProducerForSeveralConsumers:
    """Who shares a producer is not blamed: it says of nobody else that he has one of his own."""

    def judged(self, *lines: dict[str, Any]) -> list[str]:
        (verdict,) = judge(lines, [TransactionsStayWithinAssignment])
        return [finding.text for finding in verdict.findings]

    def test_shared(self) -> None:
        assert (
            self.judged(stored(1, p0="a"), pending(2, 7, 0), stored(3, p0="b"), pending(4, 7, 0))
            == []
        )

    def test_the_other_has_one_of_its_own(self) -> None:
        lines = (
            stored(1, p0="a", p1="b"),
            pending(2, 7, 0),
            pending(3, 8, 1),
            stored(4, p0="b", p1="a"),
            pending(5, 7, 0),
        )
        (text,) = self.judged(*lines)
        assert (
            text
            == "producer 7, which commits for a, committed orders-0 at 1 in a transaction while b had it"
        )
