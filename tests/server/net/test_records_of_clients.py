"""Records through real clients: every codec each has, with and without idempotence; read back by
all; looked up; deleted.

confluent-kafka has every codec built in; kafka-python and aiokafka bring gzip alone, so what all
three read is plain or gzip.
"""

from __future__ import annotations

import asyncio
import time
import warnings
from collections.abc import Iterator

import aiokafka
import confluent_kafka
import confluent_kafka.admin
import pytest

from coordinator.kit.emulator.embedded import Emulator

with warnings.catch_warnings():
    warnings.simplefilter(
        "ignore", DeprecationWarning
    )  # it reads its schemas in a way that Python is giving up
    import kafka

COUNT = 300
PATIENCE_S = 120.0
"""For each thing that is awaited, on a busy machine."""
HEADERS = [("trace", b"1")]


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    with Emulator({"t": 1}) as running:
        yield running


def values(name: str, count: int = COUNT) -> list[bytes]:
    return [f"{name} {i} ".encode() * 20 for i in range(count)]


def write_confluent(
    servers: str, sent: list[bytes], codec: str = "none", *, idempotent: bool = False
) -> None:
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": servers,
            "compression.type": codec,
            "enable.idempotence": idempotent,
            "linger.ms": 2,
        }
    )
    failures: list[object] = []
    for value in sent:
        producer.produce(
            "t",
            value,
            key=b"k",
            headers=HEADERS,
            on_delivery=lambda error, _: failures.append(error) if error else None,
        )
    assert producer.flush(PATIENCE_S) == 0
    assert failures == []


def read_confluent(servers: str, count: int) -> list[bytes]:
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "ck",
            "enable.auto.commit": False,
            "check.crcs": True,
        }
    )
    consumer.assign([confluent_kafka.TopicPartition("t", 0, 0)])
    seen: list[confluent_kafka.Message] = []
    end = time.monotonic() + PATIENCE_S
    while len(seen) < count and time.monotonic() < end:
        seen += consumer.consume(count, 0.2)
    consumer.close()
    assert [message.offset() for message in seen] == list(range(count))
    return [message.value() or b"" for message in seen]


def write_kafka_python(
    servers: str, sent: list[bytes], codec: str | None = None, *, idempotent: bool = True
) -> None:
    producer = kafka.KafkaProducer(
        bootstrap_servers=servers,
        compression_type=codec,
        enable_idempotence=idempotent,
        linger_ms=2,
    )
    try:
        futures = [producer.send("t", value, key=b"k", headers=HEADERS) for value in sent]
        producer.flush(PATIENCE_S)
        for future in futures:
            future.get(PATIENCE_S)
    finally:
        producer.close()


def read_kafka_python(servers: str, count: int) -> list[bytes]:
    consumer = kafka.KafkaConsumer(
        bootstrap_servers=servers, auto_offset_reset="earliest", enable_auto_commit=False
    )
    try:
        consumer.assign([kafka.TopicPartition("t", 0)])
        seen: list[bytes] = []
        end = time.monotonic() + PATIENCE_S
        while len(seen) < count and time.monotonic() < end:
            for records in consumer.poll(timeout_ms=200).values():
                seen += [record.value for record in records]
        return seen
    finally:
        consumer.close()


async def write_aiokafka(
    servers: str, sent: list[bytes], codec: str | None = None, *, idempotent: bool = True
) -> None:
    producer = aiokafka.AIOKafkaProducer(
        bootstrap_servers=servers,
        compression_type=codec,
        enable_idempotence=idempotent,
        linger_ms=2,
    )
    await producer.start()
    try:
        await asyncio.gather(
            *[await producer.send("t", value, key=b"k", headers=HEADERS) for value in sent]
        )
    finally:
        await producer.stop()


