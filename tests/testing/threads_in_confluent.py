"""Small applications of strangers with confluent-kafka: worker threads, pauses, callbacks,
transactions. `RIGHT` have no mistake."""

from __future__ import annotations

import time
from contextlib import suppress
from queue import Empty, Queue
from threading import Lock, Thread
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka import TopicPartition as Place

from tests.testing.small_applications import CommitsEach, NewProtocol, Small
from tests.testing.small_transactions import Answers


class PausesForItsWorker(CommitsEach):
    """Right: a thread works on a batch while the consumer, paused, goes on polling; it commits what
    is done."""

    def subscribe(self, consumer: Any) -> None:
        self.work_queue: Queue[Any] = Queue()
        self.mine: set[int] = set()
        self.lock, self.done = Lock(), dict[int, int]()
        self.busy, self.given_times = False, 0
        self.worker = Thread(target=self.work_on, daemon=True)
        self.worker.start()
        consumer.subscribe(
            [self.topic], on_assign=self.given, on_revoke=self.taken_away, on_lost=self.gone
        )

    def given(self, consumer: Any, partitions: Any) -> None:
        consumer.assign(partitions)
        with self.lock:
            self.mine = {place.partition for place in partitions}
            self.given_times += 1

    def taken_away(self, consumer: Any, partitions: Any) -> None:
        self.forget()
        self.commit_done(consumer)

    def gone(self, consumer: Any, partitions: Any) -> None:
        self.forget()
        self.done.clear()

    def forget(self) -> None:
        with self.lock:
            self.mine = set()

    def work_on(self) -> None:
        while not self.ending.is_set():
            with suppress(Empty):
                given_times, batch = self.work_queue.get(timeout=0.02)
                for message in batch:
                    time.sleep(0.001)
                    with self.lock:
                        if (
                            given_times == self.given_times
                            and message.partition() in self.mine
                            and not self.ending.is_set()
                        ):
                            self.work(message.topic(), message.partition(), message.offset())
                            self.done[message.partition()] = message.offset() + 1
                self.busy = False

    def turn(self, consumer: Any) -> None:
        batch = [message for message in consumer.consume(20, 0.02) if not message.error()]
        if batch:
            self.busy = True
            self.pause(consumer)
            self.work_queue.put((self.given_times, batch))
        elif not self.busy:
            self.resume(consumer)
        self.commit_done(consumer)

    def pause(self, consumer: Any) -> None:
        consumer.pause(consumer.assignment())

    def resume(self, consumer: Any) -> None:
        consumer.resume(consumer.assignment())

    def commit_done(self, consumer: Any) -> None:
        with self.lock:
            done, self.done = self.done, {}
        if done and not self.killed:
            try:
                consumer.commit(
                    offsets=[Place(self.topic, *row) for row in done.items()], asynchronous=False
                )
            except KafkaException as failure:
                self.refused(failure)

    def close(self, consumer: Any) -> None:
        if self.ending.is_set():
            self.worker.join()
            self.commit_done(consumer)
        consumer.close()


class NeverResumes(PausesForItsWorker):
    """Pauses for its worker, and resumes only the partition of the batch's first record."""

    def turn(self, consumer: Any) -> None:
        batch = [message for message in consumer.consume(20, 0.02) if not message.error()]
        if batch:
            self.busy = True
            self.pause(consumer)
            self.work_queue.put((self.given_times, batch))
            self.first = batch[0].partition()
        elif not self.busy and hasattr(self, "first"):
            consumer.resume([Place(self.topic, self.first)])
        self.commit_done(consumer)


class CommitsPositions(PausesForItsWorker):
    """Commits its positions when partitions are taken away: what waits for the worker is among
    them."""

    def taken_away(self, consumer: Any, partitions: Any) -> None:
        self.forget()
        with suppress(KafkaException):
            consumer.commit(
                offsets=[place for place in consumer.position(partitions) if place.offset >= 0],
                asynchronous=False,
            )


class CommitsWithCallbacks(CommitsEach):
    """Right: asynchronous commits with a callback; those of the partitions that go are waited
    for."""

    def config(self) -> dict[str, Any]:
        return {**super().config(), "on_commit": self.committed}

    def committed(self, error: Any, places: Any) -> None:
        if error is not None and not self.killed:
            self.failed(error)

    def subscribe(self, consumer: Any) -> None:
        self.behind: dict[int, int] = {}
        consumer.subscribe(
            [self.topic], on_revoke=self.flush, on_lost=lambda *_: self.behind.clear()
        )

    def commit_now(self, consumer: Any, message: Any) -> None:
        self.behind[message.partition()] = message.offset() + 1
        if len(self.behind) > 2:
            consumer.commit(offsets=self.places(), asynchronous=True)

    def places(self) -> list[Any]:
        return [Place(self.topic, *row) for row in self.behind.items()]

    def turn(self, consumer: Any) -> None:
        super().turn(consumer)
        if self.behind and not self.killed:
            consumer.commit(offsets=self.places(), asynchronous=True)
            self.behind.clear()

    def flush(self, consumer: Any, partitions: Any) -> None:
        if self.behind and not self.killed:
            with suppress(KafkaException):
                consumer.commit(offsets=self.places(), asynchronous=False)
        self.behind.clear()

    def close(self, consumer: Any) -> None:
        self.flush(consumer, ())
        consumer.close()


class CallbacksInNewProtocol(CommitsWithCallbacks):
    """Right: the same in a group of the consumer protocol."""

    settings = NewProtocol.settings


class BufferInNewProtocol(CommitsEach):
    """In a group of the consumer protocol; goes on with what waits whoever owns the partition."""

    settings = NewProtocol.settings

    def subscribe(self, consumer: Any) -> None:
        self.waiting: list[Any] = []
        super().subscribe(consumer)

    def turn(self, consumer: Any) -> None:
        self.waiting += [message for message in consumer.consume(200, 0.01) if not message.error()]
        for message in self.waiting[:2]:
            time.sleep(0.04)
            self.handle(consumer, message)
        del self.waiting[:2]


class AnswersTheLastAgain(Answers):
    """The offset in its transaction is that of the last record: it is answered again after the next
    start."""

    def send(self, consumer: Any, offsets: dict[int, int]) -> None:
        super().send(consumer, {place: offset - 1 for place, offset in offsets.items()})


class AnswersBeforeItsTransaction(Answers):
    """Sends its offsets, and answers in a second transaction."""

    def turn(self, consumer: Any) -> None:
        messages = [message for message in consumer.consume(50, 0.05) if not message.error()]
        if not messages:
            return
        try:
            self.producer.begin_transaction()
            self.send(consumer, {message.partition(): message.offset() + 1 for message in messages})
            self.producer.commit_transaction(30)
            if self.ending.is_set():
                return
            self.producer.begin_transaction()
            for message in messages[1:]:
                headers = {
                    "topic": message.topic(),
                    "partition": str(message.partition()),
                    "offset": str(message.offset()),
                }
                self.producer.produce(self.output_topic, b"done", headers=headers, partition=0)
            self.producer.commit_transaction(30)
        except KafkaException as failure:
            if not failure.args[0].txn_requires_abort():
                raise
            self.producer.abort_transaction(30)


RIGHT: tuple[type[Small], ...] = (
    PausesForItsWorker,
    CommitsWithCallbacks,
    CallbacksInNewProtocol,
)
