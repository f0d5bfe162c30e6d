"""The reader of kafka-python."""

from __future__ import annotations

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from integration_tests.deleted.tasks import Read, Times, perform


def read(address: str, task: Read) -> str:
    """Consume as a member of the group."""
    consumer = KafkaConsumer(
        task.topic,
        bootstrap_servers=address,
        group_id=task.group,
        auto_offset_reset=task.reset,
        isolation_level=task.isolation,
        enable_auto_commit=False,
        fetch_max_wait_ms=100,
    )
    place, offsets = TopicPartition(task.topic, 0), list[int]()
    consumer.partitions_for_topic(task.topic)  # else it may join before it knows its topic
    try:
        while place not in consumer.assignment() or (consumer.position(place) or 0) < task.until:
            for records in consumer.poll(timeout_ms=200).values():
                offsets += [record.offset for record in records]
            if consumer._coordinator is not None and consumer._coordinator.rejoining:
                consumer._coordinator.request_rejoin()  # it takes a join that outlasts a poll for done
    except KafkaError as told:
        return type(told).__name__
    finally:
        consumer.close()
    return task.told(offsets)


def times(address: str, task: Times) -> str:
    """Look up a time."""
    consumer = KafkaConsumer(bootstrap_servers=address)
    place = TopicPartition(task.topic, 0)
    found = consumer.offsets_for_times({place: task.timestamp_ms})[place]
    consumer.close()
    return task.told(None if found is None else found.offset)


if __name__ == "__main__":
    perform(read, times)
