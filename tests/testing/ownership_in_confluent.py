"""Small applications of strangers with confluent-kafka: who has what, and when. `RIGHT` have no
mistake."""

from __future__ import annotations

import time
import uuid
from threading import Thread
from typing import Any

from confluent_kafka import TopicPartition as Place

from tests.testing.small_applications import CommitsEach, NewProtocol, Small


class TwoConsumers(CommitsEach):
    """Right: two consumers of its group, each with a thread of its own."""

    def live(self) -> None:
        def guarded() -> None:
            try:
                super(TwoConsumers, self).live()
            except Exception as error:
                self.error = error

        threads = [Thread(target=guarded, daemon=True) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


class ByHand(CommitsEach):
    """Right: rebalances cooperatively, and takes and gives its partitions by hand."""

    settings = {"partition.assignment.strategy": "cooperative-sticky"}  # noqa: RUF012

    def subscribe(self, consumer: Any) -> None:
        def given(consumer: Any, partitions: Any) -> None:
            consumer.incremental_assign(partitions)

        def gone(consumer: Any, partitions: Any) -> None:
            consumer.incremental_unassign(partitions)

        consumer.subscribe([self.topic], on_assign=given, on_revoke=gone, on_lost=gone)


class ByTheClock(CommitsEach):
    """Right: commits what is done every 300 ms, when partitions go, and at its end."""

    def subscribe(self, consumer: Any) -> None:
        self.done: dict[int, int] = {}
        self.due = time.monotonic()
        consumer.subscribe(
            [self.topic],
            on_revoke=lambda consumer, _: self.flush(consumer),
            on_lost=lambda *_: self.done.clear(),
        )

    def commit(self, consumer: Any, message: Any) -> None:
        self.done[message.partition()] = message.offset() + 1

    def turn(self, consumer: Any) -> None:
        super().turn(consumer)
        if time.monotonic() > self.due:
            self.due += 0.3
            self.flush(consumer)

    def flush(self, consumer: Any) -> None:
        self.places, self.done = [Place(self.topic, *row) for row in self.done.items()], {}
        if self.places:
            super().commit(consumer, None)

    def commit_now(self, consumer: Any, message: Any) -> None:
        consumer.commit(offsets=self.places, asynchronous=False)

    def close(self, consumer: Any) -> None:
        try:
            self.flush(consumer)
        finally:
            consumer.close()


class Unsubscribes(CommitsEach):
    """Right: stands back from its topic after each hundred records, and subscribes again."""

    def subscribe(self, consumer: Any) -> None:
        self.left = 100
        super().subscribe(consumer)

    def handle(self, consumer: Any, message: Any) -> None:
        super().handle(consumer, message)
        self.left -= 1
        if not self.left:
            consumer.unsubscribe()
            consumer.poll(0.05)
            self.subscribe(consumer)


class UnsubscribesInNewProtocol(Unsubscribes):
    """Right: the same in a group of the consumer protocol (KIP-848)."""

    settings = NewProtocol.settings


RIGHT: tuple[type[Small], ...] = (
    TwoConsumers,
    ByHand,
    ByTheClock,
    Unsubscribes,
    UnsubscribesInNewProtocol,
)


class CommitsForItsNeighbour(CommitsEach):
    """Commits what it did for the partition beside."""

    def commit_now(self, consumer: Any, message: Any) -> None:
        consumer.commit(
            offsets=[Place(self.topic, (message.partition() + 1) % 6, message.offset() + 1)],
            asynchronous=False,
        )


class FlushesByTheClock(CommitsEach):
    """Collects records, and works through them when none has come for two seconds, whoever has
    their partitions by then."""

    def subscribe(self, consumer: Any) -> None:
        self.waiting: list[Any] = []
        self.due = 0.0
        super().subscribe(consumer)

    def handle(self, consumer: Any, message: Any) -> None:
        self.waiting.append(message)
        self.due = time.monotonic() + 2

    def turn(self, consumer: Any) -> None:
        super().turn(consumer)
        if time.monotonic() > self.due:
            for message in self.waiting:
                super().handle(consumer, message)
            self.waiting.clear()


class FlushesInNewProtocol(FlushesByTheClock):
    """The same in a group of the consumer protocol."""

    settings = NewProtocol.settings


class DrawsItsInstance(CommitsEach):
    """Each start is another static member."""

    def config(self) -> dict[str, Any]:
        return {**super().config(), "group.instance.id": f"billing-{uuid.uuid4().hex[:6]}"}


class PausesWhatItIsGiven(CommitsEach):
    """Pauses what it is given, to warm up, and resumes what it was given first."""

    given: Any = None

    def subscribe(self, consumer: Any) -> None:
        def given(consumer: Any, partitions: Any) -> None:
            consumer.assign(partitions)
            consumer.pause(partitions)
            if self.given is None:
                self.given = partitions
                consumer.resume(partitions)

        consumer.subscribe([self.topic], on_assign=given)


class TakesTooLong(CommitsEach):
    """A batch takes longer than it said, at most, that it would stay away from its poll."""

    settings = {"max.poll.interval.ms": 1000, "session.timeout.ms": 1000}  # noqa: RUF012

    def turn(self, consumer: Any) -> None:
        batch = [message for message in consumer.consume(100, 0.05) if not message.error()]
        for message in batch:
            time.sleep(0.03)
            if not self.ending.is_set():
                self.work(message.topic(), message.partition(), message.offset())
        if batch:
            self.commit(consumer, batch[-1])


class KeepsTheLast(CommitsEach):
    """Works on a record when the next one of its partition comes."""

    def subscribe(self, consumer: Any) -> None:
        self.last: dict[int, Any] = {}
        super().subscribe(consumer)

    def handle(self, consumer: Any, message: Any) -> None:
        before = self.last.get(message.partition())
        self.last[message.partition()] = message
        if before is not None:
            super().handle(consumer, before)
