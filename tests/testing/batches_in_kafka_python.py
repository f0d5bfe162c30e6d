"""Small applications of strangers with kafka-python: batches, offsets of their own, auto-commit.
`RIGHT` have no mistake."""

from __future__ import annotations

import time
from contextlib import suppress
from queue import Empty, Queue
from threading import Thread
from typing import Any

import kafka
from kafka.errors import CommitFailedError, RebalanceInProgressError

from tests.testing.small_applications import KafkaPython, Small


class KeepsItsOffsets(Small):
    """Right: kafka-python, its offsets in a store of its own, written with the work; it seeks to
    them when it is given partitions."""

    keeps_offsets = True
    store: dict[int, int]

    def __init__(self) -> None:
        super().__init__()
        self.store = {}

    def live(self) -> None:
        consumer = kafka.KafkaConsumer(
            bootstrap_servers=self.bootstrap_servers,
            group_id=self.group,
            client_id="billing",
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            heartbeat_interval_ms=100,
        )
        application = self

        class Listener(kafka.ConsumerRebalanceListener):
            def on_partitions_revoked(self, revoked: Any) -> None:
                pass

            def on_partitions_assigned(self, assigned: Any) -> None:
                for place in assigned:
                    application.go_to(consumer, place)

        try:
            consumer.subscribe([self.topic], listener=Listener())
            consumer.partitions_for_topic(self.topic)
            while not self.ending.is_set():
                for records in consumer.poll(timeout_ms=50).values():
                    for record in records:
                        if not self.ending.is_set():
                            self.handle(record)
        finally:
            consumer.close(autocommit=False)

    def go_to(self, consumer: Any, place: Any) -> None:
        consumer.seek(place, self.store.get(place.partition, 0))

    def handle(self, record: Any) -> None:
        if not self.killed:
            self.work(record.topic, record.partition, record.offset)
            self.store[record.partition] = record.offset + 1


class StoresAhead(KeepsItsOffsets):
    """Stores where a batch ends before it works on it, and stops in the middle."""

    def handle(self, record: Any) -> None:
        self.store[record.partition] = max(self.store.get(record.partition, 0), record.offset + 10)
        self.work(record.topic, record.partition, record.offset)


class Batches(KafkaPython):
    """Right: kafka-python, a commit for each batch; a partition that is slow is paused for a
    while."""

    def live(self) -> None:
        consumer = kafka.KafkaConsumer(
            bootstrap_servers=self.bootstrap_servers,
            group_id=self.group,
            client_id="billing",
            enable_auto_commit=self.auto,
            auto_offset_reset=self.reset,
            heartbeat_interval_ms=100,
            auto_commit_interval_ms=100,
            max_poll_records=20,
        )
        try:
            consumer.subscribe([self.topic])
            consumer.partitions_for_topic(self.topic)
            while not self.ending.is_set():
                self.batch(consumer, consumer.poll(timeout_ms=50))
        finally:
            consumer.close(autocommit=self.auto and not self.killed)

    auto, reset = False, "earliest"

    def batch(self, consumer: Any, batch: Any) -> None:
        for place, records in batch.items():
            consumer.pause(place)
            for record in records:
                self.work(record.topic, record.partition, record.offset)
            if place in consumer.assignment():
                consumer.resume(place)
        self.commit(
            consumer,
            {
                place: kafka.OffsetAndMetadata(records[-1].offset + 1, "", -1)
                for place, records in batch.items()
            },
        )

    def commit(self, consumer: Any, offsets: Any) -> None:
        if offsets and not self.killed:
            with suppress(CommitFailedError, RebalanceInProgressError):
                consumer.commit(offsets)


class AutoCommits(Batches):
    """Right: auto-commit, everything of a poll done before the next."""

    auto = True

    def commit(self, consumer: Any, offsets: Any) -> None:
        pass


class OneOffsetForAll(Batches):
    """Commits the highest offset of the batch for each partition of it."""

    def commit(self, consumer: Any, offsets: Any) -> None:
        if offsets:
            highest = max(meta.offset for meta in offsets.values())
            super().commit(
                consumer, {place: kafka.OffsetAndMetadata(highest, "", -1) for place in offsets}
            )


class BeginsAtTheEnd(Batches):
    """auto_offset_reset=latest: what was written before its first start is never read."""

    reset = "latest"


class QueuesWhatItPolls(AutoCommits):
    """Auto-commit, while a thread works through a queue."""

    def batch(self, consumer: Any, batch: Any) -> None:
        if not hasattr(self, "queue"):
            self.queue: Queue[Any] = Queue()
            Thread(target=self.work_on, daemon=True).start()
        for records in batch.values():
            self.queue.put(records)

    def work_on(self) -> None:
        while not self.ending.is_set():
            with suppress(Empty):
                for record in self.queue.get(timeout=0.02):
                    time.sleep(0.03)
                    self.work(record.topic, record.partition, record.offset)


class SubscribesAnew(Batches):
    """Leaves and subscribes anew after every batch."""

    def batch(self, consumer: Any, batch: Any) -> None:
        super().batch(consumer, batch)
        if batch:
            consumer.unsubscribe()
            consumer.subscribe([self.topic])


class SkipsWhatFailed(Batches):
    """Goes on with the next batch where a commit is refused, as if it had been kept, and drops one
    record of each batch."""

    def batch(self, consumer: Any, batch: Any) -> None:
        super().batch(
            consumer, {place: records for place, records in batch.items() if place.partition}
        )
        self.commit(
            consumer,
            {
                place: kafka.OffsetAndMetadata(records[-1].offset + 1, "", -1)
                for place, records in batch.items()
            },
        )


RIGHT: tuple[type[Small], ...] = (
    KeepsItsOffsets,
    Batches,
    AutoCommits,
)
