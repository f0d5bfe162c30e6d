"""kafka-python against the server."""

from __future__ import annotations

import pytest

from tests.clients.story import DEADLINE_S, POLL_MS, SESSION_MS, ClientStory, Library, Member, text
from tests.lost_joins import join_again_if_lost

kafka = pytest.importorskip("kafka")
from kafka.admin import ConfigResource, ConfigResourceType, NewPartitions, NewTopic  # noqa: E402
from kafka.coordinator.assignors.range import RangePartitionAssignor  # noqa: E402


class _Member(Member):
    def __init__(self, bootstrap_servers: str, group: str, topic: str) -> None:
        self.topic = topic
        self.consumer = kafka.KafkaConsumer(
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
        self.consumer.partitions_for_topic(
            topic
        )  # else it may learn its topic while it joins, and lose that join

    def poll(self) -> list[str]:
        join_again_if_lost(self.consumer)
        return [
            text(record.value)
            for records in self.consumer.poll(timeout_ms=POLL_MS).values()
            for record in records
        ]

    def owned(self) -> set[int]:
        return {partition.partition for partition in self.consumer.assignment()}

    def commit(self) -> None:
        self.consumer.commit()

    def committed(self, partition: int) -> int | None:
        offset: int | None = self.consumer.committed(kafka.TopicPartition(self.topic, partition))
        return offset

    def leave(self) -> None:
        self.consumer.close()


class KafkaPython(Library):
    def __init__(self, bootstrap_servers: str) -> None:
        super().__init__(bootstrap_servers)
        self.admin = kafka.KafkaAdminClient(bootstrap_servers=bootstrap_servers)

    def produce(self, topic: str, values: list[str]) -> None:
        producer = kafka.KafkaProducer(bootstrap_servers=self.bootstrap_servers)
        futures = [producer.send(topic, value.encode()) for value in values]
        for future in futures:
            future.get(timeout=DEADLINE_S)
        producer.close()

    def member(self, group: str, topic: str) -> Member:
        return _Member(self.bootstrap_servers, group, topic)

    def create_topic(self, topic: str, partitions: int) -> None:
        self.admin.create_topics([NewTopic(topic, partitions, 1)])

    def topics(self) -> dict[str, int]:
        return {
            topic["name"]: len(topic["partitions"])
            for topic in self.admin.describe_topics()
            if not topic["is_internal"]
        }

    def grow(self, topic: str, partitions: int) -> None:
        self.admin.create_partitions({topic: NewPartitions(partitions)})

    def delete_topic(self, topic: str) -> None:
        self.admin.delete_topics([topic])

    def topic_config(self, topic: str, name: str) -> str:
        told = self.admin.describe_configs(
            [ConfigResource(ConfigResourceType.TOPIC, topic)], config_filter="all"
        )
        value: str = told["topic"][topic][name]["value"]
        return value

    def set_topic_config(self, topic: str, name: str, value: str) -> None:
        self.admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, {name: value})])

    def groups(self) -> set[str]:
        return {group["group_id"] for group in self.admin.list_groups()}

    def group(self, group: str) -> tuple[str, int]:
        told = self.admin.describe_groups([group])[group]
        return told["group_state"], len(told["members"])

    def group_offsets(self, group: str) -> dict[int, int]:
        told = self.admin.list_group_offsets([group])
        return {partition.partition: row.offset for partition, row in told[group].items()}

    def delete_group(self, group: str) -> None:
        self.admin.delete_groups([group])

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        self.admin.delete_records({kafka.TopicPartition(topic, partition): before})

    def close(self) -> None:
        self.admin.close()


class TestKafkaPython(ClientStory):
    library = KafkaPython
