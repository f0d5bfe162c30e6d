"""Small consumer applications as people write them, each in one go and with one mistake; `RIGHT`
have none.

They share nothing with `examples.consumers`: the ready tests are to judge applications of
strangers. Each has `start`, `stop`, `kill` and `processed`, and nothing else that a case could use.
"""

from __future__ import annotations

import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event, Thread
from typing import Any

import kafka
from confluent_kafka import Consumer, KafkaError, KafkaException
from confluent_kafka import TopicPartition as Place
from kafka.errors import CommitFailedError, RebalanceInProgressError


class Small:
    """A thread that consumes. `settings`: of its client library."""

    topic, group = "orders", "billing"
    settings: dict[str, Any] = {}  # noqa: RUF012 - replaced, not changed

    def __init__(self) -> None:
        self.rows: list[tuple[str, int, int]] = []
        self.error: Exception | None = None

    def start(self, bootstrap_servers: str) -> None:
        self.bootstrap_servers, self.ending, self.killed = bootstrap_servers, Event(), False
        self.thread = Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            self.live()
        except Exception as error:
            self.error = error

    def stop(self) -> None:
        self.ending.set()
        self.thread.join()

    def kill(self) -> None:
        self.killed = True
        self.stop()

    def processed(self) -> list[tuple[str, int, int]]:
        return list(self.rows)

    def work(self, topic: str, partition: int, offset: int) -> None:
        if not self.killed:
            self.rows.append((topic, partition, offset))

    def live(self) -> None:
        raise NotImplementedError


class CommitsEach(Small):
    """Right: confluent-kafka, a commit for each record."""

    def config(self) -> dict[str, Any]:
        return {
            "bootstrap.servers": self.bootstrap_servers,
            "group.id": self.group,
            "client.id": "billing",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 50,
            **self.settings,
        }

    def live(self) -> None:
        consumer = Consumer(self.config())
        try:
            self.subscribe(consumer)
            while not self.ending.is_set():
                self.turn(consumer)
        finally:
            self.close(consumer)

    def subscribe(self, consumer: Any) -> None:
        consumer.subscribe([self.topic])

    def close(self, consumer: Any) -> None:
        consumer.close()

    def turn(self, consumer: Any) -> None:
        message = consumer.poll(0.05)
        if message is None:
            return
        if message.error():
            self.failed(message.error())
        else:
            self.handle(consumer, message)

    def failed(self, error: Any) -> None:
        if error.fatal() or error.code() in (
            KafkaError.GROUP_AUTHORIZATION_FAILED,
            KafkaError._FATAL,
        ):
            raise KafkaException(error)

    def handle(self, consumer: Any, message: Any) -> None:
        self.work(message.topic(), message.partition(), message.offset())
        self.commit(consumer, message)

    def commit(self, consumer: Any, message: Any) -> None:
        if not self.killed:
            try:
                self.commit_now(consumer, message)
            except KafkaException as failure:
                self.refused(failure)

    def commit_now(self, consumer: Any, message: Any) -> None:
        consumer.commit(message, asynchronous=False)

    def refused(self, failure: KafkaException) -> None:
        if failure.args[0].code() == KafkaError.GROUP_AUTHORIZATION_FAILED:
            raise failure


class StoresOffsets(CommitsEach):
    """Right: the library commits what was processed."""

    settings = {  # noqa: RUF012
        "enable.auto.commit": True,
        "auto.commit.interval.ms": 100,
        "enable.auto.offset.store": False,
    }

    def commit_now(self, consumer: Any, message: Any) -> None:
        consumer.store_offsets(message)


class CommitsWithoutWaiting(CommitsEach):
    """Right: does not wait for its commits' answers."""

    def commit_now(self, consumer: Any, message: Any) -> None:
        consumer.commit(message, asynchronous=True)


class Cooperative(CommitsEach):
    """Right: rebalances cooperatively."""

    settings = {"partition.assignment.strategy": "cooperative-sticky"}  # noqa: RUF012


class Static(CommitsEach):
    """Right: a static member."""

    settings = {"group.instance.id": "billing-1"}  # noqa: RUF012


class NewProtocol(CommitsEach):
    """Right: a member of a group of the consumer protocol (KIP-848)."""

    settings = {"group.protocol": "consumer"}  # noqa: RUF012


