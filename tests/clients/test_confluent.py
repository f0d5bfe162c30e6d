"""confluent-kafka (librdkafka) against the server, with the classic group protocol."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import pytest

from tests.clients.story import DEADLINE_S, POLL_MS, SESSION_MS, ClientStory, Library, Member, text

confluent_kafka = pytest.importorskip("confluent_kafka")
from confluent_kafka.admin import (  # noqa: E402
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
)


class _Member(Member):
    def __init__(self, bootstrap_servers: str, group: str, topic: str) -> None:
        self.topic = topic
        self.consumer = confluent_kafka.Consumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "group.id": group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "session.timeout.ms": SESSION_MS,
                "heartbeat.interval.ms": 100,
                "topic.metadata.refresh.interval.ms": 500,
                "partition.assignment.strategy": "range",
                "fetch.wait.max.ms": 100,
            }
        )
        self.consumer.subscribe([topic])

    def poll(self) -> list[str]:
        messages = self.consumer.consume(1000, POLL_MS / 1000)
        assert not [message.error() for message in messages if message.error()]
        return [text(message.value()) for message in messages]

    def owned(self) -> set[int]:
        return {partition.partition for partition in self.consumer.assignment()}

    def commit(self) -> None:
        self.consumer.commit(asynchronous=False)

    def committed(self, partition: int) -> int | None:
        (told,) = self.consumer.committed(
            [confluent_kafka.TopicPartition(self.topic, partition)], timeout=DEADLINE_S
        )
        return told.offset if told.offset >= 0 else None

    def leave(self) -> None:
        self.consumer.close()


def _result(futures: dict[Any, Future[Any]]) -> Any:
    (future,) = futures.values()
    return future.result(DEADLINE_S)


class Confluent(Library):
    def __init__(self, bootstrap_servers: str) -> None:
        super().__init__(bootstrap_servers)
        self.admin = AdminClient({"bootstrap.servers": bootstrap_servers})

    def produce(self, topic: str, values: list[str]) -> None:
        producer = confluent_kafka.Producer(
            {"bootstrap.servers": self.bootstrap_servers, "linger.ms": 1}
        )
        errors: list[Any] = []
        for value in values:
            producer.produce(
                topic, value.encode(), on_delivery=lambda error, _: errors.append(error)
            )
        assert producer.flush(DEADLINE_S) == 0
        assert errors == [None] * len(values)

    def member(self, group: str, topic: str) -> Member:
        return _Member(self.bootstrap_servers, group, topic)

    def create_topic(self, topic: str, partitions: int) -> None:
        _result(self.admin.create_topics([NewTopic(topic, partitions, 1)]))

    def topics(self) -> dict[str, int]:
        told = self.admin.list_topics(timeout=DEADLINE_S).topics
        return {
            name: len(topic.partitions) for name, topic in told.items() if not name.startswith("__")
        }

    def grow(self, topic: str, partitions: int) -> None:
        _result(self.admin.create_partitions([NewPartitions(topic, partitions)]))

    def delete_topic(self, topic: str) -> None:
        _result(self.admin.delete_topics([topic]))

    def topic_config(self, topic: str, name: str) -> str:
        value = _result(
            self.admin.describe_configs([ConfigResource(ConfigResource.Type.TOPIC, topic)])
        )[name].value
        assert isinstance(value, str)
        return value

    def set_topic_config(self, topic: str, name: str, value: str) -> None:
        entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
        _result(self.admin.incremental_alter_configs([resource]))

    def groups(self) -> set[str]:
        told = self.admin.list_consumer_groups().result(DEADLINE_S)
        assert not told.errors
        return {group.group_id for group in told.valid}

    def group(self, group: str) -> tuple[str, int]:
        told = _result(self.admin.describe_consumer_groups([group]))
        return told.state.name.title().replace("_", ""), len(told.members)

    def group_offsets(self, group: str) -> dict[int, int]:
        asked = confluent_kafka.ConsumerGroupTopicPartitions(group)
        return {
            row.partition: row.offset
            for row in _result(self.admin.list_consumer_group_offsets([asked])).topic_partitions
        }

    def delete_group(self, group: str) -> None:
        _result(self.admin.delete_consumer_groups([group]))

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        _result(
            self.admin.delete_records([confluent_kafka.TopicPartition(topic, partition, before)])
        )


class TestConfluent(ClientStory):
    library = Confluent
