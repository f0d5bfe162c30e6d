"""The reader of aiokafka."""

from __future__ import annotations

import asyncio

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from integration_tests.deleted.tasks import Read, Times, perform


async def _read(address: str, task: Read) -> str:
    consumer = AIOKafkaConsumer(
        task.topic,
        bootstrap_servers=address,
        group_id=task.group,
        auto_offset_reset=task.reset,
        isolation_level=task.isolation,
        enable_auto_commit=False,
        fetch_max_wait_ms=100,
    )
    place, offsets = TopicPartition(task.topic, 0), list[int]()
    await consumer.start()
    try:
        while place not in consumer.assignment() or await consumer.position(place) < task.until:
            for records in (await consumer.getmany(timeout_ms=200)).values():
                offsets += [record.offset for record in records]
    except KafkaError as told:
        return type(told).__name__
    finally:
        await consumer.stop()
    return task.told(offsets)


def read(address: str, task: Read) -> str:
    """Consume as a member of the group."""
    return asyncio.run(_read(address, task))


async def _times(address: str, task: Times) -> str:
    consumer = AIOKafkaConsumer(task.topic, bootstrap_servers=address)
    place = TopicPartition(task.topic, 0)
    await consumer.start()
    found = (await consumer.offsets_for_times({place: task.timestamp_ms}))[place]
    await consumer.stop()
    return task.told(None if found is None else found.offset)


def times(address: str, task: Times) -> str:
    """Look up a time."""
    return asyncio.run(_times(address, task))


if __name__ == "__main__":
    perform(read, times)
