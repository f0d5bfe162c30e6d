"""Small applications of strangers whose mistake needs time: batches that fill, listeners that
block, errors that nobody looks at."""

from __future__ import annotations

import time
from typing import Any

import kafka
from confluent_kafka import KafkaException

from tests.testing.small_applications import CommitsEach, NewProtocol, Small


class FillsItsBatch(Small):
    """kafka-python: auto-commit, and a batch that fills over several polls, or for 300 ms."""

    def live(self) -> None:
        consumer = kafka.KafkaConsumer(
            self.topic,
            bootstrap_servers=self.bootstrap_servers,
            group_id=self.group,
            auto_offset_reset="earliest",
            auto_commit_interval_ms=50,
            heartbeat_interval_ms=100,
        )
        consumer.partitions_for_topic(self.topic)
        batch, done = list[Any](), time.monotonic()
        try:
            while not self.ending.is_set():
                for records in consumer.poll(timeout_ms=50).values():
                    batch += records
                if len(batch) >= 25 or (batch and time.monotonic() > done + 0.3):
                    for record in batch:
                        self.work(record.topic, record.partition, record.offset)
                    batch, done = [], time.monotonic()
        finally:
            consumer.close()


class BlocksWhenRevoked(CommitsEach):
    """Its listener takes longer than it said, at most, that it would stay away from its poll."""

    settings = {  # noqa: RUF012
        "max.poll.interval.ms": 1000,
        "session.timeout.ms": 1000,
        "heartbeat.interval.ms": 100,
    }

    def subscribe(self, consumer: Any) -> None:
        consumer.subscribe([self.topic], on_revoke=lambda consumer, partitions: time.sleep(2.5))


class BlocksInNewProtocol(BlocksWhenRevoked):
    """The same in a group of the consumer protocol, whose coordinator takes it out."""

    settings = {**NewProtocol.settings, "max.poll.interval.ms": 1000}  # noqa: RUF012


class LooksAtNoError(CommitsEach):
    """In a group of the consumer protocol; goes on polling whatever it is told."""

    settings = NewProtocol.settings

    def failed(self, error: Any) -> None:
        pass

    def commit_now(self, consumer: Any, message: Any) -> None:
        consumer.commit(message, asynchronous=True)


class HidesRefusedCommits(CommitsEach):
    """In a group of the consumer protocol; ends when a poll tells of an error, and ignores that its
    commits are refused."""

    settings = NewProtocol.settings

    def refused(self, failure: KafkaException) -> None:
        pass
