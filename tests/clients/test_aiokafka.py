"""aiokafka against the server. It lives on a loop of its own, in a thread; the story's calls
block."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from threading import Thread
from typing import Any, TypeVar

import pytest

from tests.clients.story import DEADLINE_S, POLL_MS, SESSION_MS, ClientStory, Library, Member, text

aiokafka = pytest.importorskip("aiokafka")
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete  # noqa: E402
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType  # noqa: E402
from aiokafka.coordinator.assignors.range import RangePartitionAssignor  # noqa: E402

T = TypeVar("T")


class _Loop:
    """A loop in a thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = Thread(target=self.loop.run_forever)
        self.thread.start()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(DEADLINE_S)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


class _Member(Member):
    def __init__(self, loop: _Loop, bootstrap_servers: str, group: str, topic: str) -> None:
        self.loop = loop
        self.topic = topic

        async def start() -> Any:
            consumer = aiokafka.AIOKafkaConsumer(
                topic,
                bootstrap_servers=bootstrap_servers,
                group_id=group,
                auto_offset_reset="earliest",
                enable_auto_commit=False,
                session_timeout_ms=SESSION_MS,
                heartbeat_interval_ms=100,
                metadata_max_age_ms=500,
                partition_assignment_strategy=[RangePartitionAssignor],
            )
            # start() waits for the first assignment, which may need other members to be polled.
            self.starting = asyncio.ensure_future(consumer.start())
            return consumer

        self.consumer = loop.run(start())

    def poll(self) -> list[str]:
        async def poll() -> list[str]:
            await asyncio.wait([self.starting], timeout=POLL_MS / 1000)
            if not self.starting.done():
                return []
            self.starting.result()
            batches = await self.consumer.getmany(timeout_ms=POLL_MS)
            return [text(record.value) for records in batches.values() for record in records]

        return self.loop.run(poll())

    def owned(self) -> set[int]:
        return {partition.partition for partition in self.consumer.assignment()}

    def commit(self) -> None:
        self.loop.run(self.consumer.commit())

    def committed(self, partition: int) -> int | None:
        offset: int | None = self.loop.run(
            self.consumer.committed(aiokafka.TopicPartition(self.topic, partition))
        )
        return offset

    def leave(self) -> None:
        self.loop.run(self.consumer.stop())


class AIOKafka(Library):
    def __init__(self, bootstrap_servers: str) -> None:
        super().__init__(bootstrap_servers)
        self.loop = _Loop()

        async def start() -> AIOKafkaAdminClient:
            admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap_servers)
            await admin.start()
            return admin

        self.admin = self.loop.run(start())

    def produce(self, topic: str, values: list[str]) -> None:
        async def produce() -> None:
            async with aiokafka.AIOKafkaProducer(
                bootstrap_servers=self.bootstrap_servers
            ) as producer:
                for sent in [await producer.send(topic, value.encode()) for value in values]:
                    await sent

        self.loop.run(produce())

    def member(self, group: str, topic: str) -> Member:
        return _Member(self.loop, self.bootstrap_servers, group, topic)

    def create_topic(self, topic: str, partitions: int) -> None:
        self.loop.run(self.admin.create_topics([NewTopic(topic, partitions, 1)]))

    def topics(self) -> dict[str, int]:
        told = self.loop.run(self.admin.describe_topics())
        return {
            topic["topic"]: len(topic["partitions"]) for topic in told if not topic["is_internal"]
        }

    def grow(self, topic: str, partitions: int) -> None:
        self.loop.run(self.admin.create_partitions({topic: NewPartitions(partitions)}))

    def delete_topic(self, topic: str) -> None:
        self.loop.run(self.admin.delete_topics([topic]))

    def topic_config(self, topic: str, name: str) -> str:
        (told,) = self.loop.run(
            self.admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
        )
        ((_, _, _, _, rows),) = told.resources
        (value,) = [row[1] for row in rows if row[0] == name]
        assert isinstance(value, str)
        return value

    def set_topic_config(self, topic: str, name: str, value: str) -> None:
        self.loop.run(
            self.admin.alter_configs(
                [ConfigResource(ConfigResourceType.TOPIC, topic, {name: value})]
            )
        )

    def groups(self) -> set[str]:
        return {group for group, _ in self.loop.run(self.admin.list_consumer_groups())}

    def group(self, group: str) -> tuple[str, int]:
        (told,) = self.loop.run(self.admin.describe_consumer_groups([group]))
        (row,) = told.groups
        return row[2], len(row[5])

    def group_offsets(self, group: str) -> dict[int, int]:
        told = self.loop.run(self.admin.list_consumer_group_offsets(group))
        return {partition.partition: row.offset for partition, row in told.items()}

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        self.loop.run(
            self.admin.delete_records(
                {aiokafka.TopicPartition(topic, partition): RecordsToDelete(before_offset=before)}
            )
        )

    def close(self) -> None:
        self.loop.run(self.admin.close())
        self.loop.close()


class TestAIOKafka(ClientStory):
    library = AIOKafka
