"""Applications that leave something behind: a worker that lives on, an old position, an error.

Like those of `small_applications`: as people write them, each with one mistake.
"""

from __future__ import annotations

import queue
import time
from threading import Event, Thread
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka import TopicPartition as Place

from tests.testing.small_applications import CommitsEach


class LeavesItsWorker(CommitsEach):
    """A worker thread takes records from a queue; its stop closes the consumer, and forgets the
    worker, which has a record in hand then and is done with it before the consumer is closed."""

    def live(self) -> None:
        self.waiting: queue.Queue[Any] = queue.Queue()
        self.done: dict[tuple[str, int], int] = {}
        self.closing, self.worked = Event(), Event()
        of_this_start = (self.waiting, self.done, self.closing, self.worked)
        Thread(target=self.work_off, args=of_this_start, daemon=True).start()
        super().live()

    def work_off(
        self,
        waiting: queue.Queue[Any],
        done: dict[tuple[str, int], int],
        closing: Event,
        worked: Event,
    ) -> None:
        while True:
            message = waiting.get()
            while not (waiting.qsize() or closing.is_set()):
                time.sleep(0.001)
            last = closing.is_set()
            self.work(message.topic(), message.partition(), message.offset())
            done[message.topic(), message.partition()] = message.offset() + 1
            if last:
                worked.set()

    def handle(self, consumer: Any, message: Any) -> None:
        self.waiting.put(message)

    def turn(self, consumer: Any) -> None:
        super().turn(consumer)
        self.commit(consumer, None)

    def commit_now(self, consumer: Any, message: Any) -> None:
        mine = {(place.topic, place.partition) for place in consumer.assignment()}
        places = [Place(*place, offset) for place, offset in self.done.items() if place in mine]
        if places:
            consumer.commit(offsets=places, asynchronous=False)

    def close(self, consumer: Any) -> None:
        self.commit(consumer, None)
        self.closing.set()
        self.worked.wait(60.0)
        consumer.close()


class CommitsWhereItBegan(CommitsEach):
    """It keeps the offset at which it began with each partition, and commits that when it has to
    give the partition up."""

    def subscribe(self, consumer: Any) -> None:
        self.began: dict[tuple[str, int], int] = {}
        consumer.subscribe([self.topic], on_revoke=self.give_up)

    def handle(self, consumer: Any, message: Any) -> None:
        self.began.setdefault((message.topic(), message.partition()), message.offset())
        super().handle(consumer, message)

    def give_up(self, consumer: Any, places: list[Place]) -> None:
        old = [
            Place(place.topic, place.partition, self.began[place.topic, place.partition])
            for place in places
            if (place.topic, place.partition) in self.began
        ]
        if old and not self.killed:
            try:
                consumer.commit(offsets=old, asynchronous=False)
            except KafkaException as failure:
                self.refused(failure)


class EndsByItsOwnError(CommitsEach):
    """It counts what it reads in a table that has too few rows."""

    rows_of_partitions = 3

    def handle(self, consumer: Any, message: Any) -> None:
        list(range(self.rows_of_partitions))[message.partition()]
        super().handle(consumer, message)


class GivesUpInSilence(CommitsEach):
    """The first refused commit ends its loop; nobody hears of it. `given_up`: it has left its
    group."""

    def __init__(self) -> None:
        super().__init__()
        self.given_up = Event()

    def close(self, consumer: Any) -> None:
        super().close(consumer)
        self.given_up.set()

    def refused(self, failure: KafkaException) -> None:
        self.ending.set()
