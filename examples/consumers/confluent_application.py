"""The application with confluent-kafka (librdkafka)."""

from __future__ import annotations

from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException
from confluent_kafka import TopicPartition as Partition

from examples.consumers.application import ConsumerApplication, TopicPartition

OVERTAKEN = frozenset(
    {
        KafkaError.ILLEGAL_GENERATION,
        KafkaError.UNKNOWN_MEMBER_ID,
        KafkaError.STALE_MEMBER_EPOCH,
        KafkaError._NO_OFFSET,
        KafkaError._STATE,
        KafkaError._ASSIGNMENT_LOST,
    }
)
"""Errors of a commit that a rebalance overtook."""


KEPT = (KafkaError.REBALANCE_IN_PROGRESS, KafkaError.STALE_MEMBER_EPOCH)
"""Those after which the partitions may be the member's still: the commit is due again."""


class ConfluentApplication(ConsumerApplication):
    """Consumes with a `Consumer` of confluent-kafka."""

    def consume(self, bootstrap_servers: str) -> None:
        pulse = (
            {}
            if self.settings.get("group.protocol") == "consumer"
            else {"heartbeat.interval.ms": 100}
        )  # else the coordinator's word
        consumer = Consumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "group.id": self.group,
                "client.id": self.client_id,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "fetch.wait.max.ms": 100,
                **pulse,
                **self.settings,
            }
        )
        try:
            consumer.subscribe([self.topic], on_revoke=self._on_revoke, on_lost=self._on_lost)
            while not self.ending.is_set():
                self._turn(consumer)
        finally:
            consumer.close()

    def _turn(self, consumer: Any) -> None:
        for message in consumer.consume(100, timeout=0 if self.waiting else 0.05):
            error = message.error()
            if error is not None:
                self.refused(KafkaException(error), passing=not _is_final(error))
            else:
                self.take(
                    (message.topic(), message.partition()), [(message.offset(), message.value())]
                )
        for place, offset in self.process():
            consumer.seek(Partition(*place, offset))
        assignment = consumer.assignment()
        held = [tp for tp in assignment if (tp.topic, tp.partition) in self.waiting]
        consumer.resume([tp for tp in assignment if tp not in held])
        consumer.pause(held)
        self.commit(consumer, self.to_commit())

    def commit(self, consumer: Any, offsets: dict[TopicPartition, int]) -> None:
        """Commit now. A rebalance that came first is no error: whoever has the partition next reads
        the records again."""
        if not offsets:
            return
        try:
            told = consumer.commit(
                offsets=[Partition(*place, offset) for place, offset in offsets.items()],
                asynchronous=False,
            )
            for row in told or ():
                if row.error is not None:
                    raise KafkaException(row.error)
        except KafkaException as failure:
            error = failure.args[0]
            may_succeed = error.retriable() or error.code() in KEPT
            self.refused(
                failure,
                offsets if may_succeed else None,
                passing=may_succeed or error.code() in OVERTAKEN,
            )

    def _on_revoke(self, consumer: Any, partitions: Any) -> None:
        places = [(tp.topic, tp.partition) for tp in partitions]
        self.commit(consumer, self.revoked(places))
        self.lost(places)

    def _on_lost(self, consumer: Any, partitions: Any) -> None:
        self.lost([(tp.topic, tp.partition) for tp in partitions])


def _is_final(error: Any) -> bool:
    """Whether librdkafka will not get over it by itself."""
    return bool(error.fatal()) or error.code() in (
        # of a group of the consumer protocol: fatal() says False of this message's error
        KafkaError._FATAL,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.FENCED_INSTANCE_ID,
        KafkaError.INCONSISTENT_GROUP_PROTOCOL,
    )