async def read_aiokafka(servers: str, count: int) -> list[bytes]:
    consumer = aiokafka.AIOKafkaConsumer(
        bootstrap_servers=servers, auto_offset_reset="earliest", enable_auto_commit=False
    )
    await consumer.start()
    try:
        consumer.assign([aiokafka.TopicPartition("t", 0)])
        seen: list[bytes] = []
        async with asyncio.timeout(PATIENCE_S):
            while len(seen) < count:
                for records in (await consumer.getmany(timeout_ms=200)).values():
                    seen += [record.value or b"" for record in records]
        return seen
    finally:
        await consumer.stop()


@pytest.mark.parametrize("idempotent", [False, True])
@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_confluent_kafka_with_every_codec(emulator: Emulator, codec: str, idempotent: bool) -> None:
    sent = values(codec)
    write_confluent(emulator.bootstrap_servers, sent, codec, idempotent=idempotent)
    assert read_confluent(emulator.bootstrap_servers, COUNT) == sent


def test_what_all_three_write_all_three_read(emulator: Emulator) -> None:
    servers = emulator.bootstrap_servers
    sent: list[bytes] = []
    for codec in ("none", "gzip"):
        plain = None if codec == "none" else codec
        for idempotent in (False, True):
            written = {
                client: values(f"{client} {codec} {idempotent}", 100)
                for client in ("ck", "kp", "aio")
            }
            write_confluent(servers, written["ck"], codec, idempotent=idempotent)
            write_kafka_python(servers, written["kp"], plain, idempotent=idempotent)
            asyncio.run(write_aiokafka(servers, written["aio"], plain, idempotent=idempotent))
            sent += written["ck"] + written["kp"] + written["aio"]
    assert read_confluent(servers, len(sent)) == sent
    assert read_kafka_python(servers, len(sent)) == sent
    assert asyncio.run(read_aiokafka(servers, len(sent))) == sent


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4"])
def test_offsets_by_time_and_deleted_records(emulator: Emulator, codec: str) -> None:
    """KIP-79 within a compressed batch; KIP-107; all batches hold ten records a second apart."""
    servers = emulator.bootstrap_servers
    now = int(time.time() * 1000) // 1000 * 1000
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": servers,
            "compression.type": codec,
            "linger.ms": 1000,
            "batch.num.messages": 10,
        }
    )
    for i in range(40):
        producer.produce("t", b"value %d" % i * 10, timestamp=now - 40_000 + i * 1000)
    assert producer.flush(PATIENCE_S) == 0
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": servers, "group.id": "g", "enable.auto.commit": False}
    )
    at = confluent_kafka.TopicPartition
    assert consumer.get_watermark_offsets(at("t", 0), timeout=PATIENCE_S) == (0, 40)
    for wanted in (0, 7, 23, 39):
        (found,) = consumer.offsets_for_times(
            [at("t", 0, now - 40_000 + wanted * 1000 - 500)], timeout=PATIENCE_S
        )
        assert found.offset == wanted
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": servers})
    for deleted in admin.delete_records([at("t", 0, 25)]).values():
        assert deleted.result(PATIENCE_S).low_watermark == 25
    assert consumer.get_watermark_offsets(at("t", 0), timeout=PATIENCE_S) == (25, 40)
    (found,) = consumer.offsets_for_times([at("t", 0, now - 40_000)], timeout=PATIENCE_S)
    assert found.offset == 25
    consumer.close()


def test_a_record_too_large_is_refused(emulator: Emulator) -> None:
    emulator.run(
        lambda: emulator.broker.cluster.set_topic_configs("t", {"max.message.bytes": "1000"})
    )
    producer = confluent_kafka.Producer({"bootstrap.servers": emulator.bootstrap_servers})
    errors: list[confluent_kafka.KafkaError] = []
    producer.produce("t", bytes(2000), on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(PATIENCE_S) == 0
    assert [error.code() for error in errors] == [confluent_kafka.KafkaError.MSG_SIZE_TOO_LARGE]
