"""Transactional producers of the client libraries against the server: what commits is read, what
aborts is not, exactly once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest

from coordinator import Emulator
from tests.clients.story import DEADLINE_S, POLL_MS, text

confluent_kafka = pytest.importorskip("confluent_kafka")

FEW = ["a", "b", "c"]


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    config = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": 100}
    with Emulator({"in": 2, "out": 2}, config, seed=1) as emulator:
        yield emulator


def confluent_producer(emulator: Emulator, name: str = "tx", **config: Any) -> Any:
    return confluent_kafka.Producer(
        {"bootstrap.servers": emulator.bootstrap_servers, "transactional.id": name, "log_level": 0}
        | config
    )


def confluent_consumer(
    emulator: Emulator, group: str, topic: str, isolation: str = "read_committed"
) -> Any:
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": emulator.bootstrap_servers,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "isolation.level": isolation,
            "fetch.wait.max.ms": 100,
        }
    )
    consumer.subscribe([topic])
    return consumer


def values(consumer: Any, count: int) -> list[str]:
    """The next so many values, sorted."""
    found: list[str] = []
    end = time.monotonic() + DEADLINE_S
    while len(found) < count:
        assert time.monotonic() < end, found
        messages = consumer.consume(count, POLL_MS / 1000)
        assert not [message.error() for message in messages if message.error()]
        found += [text(message.value()) for message in messages]
    return sorted(found)


def test_confluent_commits_and_aborts(emulator: Emulator) -> None:
    producer = confluent_producer(emulator)
    producer.init_transactions(DEADLINE_S)
    for fate in ("kept", "lost", "kept too"):
        producer.begin_transaction()
        for value in FEW:
            producer.produce("out", f"{fate} {value}")
        if fate == "lost":
            producer.flush(DEADLINE_S)
            producer.abort_transaction(DEADLINE_S)
        else:
            producer.commit_transaction(DEADLINE_S)
    kept = sorted(f"{fate} {value}" for fate in ("kept", "kept too") for value in FEW)
    consumer = confluent_consumer(emulator, "g", "out")
    assert values(consumer, len(kept)) == kept
    consumer.close()
    everything = confluent_consumer(emulator, "g2", "out", "read_uncommitted")
    assert len(values(everything, 9)) == 9
    everything.close()


def test_confluent_readers_wait_for_the_end(emulator: Emulator) -> None:
    """The last stable offset holds records back that others wrote after an open transaction
    began."""
    producer = confluent_producer(emulator)
    producer.init_transactions(DEADLINE_S)
    producer.begin_transaction()
    producer.produce("out", "in the transaction", partition=0)
    producer.flush(DEADLINE_S)
    plain = confluent_kafka.Producer({"bootstrap.servers": emulator.bootstrap_servers})
    plain.produce("out", "plain", partition=0)
    plain.flush(DEADLINE_S)
    consumer = confluent_consumer(emulator, "g", "out")
    partition = confluent_kafka.TopicPartition("out", 0)
    assert consumer.get_watermark_offsets(partition, DEADLINE_S)[1] == 0
    producer.commit_transaction(DEADLINE_S)
    assert values(consumer, 2) == ["in the transaction", "plain"]
    consumer.close()


def test_confluent_consumes_transforms_and_produces_once(emulator: Emulator) -> None:
    """KIP-447: offsets go with the transaction; a first attempt that aborts leaves neither results
    nor offsets (TXN-5)."""
    plain = confluent_kafka.Producer({"bootstrap.servers": emulator.bootstrap_servers})
    for value in FEW:
        plain.produce("in", value)
    plain.flush(DEADLINE_S)
    for attempt in ("aborted", "committed"):
        consumer = confluent_consumer(emulator, "worker", "in")
        producer = confluent_producer(emulator)
        producer.init_transactions(DEADLINE_S)
        producer.begin_transaction()
        for value in values(consumer, len(FEW)):
            producer.produce("out", f"{attempt} {value}")
        positions = consumer.position(consumer.assignment())
        producer.send_offsets_to_transaction(
            positions, consumer.consumer_group_metadata(), DEADLINE_S
        )
        if attempt == "aborted":
            producer.abort_transaction(DEADLINE_S)
        else:
            producer.commit_transaction(DEADLINE_S)
        consumer.close()
    reader = confluent_consumer(emulator, "reader", "out")
    assert values(reader, len(FEW)) == [f"committed {value}" for value in FEW]
    reader.close()
    consumer = confluent_consumer(emulator, "worker", "in")
    told = consumer.committed(
        [confluent_kafka.TopicPartition("in", i) for i in range(2)], timeout=DEADLINE_S
    )
    assert sum(max(partition.offset, 0) for partition in told) == len(FEW)
    consumer.close()


def test_confluent_is_fenced_by_its_successor(emulator: Emulator) -> None:
    """The old producer's transaction is aborted, and it cannot go on."""
    old, new = confluent_producer(emulator), confluent_producer(emulator)
    old.init_transactions(DEADLINE_S)
    old.begin_transaction()
    old.produce("out", "of the old one")
    old.flush(DEADLINE_S)
    new.init_transactions(DEADLINE_S)
    with pytest.raises(confluent_kafka.KafkaException) as fenced:
        old.commit_transaction(DEADLINE_S)
    assert fenced.value.args[0].fatal()
    new.begin_transaction()
    new.produce("out", "of the new one")
    new.commit_transaction(DEADLINE_S)
    consumer = confluent_consumer(emulator, "g", "out")
    assert values(consumer, 1) == ["of the new one"]
    consumer.close()


