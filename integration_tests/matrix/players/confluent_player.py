"""The player of confluent-kafka (librdkafka), in groups of all three protocols."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import confluent_kafka
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from integration_tests.matrix.players.stage import Member, Read, Wanted, next_offsets, play


def _read(messages: Iterable[Any]) -> Iterable[Read]:
    for message in messages:
        if message.error() is not None:
            raise KafkaException(message.error())
        yield Read(message.partition(), message.offset(), message.value().decode())


class Player:
    """A Consumer."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        settings = {
            "bootstrap.servers": wanted.address,
            "group.id": wanted.group,
            "client.id": "player",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 100,
        }
        if wanted.protocol == "consumer":
            settings["group.protocol"] = "consumer"
        else:
            settings |= {"heartbeat.interval.ms": 200, "session.timeout.ms": 300_000}
            settings["max.poll.interval.ms"] = 300_000
        if wanted.instance:
            settings["group.instance.id"] = wanted.instance
        self.consumer = Consumer(settings)
        self.consumer.subscribe([wanted.topic])
        self.producer: Any = None

    def poll(self) -> Iterable[Read]:
        return _read(self.consumer.consume(100, timeout=0.1))

    def commit(self) -> None:
        self.consumer.commit(asynchronous=False)

    def release(self) -> None:
        raise NotImplementedError

    def transact(self, out: str, read: list[Read], *, commits: bool) -> None:
        if self.producer is None:
            self.producer = Producer(
                {
                    "bootstrap.servers": self.wanted.address,
                    "transactional.id": self.wanted.group,
                }
            )
            self.producer.init_transactions()
        self.producer.begin_transaction()
        for record in read:
            self.producer.produce(out, record.value.encode(), partition=0)
        self.producer.flush()  # else an abort has nothing to abort
        self.producer.send_offsets_to_transaction(
            [
                TopicPartition(self.wanted.topic, partition, offset)
                for partition, offset in next_offsets(read).items()
            ],
            self.consumer.consumer_group_metadata(),
        )
        if commits:
            self.producer.commit_transaction()
        else:
            self.producer.abort_transaction()

    def close(self) -> None:
        self.consumer.close()


class Worker:
    """A ShareConsumer that acknowledges each record by itself."""

    def __init__(self, wanted: Wanted) -> None:
        self.consumer = confluent_kafka.ShareConsumer(
            {
                "bootstrap.servers": wanted.address,
                "group.id": wanted.group,
                "client.id": "player",
                "share.acknowledgement.mode": "explicit",
            }
        )
        self.consumer.subscribe([wanted.topic])
        self.held: list[Any] = []

    def poll(self) -> Iterable[Read]:
        if self.held:
            return []
        self.held = list(self.consumer.poll(0.1) or ())
        return _read(self.held)

    def _acknowledge(self, kind: Any) -> None:
        for message in self.held:
            self.consumer.acknowledge(message, kind)
        self.held = []
        self.consumer.commit_sync()

    def commit(self) -> None:
        self._acknowledge(confluent_kafka.AcknowledgeType.ACCEPT)

    def release(self) -> None:
        self._acknowledge(confluent_kafka.AcknowledgeType.RELEASE)

    def transact(self, out: str, read: list[Read], *, commits: bool) -> None:
        raise NotImplementedError

    def close(self) -> None:
        self.consumer.close()


def member(wanted: Wanted) -> Member:
    """The member that a protocol asks for."""
    return Worker(wanted) if wanted.protocol == "share" else Player(wanted)


if __name__ == "__main__":
    play(member)
