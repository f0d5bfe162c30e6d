"""The agent of kafka-python."""

from __future__ import annotations

from typing import Any

import kafka
from kafka import KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.consumer.subscription_state import AsyncConsumerRebalanceListener
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

from integration_tests.clients.agents.host import Listener, Partition, Positions, Record, main

ASSIGNORS = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
    "cooperative-sticky": CooperativeStickyAssignor,
}


class _Listener(AsyncConsumerRebalanceListener):  # type: ignore[misc]
    """The library forbids blocking calls inside a plain listener, and offers this one for them."""

    def __init__(self, listener: Listener, consumer: Any) -> None:
        self._listener = listener
        self._consumer = consumer

    async def on_partitions_assigned(self, assigned: Any) -> None:
        self._listener.assigned(assigned)

    async def on_partitions_revoked(self, revoked: Any) -> None:
        self._listener.revoked(revoked)
        if self._listener.commits:
            with self._listener.committing():
                await self._consumer.commit_async()

    async def on_partitions_lost(self, lost: Any) -> None:
        self._listener.lost(lost)


def _many(partitions: list[Partition]) -> list[Any]:
    return [TopicPartition(*tp) for tp in partitions]


def _known(offsets: dict[Any, Any]) -> Positions:
    return {Partition(tp.topic, tp.partition): offset for tp, offset in offsets.items()}


class Consumer:
    """A KafkaConsumer behind the host's calls.

    When a poll ends while the library joins anew of its own accord (another subscription, topics
    that matched or grew), the library takes the join for done, and the member is silent for ever.
    So each poll that leaves a join under way asks the library to await it in the next one.
    """

    def __init__(self, config: dict[str, Any], listener: Listener) -> None:
        settings = {name.replace(".", "_"): value for name, value in config.items()}
        settings["partition_assignment_strategy"] = [
            ASSIGNORS[settings["partition_assignment_strategy"]]
        ]
        settings.pop("allow_auto_create_topics", None)
        self._consumer = KafkaConsumer(**settings, metrics_enabled=False)
        self._listener = _Listener(listener, self._consumer)

    def subscribe(self, topics: list[str], pattern: str | None) -> None:
        self._consumer.subscribe(topics, pattern=pattern, listener=self._listener)
        # else it may join before it knows its topics, and join again at once: or not, as chance
        # will have it
        for topic in topics:
            self._consumer.partitions_for_topic(topic)
        if topics:
            self._forget_others()

    def _forget_others(self) -> None:
        """Have metadata of the group's topics alone.

        `partitions_for_topic` may fetch all topics of the broker, and with topics that nobody
        subscribes to in its metadata the library's sticky assignor takes members for differently
        subscribed and moves other partitions: what a story shows would depend on the stories beside
        it.
        """
        consumer = self._consumer
        while consumer._cluster.topics() - set(consumer._subscription.group_subscription()):
            consumer._net.run(consumer._manager.wait_for, consumer._cluster.request_update(), None)

    def assign(self, partitions: list[Partition]) -> None:
        self._consumer.assign(_many(partitions))

    def unsubscribe(self) -> None:
        self._consumer.unsubscribe()

    def poll(self, timeout_ms: int) -> list[Record]:
        polled = self._consumer.poll(timeout_ms=timeout_ms)
        if self._consumer._coordinator is not None and self._consumer._coordinator.rejoining:
            self._consumer._coordinator.request_rejoin()
        return [
            Record(r.topic, r.partition, r.offset, r.value.decode())
            for records in polled.values()
            for r in records
        ]

    def pause(self, partitions: list[Partition]) -> None:
        self._consumer.pause(*_many(partitions))

    def resume(self, partitions: list[Partition]) -> None:
        self._consumer.resume(*_many(partitions))

    def seek(self, partition: Partition, offset: int) -> None:
        self._consumer.seek(TopicPartition(*partition), offset)

    def seek_to_beginning(self, partitions: list[Partition]) -> None:
        self._consumer.seek_to_beginning(*_many(partitions))

    def seek_to_end(self, partitions: list[Partition]) -> None:
        self._consumer.seek_to_end(*_many(partitions))

    def commit(self, offsets: dict[Partition, int] | None) -> None:
        given = (
            None
            if offsets is None
            else {
                TopicPartition(*tp): OffsetAndMetadata(offset, "", -1)
                for tp, offset in offsets.items()
            }
        )
        self._consumer.commit(given)

    def committed(self, partitions: list[Partition]) -> Positions:
        return {tp: self._consumer.committed(TopicPartition(*tp)) for tp in partitions}

    def position(self, partitions: list[Partition]) -> Positions:
        return {tp: self._consumer.position(TopicPartition(*tp)) for tp in partitions}

    def beginning_offsets(self, partitions: list[Partition]) -> Positions:
        return _known(self._consumer.beginning_offsets(_many(partitions)))

    def end_offsets(self, partitions: list[Partition]) -> Positions:
        return _known(self._consumer.end_offsets(_many(partitions)))

    def offsets_for_times(self, times: dict[Partition, int]) -> Positions:
        found = self._consumer.offsets_for_times(
            {TopicPartition(*tp): at for tp, at in times.items()}
        )
        return _known({tp: None if entry is None else entry.offset for tp, entry in found.items()})

    def assignment(self) -> Any:
        return self._consumer.assignment()

    def paused(self) -> Any:
        return self._consumer.paused()

    def subscription(self) -> Any:
        return self._consumer.subscription() or ()

    def member_id(self) -> str | None:
        return str(self._consumer.group_metadata().member_id)

    def close(self) -> None:
        self._consumer.close()


class Library:
    """kafka-python."""

    poll_ms = 100  # in much shorter polls the library may spin without ever joining
    version = f"kafka-python {kafka.__version__}"

    def consumer(self, config: dict[str, Any], listener: Listener) -> Consumer:
        return Consumer(config, listener)

    def produce(self, bootstrap: str, records: list[tuple[str, int, str, int | None]]) -> list[int]:
        # Not kept: once a topic that it has written to is deleted, its thread asks for metadata
        # without a pause, for ever.
        producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all", metrics_enabled=False)
        try:
            sent = [
                producer.send(topic, value.encode(), partition=partition, timestamp_ms=at)
                for topic, partition, value, at in records
            ]
            producer.flush()
            return [future.get(timeout=30).offset for future in sent]
        finally:
            producer.close()


if __name__ == "__main__":
    main(Library())
