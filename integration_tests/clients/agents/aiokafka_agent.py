"""The agent of aiokafka. One event loop in a thread of its own; each member's thread waits for its
coroutines there."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any

import aiokafka
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.abc import ConsumerRebalanceListener
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

from coordinator.kit.emulator.client_config import with_ssl_context
from integration_tests.clients.agents.host import (
    Listener,
    Partition,
    Positions,
    Record,
    Unsupported,
    main,
)

ASSIGNORS = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
}
_LACKING = ("allow.auto.create.topics",)
_LOOP = asyncio.new_event_loop()


def _wait(coroutine: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run_coroutine_threadsafe(coroutine, _LOOP).result()


def _call(function: Any, *args: Any, **options: Any) -> Any:
    async def called() -> Any:
        return function(*args, **options)

    return _wait(called())


class _Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, listener: Listener, consumer: Any) -> None:
        self._listener = listener
        self._consumer = consumer

    async def on_partitions_assigned(self, assigned: Any) -> None:
        self._listener.assigned(assigned)

    async def on_partitions_revoked(self, revoked: Any) -> None:
        self._listener.revoked(revoked)
        if self._listener.commits:
            with self._listener.committing():
                await self._consumer.commit()


def _many(partitions: list[Partition]) -> list[Any]:
    return [TopicPartition(*tp) for tp in partitions]


def _known(offsets: dict[Any, Any]) -> Positions:
    return {Partition(tp.topic, tp.partition): offset for tp, offset in offsets.items()}


class Consumer:
    """An AIOKafkaConsumer behind the host's calls."""

    def __init__(self, config: dict[str, Any], listener: Listener) -> None:
        settings = {
            name.replace(".", "_"): value for name, value in config.items() if name not in _LACKING
        }
        settings["partition_assignment_strategy"] = [
            ASSIGNORS[settings["partition_assignment_strategy"]]
        ]
        settings["rebalance_timeout_ms"] = settings["max_poll_interval_ms"]
        self._consumer = _wait(self._started(with_ssl_context(settings)))
        self._listener = _Listener(listener, self._consumer)

    async def _started(self, settings: dict[str, Any]) -> Any:
        consumer = AIOKafkaConsumer(**settings)
        await consumer.start()
        return consumer

    def subscribe(self, topics: list[str], pattern: str | None) -> None:
        _call(self._consumer.subscribe, topics, pattern=pattern, listener=self._listener)

    def assign(self, partitions: list[Partition]) -> None:
        _call(self._consumer.assign, _many(partitions))

    def unsubscribe(self) -> None:
        _call(self._consumer.unsubscribe)

    def poll(self, timeout_ms: int) -> list[Record]:
        polled = _wait(self._consumer.getmany(timeout_ms=timeout_ms))
        return [
            Record(r.topic, r.partition, r.offset, r.value.decode())
            for records in polled.values()
            for r in records
        ]

    def pause(self, partitions: list[Partition]) -> None:
        _call(self._consumer.pause, *_many(partitions))

    def resume(self, partitions: list[Partition]) -> None:
        _call(self._consumer.resume, *_many(partitions))

    def seek(self, partition: Partition, offset: int) -> None:
        _call(self._consumer.seek, TopicPartition(*partition), offset)

    def seek_to_beginning(self, partitions: list[Partition]) -> None:
        _wait(self._consumer.seek_to_beginning(*_many(partitions)))

    def seek_to_end(self, partitions: list[Partition]) -> None:
        _wait(self._consumer.seek_to_end(*_many(partitions)))

    def commit(self, offsets: dict[Partition, int] | None) -> None:
        _wait(
            self._consumer.commit(
                None
                if offsets is None
                else {TopicPartition(*tp): offset for tp, offset in offsets.items()}
            )
        )

    def committed(self, partitions: list[Partition]) -> Positions:
        return {tp: _wait(self._consumer.committed(TopicPartition(*tp))) for tp in partitions}

    def position(self, partitions: list[Partition]) -> Positions:
        return {tp: _wait(self._consumer.position(TopicPartition(*tp))) for tp in partitions}

    def beginning_offsets(self, partitions: list[Partition]) -> Positions:
        return _known(_wait(self._consumer.beginning_offsets(_many(partitions))))

    def end_offsets(self, partitions: list[Partition]) -> Positions:
        return _known(_wait(self._consumer.end_offsets(_many(partitions))))

    def offsets_for_times(self, times: dict[Partition, int]) -> Positions:
        found = _wait(
            self._consumer.offsets_for_times({TopicPartition(*tp): at for tp, at in times.items()})
        )
        return _known({tp: None if entry is None else entry.offset for tp, entry in found.items()})

    def assignment(self) -> Any:
        return _call(self._consumer.assignment)

    def paused(self) -> Any:
        return _call(self._consumer.paused)

    def subscription(self) -> Any:
        return _call(self._consumer.subscription)

    def member_id(self) -> str | None:
        raise Unsupported

    def close(self) -> None:
        _wait(self._consumer.stop())


class Library:
    """aiokafka."""

    poll_ms = 100
    version = f"aiokafka {aiokafka.__version__}"

    def __init__(self) -> None:
        self._producers: dict[str, Any] = {}
        threading.Thread(target=_LOOP.run_forever, name="event loop", daemon=True).start()

    def consumer(self, config: dict[str, Any], listener: Listener) -> Consumer:
        return Consumer(config, listener)

    def produce(self, bootstrap: str, records: list[tuple[str, int, str, int | None]]) -> list[int]:
        return list(_wait(self._produced(bootstrap, records)))

    async def _produced(
        self, bootstrap: str, records: list[tuple[str, int, str, int | None]]
    ) -> list[int]:
        if bootstrap not in self._producers:
            self._producers[bootstrap] = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all")
            await self._producers[bootstrap].start()
        producer = self._producers[bootstrap]
        sent = [
            await producer.send(topic, value.encode(), partition=partition, timestamp_ms=at)
            for topic, partition, value, at in records
        ]
        return [(await delivery).offset for delivery in sent]


if __name__ == "__main__":
    main(Library())
