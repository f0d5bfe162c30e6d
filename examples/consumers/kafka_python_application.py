"""The application with kafka-python 3. Its rebalance listener runs on the client's own thread: the
lock of the application is for that."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafka import AsyncConsumerRebalanceListener, KafkaConsumer, OffsetAndMetadata
from kafka import TopicPartition as Partition
from kafka.errors import CommitFailedError, KafkaError, RebalanceInProgressError

from examples.consumers.application import ConsumerApplication, TopicPartition

OVERTAKEN = (CommitFailedError, RebalanceInProgressError)
"""Errors of a commit that a rebalance overtook."""


class KafkaPythonApplication(ConsumerApplication):
    """Consumes with a `KafkaConsumer`."""

    poll_ms = 50

    def consume(self, bootstrap_servers: str) -> None:
        consumer = KafkaConsumer(
            bootstrap_servers=bootstrap_servers,
            group_id=self.group,
            client_id=self.client_id,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            **{"heartbeat_interval_ms": 100, **self.settings},
        )
        try:
            consumer.subscribe([self.topic], listener=_Listener(self, consumer))
            consumer.partitions_for_topic(
                self.topic
            )  # 3.0.12 may hang if it learns of the topic while it joins
            while not self.ending.is_set():
                try:
                    self._turn(consumer)
                except KafkaError as error:
                    self.refused(error, passing=error.retriable)
        finally:
            consumer.close(autocommit=False, timeout_ms=2000)

    def _turn(self, consumer: Any) -> None:
        polled = consumer.poll(timeout_ms=self.poll_ms)
        if (
            consumer._coordinator.rejoining
        ):  # 3.0.12 forgets a join that is under way when a poll ends, unless it is asked for again
            consumer._coordinator.request_rejoin()
        for partition, records in polled.items():
            self.take(
                (partition.topic, partition.partition),
                [(record.offset, record.value) for record in records],
            )
        for place, offset in self.process():
            consumer.seek(Partition(*place), offset)
        held = {Partition(*place) for place in self.waiting} & consumer.assignment()
        consumer.resume(*(consumer.paused() - held))
        consumer.pause(*held)
        self.commit(consumer, self.to_commit())

    def commit(self, consumer: Any, offsets: dict[TopicPartition, int]) -> None:
        """Commit now. A rebalance that came first is no error: whoever has the partition next reads
        the records again."""
        if offsets:
            try:
                consumer.commit(_plain(offsets))
            # a partition that it keeps through a rebalance is read on from where it was: commit
            # again
            except KafkaError as error:
                self.refused(
                    error, offsets, passing=error.retriable or isinstance(error, OVERTAKEN)
                )


def _plain(offsets: dict[TopicPartition, int]) -> dict[Any, Any]:
    return {
        Partition(*place): OffsetAndMetadata(offset, "", -1) for place, offset in offsets.items()
    }


class _Listener(AsyncConsumerRebalanceListener):
    """What it awaits runs on the client's own thread, which a blocking call would hold up.

    kafka-python 3 reads on from where it was in partitions that it keeps through a rebalance, even
    an eager one: the position is set back to records that are dropped here, and offsets that could
    not be committed are due again.
    """

    def __init__(self, application: KafkaPythonApplication, consumer: Any) -> None:
        self._application = application
        self._consumer = consumer
        self._uncommitted: dict[TopicPartition, int] = {}

    async def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:
        application, places = self._application, [(tp.topic, tp.partition) for tp in revoked]
        offsets = application.revoked(places)
        self._uncommitted = {}
        if offsets:
            try:
                await self._consumer.commit_async(_plain(offsets))
            except KafkaError as error:
                application.refused(error, passing=True)
                self._uncommitted = offsets
        for place, offset in application.first_waiting(places).items():
            self._consumer.seek(Partition(*place), offset)
        application.lost(places)

    async def on_partitions_lost(self, lost: Iterable[Any]) -> None:
        self._uncommitted = {}
        self._application.lost([(tp.topic, tp.partition) for tp in lost])

    async def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
        kept = {(tp.topic, tp.partition) for tp in assigned}
        self._application.refused_before(
            {place: offset for place, offset in self._uncommitted.items() if place in kept}
        )
        self._uncommitted = {}
