"""Small applications of strangers with aiokafka: batches, tasks beside the loop. `RIGHT` have no
mistake."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
from aiokafka import TopicPartition as AioPlace
from aiokafka.errors import CommitFailedError as AioCommitFailed
from aiokafka.errors import GroupAuthorizationFailedError, IllegalStateError
from aiokafka.errors import KafkaError as AioError

from tests.testing.small_applications import Small


class Asynchronous(Small):
    """Right: aiokafka, a commit for each batch; what waits is dropped when partitions go."""

    async def main(self) -> None:
        self.consumer = consumer = AIOKafkaConsumer(
            bootstrap_servers=self.bootstrap_servers,
            group_id=self.group,
            client_id="billing",
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            heartbeat_interval_ms=100,
            fetch_max_wait_ms=50,
            **self.settings,
        )
        application = self

        class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
            async def on_partitions_revoked(self, revoked: Any) -> None:
                await application.revoked(consumer)

            async def on_partitions_assigned(self, assigned: Any) -> None:
                pass

        self.lock = asyncio.Lock()
        consumer.subscribe([self.topic], listener=Listener())
        await consumer.start()
        tasks = [asyncio.create_task(task) for task in self.beside(consumer)]
        try:
            while not self.ending.is_set():
                await self.turn(consumer)
        finally:
            for task in tasks:
                task.cancel()
            await consumer.stop()

    def beside(self, consumer: Any) -> list[Any]:
        return []

    async def revoked(self, consumer: Any) -> None:
        async with self.lock:
            pass

    def live(self) -> None:
        asyncio.run(self.main())

    async def turn(self, consumer: Any) -> None:
        batch = await consumer.getmany(timeout_ms=50, max_records=20)
        async with self.lock:
            for place, records in batch.items():
                if place in consumer.assignment() and not self.ending.is_set():
                    await self.handle(records)
                    await self.commit(consumer, {place: records[-1].offset + 1})

    async def handle(self, records: Any) -> None:
        for record in records:
            self.work(record.topic, record.partition, record.offset)

    async def commit(self, consumer: Any, offsets: dict[AioPlace, int]) -> None:
        if not self.killed:
            with suppress(AioCommitFailed, IllegalStateError):
                await consumer.commit(offsets)


class StaticAndSimple(Asynchronous):
    """Right: a static member without a listener, a commit for each record."""

    async def main(self) -> None:
        consumer = AIOKafkaConsumer(
            self.topic,
            bootstrap_servers=self.bootstrap_servers,
            group_id=self.group,
            group_instance_id="billing-1",
            client_id="billing",
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            heartbeat_interval_ms=100,
            fetch_max_wait_ms=50,
        )
        await consumer.start()
        try:
            while not self.ending.is_set():
                for place, records in (
                    await consumer.getmany(timeout_ms=50, max_records=20)
                ).items():
                    for record in records:
                        if place in consumer.assignment() and not self.ending.is_set():
                            await self.handle([record])
                            await self.commit(consumer, {place: record.offset + 1})
        finally:
            await consumer.stop()


class CommitsInATask(Asynchronous):
    """A task commits the positions again and again while records are worked on."""

    def beside(self, consumer: Any) -> list[Any]:
        return [self.commit_again(consumer)]

    async def commit_again(self, consumer: Any) -> None:
        while True:
            await asyncio.sleep(0.01)
            if not self.killed:
                with suppress(AioError, IllegalStateError):
                    await consumer.commit()

    async def handle(self, records: Any) -> None:
        for record in records:
            await asyncio.sleep(0.02)
            if not self.ending.is_set():
                self.work(record.topic, record.partition, record.offset)

    async def commit(self, consumer: Any, offsets: dict[AioPlace, int]) -> None:
        pass


class WorksInTasks(Asynchronous):
    """Each batch is a task of its own, and committed at once."""

    async def handle(self, records: Any) -> None:
        self.task = asyncio.create_task(self.slowly(records))

    async def slowly(self, records: Any) -> None:
        for record in records:
            await asyncio.sleep(0.005)
            self.work(record.topic, record.partition, record.offset)


class HidesRefusals(Asynchronous):
    """Takes every refusal for one that passes."""

    async def commit(self, consumer: Any, offsets: dict[AioPlace, int]) -> None:
        with suppress(GroupAuthorizationFailedError, AioError):
            await super().commit(consumer, offsets)


RIGHT: tuple[type[Small], ...] = (Asynchronous, StaticAndSimple)


class WorksTooLong(Asynchronous):
    """A batch takes longer than max_poll_interval_ms, which aiokafka does not tell its brokers."""

    settings = {"max_poll_interval_ms": 1000}  # noqa: RUF012 - replaced, not changed

    async def handle(self, records: Any) -> None:
        for record in records:
            await asyncio.sleep(0.06)
            await super().handle([record])