def test_confluent_takes_too_long(emulator: Emulator) -> None:
    """The coordinator aborts on its own, and readers go on."""
    producer = confluent_producer(emulator, **{"transaction.timeout.ms": 1000})
    producer.init_transactions(DEADLINE_S)
    producer.begin_transaction()
    producer.produce("out", "too late", partition=0)
    producer.flush(DEADLINE_S)
    plain = confluent_kafka.Producer({"bootstrap.servers": emulator.bootstrap_servers})
    plain.produce("out", "plain", partition=0)
    plain.flush(DEADLINE_S)
    consumer = confluent_consumer(emulator, "g", "out")
    assert values(consumer, 1) == ["plain"]
    consumer.close()
    with pytest.raises(confluent_kafka.KafkaException):
        producer.commit_transaction(DEADLINE_S)


def test_kafka_python_commits_and_aborts(emulator: Emulator) -> None:
    kafka = pytest.importorskip("kafka")
    producer = kafka.KafkaProducer(
        bootstrap_servers=emulator.bootstrap_servers, transactional_id="kafka-python"
    )
    producer.init_transactions()
    for fate in ("kept", "lost", "kept too"):
        producer.begin_transaction()
        for value in FEW:
            producer.send("out", f"{fate} {value}".encode())
        producer.flush(DEADLINE_S)
        if fate == "lost":
            producer.abort_transaction()
        else:
            producer.commit_transaction()
    producer.close()
    consumer = kafka.KafkaConsumer(
        "out",
        bootstrap_servers=emulator.bootstrap_servers,
        group_id="g",
        auto_offset_reset="earliest",
        isolation_level="read_committed",
        enable_auto_commit=False,
    )
    consumer.partitions_for_topic(
        "out"
    )  # else it may learn its topic while it joins, and lose that join
    found: list[str] = []
    end = time.monotonic() + DEADLINE_S
    while len(found) < 6:
        assert time.monotonic() < end, found
        found += [
            text(record.value) for records in consumer.poll(POLL_MS).values() for record in records
        ]
    consumer.close()
    assert sorted(found) == sorted(
        f"{fate} {value}" for fate in ("kept", "kept too") for value in FEW
    )


def test_aiokafka_consumes_transforms_and_produces(emulator: Emulator) -> None:
    aiokafka = pytest.importorskip("aiokafka")

    async def story() -> list[str]:
        servers = emulator.bootstrap_servers
        producer = aiokafka.AIOKafkaProducer(bootstrap_servers=servers, transactional_id="aiokafka")
        await producer.start()
        for fate in ("lost", "kept"):
            await producer.begin_transaction()
            for value in FEW:
                await producer.send_and_wait("out", f"{fate} {value}".encode())
            offsets = {aiokafka.TopicPartition("in", 0): len(fate) if fate == "lost" else 7}
            await producer.send_offsets_to_transaction(offsets, "worker")
            if fate == "lost":
                await producer.abort_transaction()
            else:
                await producer.commit_transaction()
        await producer.stop()
        consumer = aiokafka.AIOKafkaConsumer(
            "out",
            bootstrap_servers=servers,
            group_id="g",
            auto_offset_reset="earliest",
            isolation_level="read_committed",
            enable_auto_commit=False,
        )
        await consumer.start()
        found = [text((await asyncio.wait_for(consumer.getone(), DEADLINE_S)).value) for _ in FEW]
        await consumer.stop()
        worker = aiokafka.AIOKafkaConsumer(
            "in", bootstrap_servers=servers, group_id="worker", enable_auto_commit=False
        )
        await worker.start()
        assert await worker.committed(aiokafka.TopicPartition("in", 0)) == 7
        await worker.stop()
        return sorted(found)

    assert asyncio.run(story()) == [f"kept {value}" for value in FEW]
