"""Small applications that claim the order of a key, or that an effect happens once; with and without
a mistake."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from confluent_kafka import KafkaException

from tests.testing.small_applications import CommitsEach


class KeepsKeyOrder(CommitsEach):
    """Right: confluent-kafka, one record after the other."""

    keeps_key_order = True


class Batches(CommitsEach):
    """confluent-kafka: takes a batch, works on it, commits it."""

    keeps_key_order = True

    def turn(self, consumer: Any) -> None:
        batch = [message for message in consumer.consume(60, 0.05) if not message.error()]
        if not batch or self.killed:
            return
        self.work_on(batch)
        with suppress(KafkaException):
            consumer.commit(asynchronous=False)

    def work_on(self, batch: list[Any]) -> None:
        for message in batch:
            self.work(message.topic(), message.partition(), message.offset())


class WorkerForEachKey(Batches):
    """Right: a pool of workers, each key with one of them; those of a partition overtake each
    other."""

    def work_on(self, batch: list[Any]) -> None:
        by_key: dict[bytes, list[Any]] = {}
        for message in batch:
            by_key.setdefault(message.key(), []).append(message)
        # keys that came later are begun first
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(super().work_on, reversed(by_key.values())))


class WorkerForEachRecord(Batches):
    """A pool of workers, and each record with any of them: the later ones of a key overtake."""

    def work_on(self, batch: list[Any]) -> None:
        latest: dict[bytes, Future[None]] = {}
        with ThreadPoolExecutor(8) as pool:
            # the last record of a key is done first, as one that happens to be quick
            for message in reversed(batch):
                before = latest.get(message.key())
                latest[message.key()] = pool.submit(self._after, before, message)

    def _after(self, other: Future[None] | None, message: Any) -> None:
        if other is not None:
            other.result()
        super().work_on([message])


class RetriesLater(CommitsEach):
    """A record whose processing fails is put aside, and done when the next one of its key is: a
    queue for what is to be tried again."""

    keeps_key_order = True
    flaky = b"fails the first time"

    def live(self) -> None:
        self.aside: dict[bytes, Any] = {}
        super().live()

    def handle(self, consumer: Any, message: Any) -> None:
        if message.value() == self.flaky:
            self.aside[message.key()] = message
            return
        self.work(message.topic(), message.partition(), message.offset())
        if (failed := self.aside.pop(message.key(), None)) is not None:
            self.work(failed.topic(), failed.partition(), failed.offset())
        if not self.aside:
            self.commit(consumer, message)


class RetriesInPlace(CommitsEach):
    """Right: a record whose processing fails is tried again before the next one."""

    keeps_key_order = True
    flaky = RetriesLater.flaky


class Unclaimed(WorkerForEachRecord):
    """Right, as it does not say that it keeps an order."""

    keeps_key_order = False


RIGHT = (KeepsKeyOrder, Batches, WorkerForEachKey, Unclaimed)
