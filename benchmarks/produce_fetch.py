"""Megabytes a second into and out of one partition: records of 1 KiB, by confluent-kafka, acks=all,
not compressed.

The client's rate is what a test suite feels; the server's processor time for a megabyte says what
the server could do.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.process import Row, ServerProcess, server

_VALUE = b"x" * 1024
_RECORDS = 100_000
_TARGET = ">= 50"


def _timed(
    serving: ServerProcess, work: Callable[[], None], megabytes: float
) -> tuple[float, float]:
    """(megabytes a second, milliseconds of the server's processor time for one)."""
    cpu, began = serving.cpu_s(), time.perf_counter()
    work()
    took = time.perf_counter() - began
    return megabytes / took, (serving.cpu_s() - cpu) * 1e3 / megabytes


def _produce(bootstrap: str, records: int) -> None:
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "linger.ms": 5,
            "queue.buffering.max.messages": records,
            "batch.size": 1_000_000,
        }
    )
    for i in range(records):
        producer.produce("bench", _VALUE, partition=0)
        if i % 1000 == 0:
            producer.poll(0)
    assert producer.flush(60) == 0


def _consume(bootstrap: str, records: int) -> None:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "bench",
            "enable.auto.commit": False,
            "check.crcs": False,
        }
    )
    consumer.assign([TopicPartition("bench", 0, 0)])
    seen = 0
    while seen < records:
        messages = consumer.consume(10_000, 5)
        assert messages, f"{seen} of {records} records, then nothing for 5 s"
        seen += len(messages)
    consumer.close()


def run(records: int = _RECORDS) -> list[Row]:
    """Write the records to an empty topic, read them back; with uvloop and with asyncio's own
    loop."""
    rows = []
    megabytes = records * len(_VALUE) / 1e6
    for loop in ("uvloop", "asyncio"):
        with server("--topic", "bench:1", loop=loop) as serving:
            bootstrap = "{}:{}".format(*serving.address)
            for what, work in (("produce", _produce), ("fetch", _consume)):
                rate, cost = _timed(serving, partial(work, bootstrap, records), megabytes)
                rows.append(
                    Row(
                        f"{what}, 1 KiB records, one partition, confluent-kafka: {loop}",
                        rate,
                        "MB/s",
                        _TARGET,
                    )
                )
                rows.append(Row(f"server CPU of {what}: {loop}", cost, "ms/MB"))
            rows.append(
                Row(
                    f"server memory after {megabytes:,.0f} MB: {loop}",
                    serving.resident_bytes() / 1e6,
                    "MB",
                )
            )
    return rows


if __name__ == "__main__":
    print(*run(), sep="\n")
