"""The reader of confluent-kafka (librdkafka)."""

from __future__ import annotations

from confluent_kafka import OFFSET_END, Consumer, TopicPartition

from integration_tests.deleted.tasks import Read, Times, perform

PATIENCE_S = 60


def read(address: str, task: Read) -> str:
    """Consume as a member of the group."""
    consumer = Consumer(
        {
            "bootstrap.servers": address,
            "group.id": task.group,
            "auto.offset.reset": "error" if task.reset == "none" else task.reset,
            "isolation.level": task.isolation,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 100,
        }
    )
    consumer.subscribe([task.topic])
    offsets = list[int]()
    try:
        while True:
            message = consumer.poll(0.2)
            if message is None:
                continue
            error = message.error()
            if error is not None and error.name() == "_PARTITION_EOF":
                if (message.offset() or 0) >= task.until:  # its position is told with the end
                    break
            elif error is not None:
                return str(error.name())
            else:
                offsets.append(message.offset() or 0)
    finally:
        consumer.close()
    return task.told(offsets)


def times(address: str, task: Times) -> str:
    """Look up a time."""
    consumer = Consumer({"bootstrap.servers": address, "group.id": "nobody"})
    asked = TopicPartition(task.topic, 0, task.timestamp_ms)
    (found,) = consumer.offsets_for_times([asked], PATIENCE_S)
    consumer.close()
    return task.told(None if found.offset == OFFSET_END else found.offset)


if __name__ == "__main__":
    perform(read, times)
