"""Small applications that work in transactions; `small_applications` has the others."""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import Any

from confluent_kafka import KafkaException, Producer
from confluent_kafka import TopicPartition as Place

from tests.testing.small_applications import CommitsEach, NewProtocol


class Answers(CommitsEach):
    """Right: reads, answers and commits in transactions."""

    output_topic, transactional_id = "invoices", "billing-1"
    processed = None  # type: ignore[assignment]  # its output topic tells
    settings = {"isolation.level": "read_committed"}  # noqa: RUF012

    def id_of_producer(self) -> str:
        return self.transactional_id

    def subscribe(self, consumer: Any) -> None:
        self.producer = Producer(
            {"bootstrap.servers": self.bootstrap_servers, "transactional.id": self.id_of_producer()}
        )
        self.producer.init_transactions(30)
        super().subscribe(consumer)

    def take(self, consumer: Any) -> list[Any]:
        return [message for message in consumer.consume(50, 0.05) if not message.error()]

    def turn(self, consumer: Any) -> None:
        messages = self.take(consumer)
        if not messages:
            return
        try:
            self.producer.begin_transaction()
            for message in messages:
                headers = {
                    "topic": message.topic(),
                    "partition": str(message.partition()),
                    "offset": str(message.offset()),
                }
                self.producer.produce(self.output_topic, b"done", headers=headers, partition=0)
            self.send(consumer, {message.partition(): message.offset() + 1 for message in messages})
            self.producer.commit_transaction(30)
        except KafkaException as failure:
            if not failure.args[0].txn_requires_abort():
                raise
            self.producer.abort_transaction(30)
            self.go_back(consumer)

    def send(self, consumer: Any, offsets: dict[int, int]) -> None:
        places = [Place(self.topic, *row) for row in offsets.items()]
        self.producer.send_offsets_to_transaction(places, consumer.consumer_group_metadata(), 30)

    def go_back(self, consumer: Any) -> None:
        for place in consumer.committed(consumer.assignment(), 10):
            place.offset = max(place.offset, 0)
            with suppress(KafkaException):
                consumer.seek(place)


class AnswersWithoutOffsets(Answers):
    """Commits its offsets beside the transaction."""

    def send(self, consumer: Any, offsets: dict[int, int]) -> None:
        with suppress(KafkaException):
            consumer.commit(
                offsets=[Place(self.topic, *row) for row in offsets.items()], asynchronous=False
            )


class DrawsItsTransactionalId(Answers):
    """Each start is another producer, which fences nobody."""

    def id_of_producer(self) -> str:
        return f"billing-{uuid.uuid4()}"


class AnswersWhatWasAborted(Answers):
    """Reads uncommitted records."""

    settings = {"isolation.level": "read_uncommitted"}  # noqa: RUF012


class GoesOnBehindAnAbort(Answers):
    """Aborts, and does not go back."""

    def go_back(self, consumer: Any) -> None:
        pass


class Buffers(Answers):
    """Right: takes records into a buffer and answers a few of them in each transaction; what it
    loses, it drops."""

    settings = {**Answers.settings, "heartbeat.interval.ms": 100}  # noqa: RUF012

    def subscribe(self, consumer: Any) -> None:
        self.waiting: list[Any] = []
        super().subscribe(consumer)
        consumer.subscribe([self.topic], on_revoke=lambda _, places: self.lost(places))

    def lost(self, places: Any) -> None:
        gone = {place.partition for place in places}
        self.waiting = [message for message in self.waiting if message.partition() not in gone]

    def take(self, consumer: Any) -> list[Any]:
        came = super().take(consumer)  # which may call `lost`
        self.waiting += came
        taken = self.waiting[:3]
        del self.waiting[:3]
        return taken

    def go_back(self, consumer: Any) -> None:
        self.waiting.clear()
        super().go_back(consumer)


class BuffersInNewProtocol(Buffers):
    """Right: the same in a group of the consumer protocol (KIP-848)."""

    settings = {**Answers.settings, **NewProtocol.settings}  # noqa: RUF012


class KeepsItsBuffer(Buffers):
    """Answers what it has taken, whoever owns the partition."""

    def lost(self, places: Any) -> None:
        pass


class KeepsItsBufferInNewProtocol(KeepsItsBuffer):
    """The same in a group of the consumer protocol."""

    settings = BuffersInNewProtocol.settings
