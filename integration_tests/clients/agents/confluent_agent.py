"""The agent of confluent-kafka, which is librdkafka behind Python."""

from __future__ import annotations

from typing import Any

import confluent_kafka
from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, KafkaException, Producer, TopicPartition
from confluent_kafka import Consumer as ConfluentConsumer

from integration_tests.clients.agents.host import Listener, Partition, Positions, Record, main

_PATIENCE_S = 30.0
_LACKING = ("max.poll.records",)
_ASSIGNORS = ("range", "roundrobin", "cooperative-sticky")


class Failed(Exception):
    """An error of librdkafka, with its name."""

    def __init__(self, error: Any) -> None:
        super().__init__(str(error))
        self.kafka_name = error.name()


class _Named:
    """Turns librdkafka's exceptions into `Failed`."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> None:
        if isinstance(error, KafkaException):
            raise Failed(error.args[0]) from error


_NAMED = _Named()


def _many(partitions: list[Partition]) -> list[Any]:
    return [TopicPartition(*tp) for tp in partitions]


def _settings(config: dict[str, Any]) -> dict[str, Any]:
    settings = {name: value for name, value in config.items() if name not in _LACKING}
    if (
        settings.get("group.protocol") != "consumer"
        and settings["partition.assignment.strategy"] not in _ASSIGNORS
    ):
        raise ValueError(f"librdkafka has no assignor {settings['partition.assignment.strategy']}")
    age = settings.get("metadata.max.age.ms", 300_000)
    reset = settings.get("auto.offset.reset")
    return settings | {
        "metadata.max.age.ms": age,
        "topic.metadata.refresh.interval.ms": age,
        "auto.offset.reset": "error" if reset == "none" else reset,
    }


class Consumer:
    """A confluent_kafka.Consumer behind the host's calls."""

    def __init__(self, config: dict[str, Any], listener: Listener) -> None:
        with _NAMED:
            self._consumer = ConfluentConsumer(_settings(config))
        self._listener = listener
        self._paused: set[Partition] = set()
        self._topics: list[str] = []

    def subscribe(self, topics: list[str], pattern: str | None) -> None:
        listener = self._listener
        self._topics = topics if pattern is None else [pattern]
        with _NAMED:
            self._consumer.subscribe(
                self._topics,
                on_assign=lambda _, given: listener.assigned(given),
                on_revoke=self._revoked,
                on_lost=lambda _, taken: listener.lost(taken),
            )

    def _revoked(self, _: Any, taken: Any) -> None:
        self._listener.revoked(taken)
        if self._listener.commits:
            with self._listener.committing():
                self.commit(None)

    def assign(self, partitions: list[Partition]) -> None:
        with _NAMED:
            self._consumer.assign(_many(partitions))

    def unsubscribe(self) -> None:
        with _NAMED:
            self._consumer.unsubscribe()

    def poll(self, timeout_ms: int) -> list[Record]:
        with _NAMED:
            messages = self._consumer.consume(500, timeout=timeout_ms / 1000)
        for message in messages:
            if message.error() is not None:
                raise Failed(message.error())
        return [Record(m.topic(), m.partition(), m.offset(), m.value().decode()) for m in messages]

    def pause(self, partitions: list[Partition]) -> None:
        with _NAMED:
            self._consumer.pause(_many(partitions))
        self._paused.update(partitions)

    def resume(self, partitions: list[Partition]) -> None:
        with _NAMED:
            self._consumer.resume(_many(partitions))
        self._paused.difference_update(partitions)

    def seek(self, partition: Partition, offset: int) -> None:
        with _NAMED:
            self._consumer.seek(TopicPartition(*partition, offset))

    def seek_to_beginning(self, partitions: list[Partition]) -> None:
        for partition in partitions:
            self.seek(partition, OFFSET_BEGINNING)

    def seek_to_end(self, partitions: list[Partition]) -> None:
        for partition in partitions:
            self.seek(partition, OFFSET_END)

    def commit(self, offsets: dict[Partition, int] | None) -> None:
        given = (
            {}
            if offsets is None
            else {"offsets": [TopicPartition(*tp, offset) for tp, offset in offsets.items()]}
        )
        with _NAMED:
            committed = self._consumer.commit(asynchronous=False, **given)
        for entry in committed or ():
            if entry.error is not None:
                raise Failed(entry.error)

    def committed(self, partitions: list[Partition]) -> Positions:
        with _NAMED:
            return self._offsets(self._consumer.committed(_many(partitions), timeout=_PATIENCE_S))

    def position(self, partitions: list[Partition]) -> Positions:
        with _NAMED:
            return self._offsets(self._consumer.position(_many(partitions)))

    def beginning_offsets(self, partitions: list[Partition]) -> Positions:
        return {tp: self._watermarks(tp)[0] for tp in partitions}

    def end_offsets(self, partitions: list[Partition]) -> Positions:
        return {tp: self._watermarks(tp)[1] for tp in partitions}

    def _watermarks(self, partition: Partition) -> tuple[int, int]:
        with _NAMED:
            low, high = self._consumer.get_watermark_offsets(
                TopicPartition(*partition), timeout=_PATIENCE_S
            )
        return low, high

    def offsets_for_times(self, times: dict[Partition, int]) -> Positions:
        with _NAMED:
            found = self._consumer.offsets_for_times(
                [TopicPartition(*tp, at) for tp, at in times.items()], timeout=_PATIENCE_S
            )
        return self._offsets(found)

    def _offsets(self, found: Any) -> Positions:
        for entry in found:
            if entry.error is not None:
                raise Failed(entry.error)
        return {
            Partition(tp.topic, tp.partition): tp.offset if tp.offset >= 0 else None for tp in found
        }

    def assignment(self) -> Any:
        with _NAMED:
            return self._consumer.assignment()

    def paused(self) -> Any:
        """librdkafka does not tell: what this consumer was asked to pause."""
        return self._paused

    def subscription(self) -> Any:
        """librdkafka does not tell: what it was asked for."""
        return self._topics

    def member_id(self) -> str | None:
        with _NAMED:
            return str(self._consumer.memberid())

    def close(self) -> None:
        with _NAMED:
            self._consumer.close()


class Library:
    """confluent-kafka."""

    poll_ms = 100
    version = f"confluent-kafka {confluent_kafka.__version__}, librdkafka {confluent_kafka.libversion()[0]}"

    def __init__(self) -> None:
        self._producers: dict[str, Any] = {}

    def consumer(self, config: dict[str, Any], listener: Listener) -> Consumer:
        return Consumer(config, listener)

    def produce(self, bootstrap: str, records: list[tuple[str, int, str, int | None]]) -> list[int]:
        if bootstrap not in self._producers:
            self._producers[bootstrap] = Producer(
                {"bootstrap.servers": bootstrap, "acks": "all", "linger.ms": 0}
            )
        producer = self._producers[bootstrap]
        offsets: dict[int, int] = {}
        failures: list[Any] = []
        for i, (topic, partition, value, at) in enumerate(records):

            def delivered(error: Any, message: Any, i: int = i) -> None:
                if error is not None:
                    failures.append(error)
                else:
                    offsets[i] = message.offset()

            producer.produce(
                topic, value.encode(), partition=partition, timestamp=at or 0, on_delivery=delivered
            )
        producer.flush(_PATIENCE_S)
        if failures:
            raise Failed(failures[0])
        return [offsets[i] for i in range(len(records))]


if __name__ == "__main__":
    main(Library())
