"""The demo's consumer written with confluent-kafka (librdkafka). Consumes, reports, commits;
SIGTERM makes it leave the group."""

from __future__ import annotations

import signal
from threading import Event
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition

from .report import (
    HEARTBEAT_INTERVAL_MS,
    METADATA_MAX_AGE_MS,
    SESSION_TIMEOUT_MS,
    options,
    tell,
    tell_committed,
    tell_consumed,
    tell_partitions,
)


def assigned(consumer: Any, partitions: Any) -> None:
    """Called when the sync phase has ended."""
    tell_partitions("assigned", [tp.partition for tp in partitions])


def revoked(consumer: Any, partitions: Any) -> None:
    """Called when a rebalance has begun."""
    tell_partitions("revoked", [tp.partition for tp in partitions])


def main() -> None:
    """Consume until SIGTERM, then leave the group."""
    args = options()
    stop = Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    consumer = Consumer(
        {
            "bootstrap.servers": args.bootstrap,
            "group.id": args.group,
            "client.id": "confluent-kafka",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "session.timeout.ms": SESSION_TIMEOUT_MS,
            "heartbeat.interval.ms": HEARTBEAT_INTERVAL_MS,
            "topic.metadata.refresh.interval.ms": METADATA_MAX_AGE_MS,
            "metadata.max.age.ms": METADATA_MAX_AGE_MS,
            "partition.assignment.strategy": "range",
            "fetch.wait.max.ms": 100,
        }
    )
    consumer.subscribe([args.topic], on_assign=assigned, on_revoke=revoked, on_lost=revoked)
    while not stop.is_set():
        spans: dict[int, tuple[int, int]] = {}
        for message in consumer.consume(200, timeout=0.2):
            if message.error() is None:
                partition, offset = message.partition(), message.offset()
                spans[partition] = (spans.get(partition, (offset, offset))[0], offset)
        if not spans:
            continue
        tell_consumed(spans)
        offsets = {partition: last + 1 for partition, (_, last) in spans.items()}
        try:
            done = consumer.commit(
                offsets=[TopicPartition(args.topic, p, o) for p, o in offsets.items()],
                asynchronous=False,
            )
        # a rebalance came first: whoever has the partition next reads these records again
        except KafkaException as error:
            tell("commit refused", error=repr(error))
        else:
            tell_committed({tp.partition: tp.offset for tp in done or () if tp.error is None})
    tell("leaving")
    consumer.close()
    tell("stopped")


if __name__ == "__main__":
    main()
