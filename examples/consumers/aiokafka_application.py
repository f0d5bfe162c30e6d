"""The application with aiokafka, on an event loop in a thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
from aiokafka import TopicPartition as Partition
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.errors import CommitFailedError, IllegalStateError, KafkaError

from examples.consumers.application import ConsumerApplication, TopicPartition


class AiokafkaApplication(ConsumerApplication):
    """Consumes with an `AIOKafkaConsumer`."""

    working: asyncio.Lock
    revocations: int

    _cancel: Callable[[], object] | None = None

    def kill(self) -> None:
        """End as a process that is killed does; a commit that is tried again and again does not
        hold it up."""
        self.killed = True
        cancel = self._cancel
        if cancel is not None:
            with suppress(RuntimeError):  # its event loop is closed already
                cancel()
        super().kill()

    def consume(self, bootstrap_servers: str) -> None:
        with suppress(asyncio.CancelledError):
            asyncio.run(self._consume(bootstrap_servers))
        self._cancel = None

    async def _consume(self, bootstrap_servers: str) -> None:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=bootstrap_servers,
            group_id=self.group,
            client_id=self.client_id,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            **{
                "heartbeat_interval_ms": 100,
                "session_timeout_ms": 45_000,  # as Kafka's own client: a busy machine keeps its place
                "partition_assignment_strategy": [RangePartitionAssignor],
                "metadata_max_age_ms": 1000,
                **self.settings,
            },
        )
        self.working = asyncio.Lock()
        self.revocations = 0
        consumer.subscribe([self.topic], listener=_Listener(self, consumer))
        consuming = asyncio.ensure_future(self._consume_with(consumer))
        self._cancel = partial(asyncio.get_running_loop().call_soon_threadsafe, consuming.cancel)
        try:
            await consuming
        # a task of its own is cancelled, so that this is not: the consumer is stopped whenever that
        # comes
        finally:
            await consumer.stop()

    async def _consume_with(self, consumer: Any) -> None:
        starting = asyncio.ensure_future(consumer.start())
        try:
            while not starting.done() and not self.ending.is_set():
                await asyncio.wait([starting], timeout=0.05)
            if starting.done():
                starting.result()
            while not self.ending.is_set():
                try:
                    await self._turn(consumer)
                except KafkaError as error:
                    self.refused(error, passing=error.retriable)
        finally:
            starting.cancel()
            await asyncio.wait([starting])

    async def _turn(self, consumer: Any) -> None:
        fetched = await consumer.getmany(
            timeout_ms=1 if self.waiting else 50
        )  # during a rebalance it waits for the next assignment
        before = self.revocations
        async with (
            self.working
        ):  # rebalances are another task's work: none may come between a record and its commit
            if self.revocations == before:
                for partition, records in fetched.items():
                    self.take(
                        (partition.topic, partition.partition),
                        [(record.offset, record.value) for record in records],
                    )
            await self._work(consumer)

    async def _work(self, consumer: Any) -> None:
        for place, offset in self.process():
            try:
                consumer.seek(Partition(*place), offset)
            except IllegalStateError:  # it went to another member meanwhile
                self.lost([place])
        assignment = consumer.assignment()
        held = {Partition(*place) for place in self.waiting} & assignment
        consumer.resume(*(consumer.paused() & assignment - held))
        consumer.pause(*held)
        await self.commit(consumer, self.to_commit())

    async def commit(self, consumer: Any, offsets: dict[TopicPartition, int]) -> None:
        """Commit now. A rebalance that came first is no error: whoever has the partition next reads
        the records again."""
        if not offsets:
            return
        try:
            await consumer.commit({Partition(*place): offset for place, offset in offsets.items()})
        except (CommitFailedError, IllegalStateError) as error:
            self.refused(error, passing=True)
        except KafkaError as error:
            self.refused(error, offsets, passing=error.retriable)


class _Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, application: AiokafkaApplication, consumer: Any) -> None:
        self._application = application
        self._consumer = consumer

    async def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:
        application = self._application
        application.revocations += 1
        async with application.working:
            places = [(tp.topic, tp.partition) for tp in revoked]
            await application.commit(self._consumer, application.revoked(places))
            application.lost(places)

    async def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
        pass