class KafkaPython(Small):
    """Right: kafka-python, a commit for each record. `poll_ms`: how long a poll waits."""

    poll_ms = 50

    def live(self) -> None:
        consumer = kafka.KafkaConsumer(
            group_id=self.group,
            client_id="billing",
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            heartbeat_interval_ms=100,
            **{**self.settings, "bootstrap_servers": self.bootstrap_servers},
        )
        try:
            self.subscribe(consumer)
            consumer.partitions_for_topic(self.topic)
            while not self.ending.is_set():
                self.turn(consumer)
        finally:
            consumer.close(autocommit=False)

    def turn(self, consumer: Any) -> None:
        for records in consumer.poll(timeout_ms=self.poll_ms).values():
            for record in records:
                if not self.ending.is_set():
                    self.handle(consumer, record)

    def subscribe(self, consumer: Any) -> None:
        consumer.subscribe([self.topic])

    def handle(self, consumer: Any, record: Any) -> None:
        self.work(record.topic, record.partition, record.offset)
        if not self.killed:
            place = kafka.TopicPartition(record.topic, record.partition)
            with suppress(CommitFailedError, RebalanceInProgressError):
                consumer.commit({place: kafka.OffsetAndMetadata(record.offset + 1, "", -1)})


class CommitsEveryTurn(Small):
    """Right: kafka-python, a commit after each poll, also of nothing new: while a heartbeat waits on
    the same connection, it stands still."""

    def __init__(self, settings: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.settings = settings or {"heartbeat_interval_ms": 100}

    def live(self) -> None:
        consumer = kafka.KafkaConsumer(
            self.topic,
            bootstrap_servers=self.bootstrap_servers,
            group_id=self.group,
            client_id="billing",
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            **self.settings,
        )
        try:
            consumer.partitions_for_topic(self.topic)
            while not self.ending.is_set():
                for records in consumer.poll(timeout_ms=50).values():
                    for record in records:
                        self.work(record.topic, record.partition, record.offset)
                self.commit(consumer)
        finally:
            consumer.close(autocommit=False)

    def commit(self, consumer: Any) -> None:
        if not self.killed:
            with suppress(CommitFailedError, RebalanceInProgressError):
                consumer.commit()


RIGHT: tuple[type[Small], ...] = (
    CommitsEach,
    StoresOffsets,
    CommitsWithoutWaiting,
    Cooperative,
    Static,
    NewProtocol,
    KafkaPython,
    CommitsEveryTurn,
)


class ForgetsRefusedCommits(KafkaPython):
    """Takes a refused commit for done: kafka-python reads on from where it was."""


class ForgetsRefusedCooperatively(Cooperative):
    """The same: what a member keeps through a rebalance is not read again."""


class CommitsFirst(CommitsEach):
    """Commits before it processes."""

    def handle(self, consumer: Any, message: Any) -> None:
        self.commit(consumer, message)
        self.work(message.topic(), message.partition(), message.offset())


class CommitsFirstInNewProtocol(CommitsFirst):
    """The same in a group of the consumer protocol."""

    settings = NewProtocol.settings


class WorksOnThreads(CommitsEach):
    """The library commits what was polled; threads process it later."""

    settings = {"enable.auto.commit": True, "auto.commit.interval.ms": 50}  # noqa: RUF012

    def subscribe(self, consumer: Any) -> None:
        self.pool = ThreadPoolExecutor(2)
        super().subscribe(consumer)

    def handle(self, consumer: Any, message: Any) -> None:
        self.pool.submit(self.slowly, message.topic(), message.partition(), message.offset())

    def slowly(self, *row: Any) -> None:
        time.sleep(0.02)
        self.work(*row)

    def stop(self) -> None:
        super().stop()
        self.pool.shutdown()


class CommitsTheHighest(WorksOnThreads):
    """Threads process a partition's records in any order, and the highest offset that is done is
    committed."""

    settings = {}  # noqa: RUF012

    def subscribe(self, consumer: Any) -> None:
        super().subscribe(consumer)
        self.highest: dict[int, int] = {}

    def slowly(self, topic: str, partition: int, offset: int) -> None:
        time.sleep(0.03 if offset % 2 else 0.001)
        self.work(topic, partition, offset)
        self.highest[partition] = max(self.highest.get(partition, 0), offset + 1)

    def turn(self, consumer: Any) -> None:
        super().turn(consumer)
        if self.highest and not self.killed:
            with suppress(KafkaException):
                consumer.commit(
                    offsets=[Place(self.topic, *row) for row in list(self.highest.items())],
                    asynchronous=False,
                )


class CommitsTheOffset(CommitsEach):
    """Commits the offset of the record, not the one behind it."""

    beyond = 0

    def commit_now(self, consumer: Any, message: Any) -> None:
        offset = message.offset() + self.beyond
        consumer.commit(
            offsets=[Place(message.topic(), message.partition(), offset)], asynchronous=False
        )


class CommitsOneTooMany(CommitsTheOffset):
    """Commits two behind the record."""

    beyond = 2


class NeverCommits(CommitsEach):
    """Does not commit."""

    def commit(self, consumer: Any, message: Any) -> None:
        pass


class AssignsItself(CommitsEach):
    """Takes its partitions without joining its group."""

    def subscribe(self, consumer: Any) -> None:
        consumer.assign([Place(self.topic, index) for index in range(6)])


class DrawsItsGroup(CommitsEach):
    """Each start is another group."""

    def config(self) -> dict[str, Any]:
        return {**super().config(), "group.id": f"billing-{uuid.uuid4()}"}


class BeginsAnew(CommitsEach):
    """Seeks to the beginning of whatever it is given."""

    def subscribe(self, consumer: Any) -> None:
        def given(consumer: Any, partitions: Any) -> None:
            for place in partitions:
                place.offset = 0
            consumer.assign(partitions)

        consumer.subscribe([self.topic], on_assign=given)


class CommitsWhatItIsGiven(CommitsEach):
    """Commits the ends of its partitions when it gets them."""

    def subscribe(self, consumer: Any) -> None:
        def given(consumer: Any, partitions: Any) -> None:
            consumer.assign(partitions)
            ends = [
                Place(one.topic, one.partition, consumer.get_watermark_offsets(one, 5)[1])
                for one in partitions
            ]
            with suppress(KafkaException):
                consumer.commit(offsets=ends, asynchronous=False)

        consumer.subscribe([self.topic], on_assign=given)


class KeepsItsBuffer(CommitsEach):
    """Goes on with what waits whoever owns the partition."""

    def subscribe(self, consumer: Any) -> None:
        self.waiting: list[Any] = []
        super().subscribe(consumer)

    def turn(self, consumer: Any) -> None:
        self.waiting += [message for message in consumer.consume(200, 0.01) if not message.error()]
        for message in self.waiting[:2]:
            time.sleep(0.01)
            self.handle(consumer, message)
        del self.waiting[:2]


class NewConsumerForEachError(CommitsEach):
    """Closes its consumer for every error, and makes another one."""

    def live(self) -> None:
        while not self.ending.is_set():
            with suppress(KafkaException):
                super().live()

    def refused(self, failure: KafkaException) -> None:
        raise failure


class DoesNotClose(CommitsEach):
    """Ends without closing its consumer."""

    def close(self, consumer: Any) -> None:
        self.kept = consumer


class SharesItsInstance(CommitsEach):
    """Two consumers with one group.instance.id; each comes back when it was fenced."""

    settings = {"group.instance.id": "one"}  # noqa: RUF012

    def live(self) -> None:
        other = Thread(target=self.one_of_two, daemon=True)
        other.start()
        self.one_of_two()
        other.join()

    def one_of_two(self) -> None:
        while not self.ending.is_set():
            with suppress(KafkaException):
                super().live()


class SwallowsErrors(CommitsEach):
    """Goes on whatever goes wrong."""

    def refused(self, failure: KafkaException) -> None:
        pass

    def failed(self, error: Any) -> None:
        pass


class CommitsThePoll(KafkaPython):
    """kafka-python: `commit()` commits what was polled, before the batch is done."""

    def handle(self, consumer: Any, record: Any) -> None:
        if not self.killed:
            with suppress(CommitFailedError, RebalanceInProgressError):
                consumer.commit()
        self.work(record.topic, record.partition, record.offset)
