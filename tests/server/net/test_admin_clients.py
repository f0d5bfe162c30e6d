"""The admin APIs of kafka-python, aiokafka and confluent-kafka against the server: create, list,
describe, alter, grow, delete."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import aiokafka.admin
import aiokafka.admin.config_resource
import confluent_kafka
import confluent_kafka.admin
import pytest

from coordinator.kit.emulator.embedded import Emulator

with warnings.catch_warnings():
    warnings.simplefilter(
        "ignore", DeprecationWarning
    )  # it reads its schemas in a way that Python is giving up
    import kafka.admin
    import kafka.errors


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    with Emulator() as running:
        yield running


def retention_ms(emulator: Emulator) -> object:
    return emulator.run(lambda: emulator.broker.cluster.topics["orders"].effective("retention.ms"))


def test_kafka_python(emulator: Emulator) -> None:
    admin = kafka.admin.KafkaAdminClient(bootstrap_servers=emulator.bootstrap_servers)
    try:
        topic = kafka.admin.ConfigResource(
            kafka.admin.ConfigResourceType.TOPIC, "orders", configs={"retention.ms": "77"}
        )
        admin.create_topics(
            [kafka.admin.NewTopic("orders", 2, 1, topic_configs={"retention.ms": "5"})]
        )
        with pytest.raises(kafka.errors.TopicAlreadyExistsError):
            admin.create_topics([kafka.admin.NewTopic("orders", 2, 1)])
        assert sorted(admin.list_topics()) == ["__consumer_offsets", "orders"]
        assert admin.describe_cluster()["brokers"][0]["broker_id"] == 1
        assert retention_ms(emulator) == 5
        admin.alter_configs([topic])
        assert retention_ms(emulator) == 77
        admin.create_partitions({"orders": kafka.admin.NewPartitions(4)})
        assert len(admin.describe_topics(["orders"])[0]["partitions"]) == 4
        admin.delete_topics(["orders"])
        assert sorted(admin.list_topics()) == ["__consumer_offsets"]
    finally:
        admin.close()


async def test_aiokafka() -> None:
    async with Emulator() as emulator:
        admin = aiokafka.admin.AIOKafkaAdminClient(bootstrap_servers=emulator.bootstrap_servers)
        await admin.start()
        try:
            kind = aiokafka.admin.config_resource.ConfigResourceType.TOPIC
            topic = aiokafka.admin.config_resource.ConfigResource(
                kind, "orders", configs={"retention.ms": "77"}
            )
            await admin.create_topics([aiokafka.admin.NewTopic("orders", 2, 1)])
            assert sorted(await admin.list_topics()) == ["__consumer_offsets", "orders"]
            await admin.alter_configs([topic])
            [described] = await admin.describe_configs([topic])
            [entry] = [entry for entry in described.resources[0][4] if entry[0] == "retention.ms"]
            assert entry[1] == "77"
            await admin.create_partitions({"orders": aiokafka.admin.NewPartitions(4)})
            assert len((await admin.describe_topics(["orders"]))[0]["partitions"]) == 4
            await admin.delete_topics(["orders"])
            assert sorted(await admin.list_topics()) == ["__consumer_offsets"]
        finally:
            await admin.close()


def only(futures: dict[Any, Future[Any]]) -> Any:
    [future] = futures.values()
    return future.result(10)


def test_confluent_kafka(emulator: Emulator) -> None:
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": emulator.bootstrap_servers})
    names = confluent_kafka.TopicCollection(["orders"])
    append = confluent_kafka.admin.AlterConfigOpType.APPEND
    compact = confluent_kafka.admin.ConfigEntry(
        "cleanup.policy", "compact", incremental_operation=append
    )
    topic = confluent_kafka.admin.ConfigResource(
        confluent_kafka.admin.ResourceType.TOPIC, "orders", incremental_configs=[compact]
    )
    only(admin.create_topics([confluent_kafka.admin.NewTopic("orders", 2, 1)]))
    with pytest.raises(confluent_kafka.KafkaException) as refused:
        only(admin.create_topics([confluent_kafka.admin.NewTopic("a/b", 1, 1)]))
    assert "contains one or more characters other than ASCII alphanumerics" in str(refused.value)
    assert sorted(admin.list_topics(timeout=120).topics) == ["__consumer_offsets", "orders"]
    assert [node.id for node in admin.describe_cluster().result(10).nodes] == [1]
    only(admin.incremental_alter_configs([topic]))
    assert only(admin.describe_configs([topic]))["cleanup.policy"].value == "delete,compact"
    only(admin.create_partitions([confluent_kafka.admin.NewPartitions("orders", 4)]))
    assert len(only(admin.describe_topics(names)).partitions) == 4
    only(admin.delete_topics(["orders"]))
    assert sorted(emulator.run(lambda: list(emulator.broker.cluster.topics))) == [
        "__consumer_offsets"
    ]
