"""The player of aiokafka: its event loop runs while the player polls or obeys."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.structs import OffsetAndMetadata, TopicPartition

from integration_tests.matrix.players.stage import Read, Wanted, next_offsets, play


class Player:
    """An AIOKafkaConsumer."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.loop = asyncio.new_event_loop()
        self.producer: Any = None
        self.consumer = self.loop.run_until_complete(self._started())

    async def _started(self) -> Any:
        consumer = AIOKafkaConsumer(
            self.wanted.topic,
            bootstrap_servers=self.wanted.address,
            group_id=self.wanted.group,
            group_instance_id=self.wanted.instance,
            client_id="player",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            heartbeat_interval_ms=200,
            session_timeout_ms=300_000,
            isolation_level="read_committed",
            fetch_max_wait_ms=100,
        )
        await consumer.start()
        return consumer

    def poll(self) -> Iterable[Read]:
        polled = self.loop.run_until_complete(self.consumer.getmany(timeout_ms=100))
        for records in polled.values():
            for record in records:
                yield Read(record.partition, record.offset, record.value.decode())

    def commit(self) -> None:
        self.loop.run_until_complete(self.consumer.commit())

    def release(self) -> None:
        raise NotImplementedError

    def transact(self, out: str, read: list[Read], *, commits: bool) -> None:
        self.loop.run_until_complete(self._transacted(out, read, commits))

    async def _transacted(self, out: str, read: list[Read], commits: bool) -> None:
        if self.producer is None:
            self.producer = AIOKafkaProducer(
                bootstrap_servers=self.wanted.address, transactional_id=self.wanted.group
            )
            await self.producer.start()
        await self.producer.begin_transaction()
        for record in read:
            await self.producer.send_and_wait(out, record.value.encode(), partition=0)
        offsets = {
            TopicPartition(self.wanted.topic, partition): OffsetAndMetadata(offset, "")
            for partition, offset in next_offsets(read).items()
        }
        await self.producer.send_offsets_to_transaction(offsets, self.wanted.group)
        if commits:
            await self.producer.commit_transaction()
        else:
            await self.producer.abort_transaction()

    def close(self) -> None:
        if self.producer is not None:
            self.loop.run_until_complete(self.producer.stop())
        self.loop.run_until_complete(self.consumer.stop())


if __name__ == "__main__":
    play(Player)
