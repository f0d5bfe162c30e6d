"""CreateTopics: codes and texts as Kafka 4.4.0 answered them to the same requests."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.wire.messages.topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
)
from coordinator.wire.schema import ZERO_UUID
from tests.server.broker.admin import Admin

KEY = 19


def topic(
    name: str, partitions: int = 1, factor: int = 1, assignments: Any = (), **configs: str | None
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=list(nodes))
            for index, nodes in assignments
        ],
        configs=[
            CreatableTopicConfig(name=config.replace("_", "."), value=value)
            for config, value in configs.items()
        ],
    )


def create(
    admin: Admin,
    *topics: CreatableTopic,
    version: int = 7,
    timeout_ms: int = 1000,
    validate_only: bool = False,
) -> list[CreatableTopicResult]:
    answer = admin.ask(
        KEY, version, topics=list(topics), timeout_ms=timeout_ms, validate_only=validate_only
    )
    results: list[CreatableTopicResult] = answer.topics
    return results


def verdicts(results: list[CreatableTopicResult]) -> list[tuple[str, int, str | None]]:
    return [(result.name, result.error_code, result.error_message) for result in results]


def test_a_topic_is_made_and_described() -> None:
    admin = Admin()
    [made] = create(admin, topic("orders", 3, 1, max_message_bytes="2000"))
    assert (made.error_code, made.error_message, made.num_partitions, made.replication_factor) == (
        0,
        None,
        3,
        1,
    )
    there = admin.cluster.topics["orders"]
    assert made.topic_id == there.id != ZERO_UUID
    assert admin.cluster.topics_by_id[there.id] is there
    assert [partition.replicas for partition in there.partitions] == [[1]] * 3
    assert there.effective_int("max.message.bytes") == 2000
    configs = {config.name: (config.value, config.config_source) for config in made.configs or ()}
    assert len(configs) == 37
    assert configs["max.message.bytes"] == ("2000", 1)
    assert configs["retention.ms"] == ("604800000", 5)
    assert configs["min.insync.replicas"] == ("1", 3)


def test_defaults_are_the_brokers() -> None:
    admin = Admin(num_partitions="4")
    [made] = create(admin, topic("orders", -1, -1))
    assert (made.num_partitions, made.replication_factor) == (4, 1)


def test_versions_before_5_tell_no_more_than_the_error() -> None:
    [made] = create(Admin(), topic("orders", -1, -1), version=2)
    assert (made.error_code, made.num_partitions, made.topic_id) == (0, -1, ZERO_UUID)


def test_validate_only_makes_nothing() -> None:
    admin = Admin()
    version = admin.cluster.version
    [checked] = create(admin, topic("orders", 3), validate_only=True)
    assert (checked.error_code, checked.num_partitions) == (0, 3)
    assert "orders" not in admin.cluster.topics
    assert admin.cluster.version == version
    assert admin.logged("TopicCreated") == []


def test_each_topic_stands_alone() -> None:
    admin = Admin()
    codes = [
        result.error_code
        for result in create(admin, topic("a"), topic("b", 0), topic("no way"), topic("c"))
    ]
    assert codes == [0, 37, 17, 0]
    assert {"a", "c"} < set(admin.cluster.topics)
    assert "b" not in admin.cluster.topics


TOO_FEW = (
    "Unable to replicate the partition 2 time(s): The target replication factor of 2 cannot be reached because only 1 broker(s) are "
    "registered or some brokers have all their log directories cordoned."
)
ILLEGAL = "contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"


@pytest.mark.parametrize(
    ("wanted", "code", "message"),
    [
        (topic("there"), 36, "Topic 'there' already exists."),
        (topic("there", 0, 0, nope="1"), 36, "Topic 'there' already exists."),
        (topic("__consumer_offsets"), 36, "Topic '__consumer_offsets' already exists."),
        (
            topic("__cluster_metadata"),
            42,
            "Creation of internal topic __cluster_metadata is prohibited.",
        ),
        (topic("x", 0), 37, "Number of partitions was set to an invalid non-positive value."),
        (topic("x", -2), 37, "Number of partitions was set to an invalid non-positive value."),
        (
            topic("x", 1, 0),
            38,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        ),
        (
            topic("x", 0, -2),
            38,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        ),
        (topic("x", 1, 2), 38, TOO_FEW),
        (topic(""), 17, "Topic name is invalid: the empty string is not allowed"),
        (topic("."), 17, "Topic name is invalid: '.' is not allowed"),
        (topic(".."), 17, "Topic name is invalid: '..' is not allowed"),
        (topic("a/b"), 17, f"Topic name is invalid: 'a/b' {ILLEGAL}"),
        (topic("Ä"), 17, f"Topic name is invalid: 'Ä' {ILLEGAL}"),
        (
            topic("a" * 250),
            17,
            f"Topic name is invalid: the length of '{'a' * 250}' is longer than the max allowed length 249",
        ),
        (topic("with_dot"), 17, "Topic 'with_dot' collides with existing topic: with.dot"),
        (topic("x", nope="1"), 40, "Unknown topic config name: nope"),
        (topic("x", t="1", a="1"), 40, "Unknown topic config name: a"),  # as a HashMap has them
        (topic("x", 0, 0, nope="1"), 40, "Unknown topic config name: nope"),
        (topic("x", retention_ms="-2", nope="1"), 40, "Unknown topic config name: nope"),
        (
            topic("x", retention_ms=None),
            40,
            "Null value not supported for topic configs: retention.ms",
        ),
        (
            topic("x", retention_ms="x"),
            40,
            "Invalid value x for configuration retention.ms: Not a number of type LONG",
        ),
        (
            topic("x", remote_storage_enable="true"),
            40,
            "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage.",
        ),
        (
            topic("x", min_compaction_lag_ms="10", max_compaction_lag_ms="5"),
            40,
            "conflict topic config setting min.compaction.lag.ms (10) > max.compaction.lag.ms (5)",
        ),
        (topic("x", 10_001), 44, "Excessively large number of partitions per request."),
        (topic("x", 10_000), 44, "Unable to perform excessively large batch operation."),
        (
            topic("x", 2, -1, [(0, [1])]),
            42,
            "A manual partition assignment was specified, but numPartitions was not set to -1.",
        ),
        (
            topic("x", 5, 1, [(0, [1])]),
            42,
            "A manual partition assignment was specified, but replication factor was not set to -1.",
        ),
        (
            topic("x", -1, -1, [(0, [9])]),
            39,
            "The manual partition assignment includes broker 9, but no such broker is registered.",
        ),
        (
            topic("x", -1, -1, [(0, [1, 1])]),
            39,
            "The manual partition assignment includes the broker 1 more than once.",
        ),
        (
            topic("x", -1, -1, [(0, [])]),
            39,
            "The manual partition assignment includes an empty replica list.",
        ),
        (
            topic("x", -1, -1, [(1, [1])]),
            39,
            "partitions should be a consecutive 0-based integer sequence",
        ),
        (
            topic("x", -1, -1, [(0, [1]), (2, [1])]),
            39,
            "partitions should be a consecutive 0-based integer sequence",
        ),
        (
            topic("x", -1, -1, [(0, [1]), (0, [1])]),
            39,
            "Found multiple manual partition assignments for partition 0",
        ),
    ],
)
def test_refusals(wanted: CreatableTopic, code: int, message: str) -> None:
    admin = Admin("there", "with.dot")
    before = set(admin.cluster.topics)
    [refused] = create(admin, wanted)
    assert (refused.error_code, refused.error_message) == (code, message)
    assert (
        refused.topic_id,
        refused.num_partitions,
        refused.replication_factor,
        refused.configs,
    ) == (ZERO_UUID, -1, -1, [])
    assert set(admin.cluster.topics) == before


def test_a_name_twice_refuses_it_but_not_others() -> None:
    admin = Admin()
    results = create(admin, topic("a"), topic("b"), topic("a", 2))
    assert verdicts(results) == [("b", 0, None), ("a", 42, "Duplicate topic name.")]
    assert "a" not in admin.cluster.topics


def test_names_of_one_request_may_collide_with_each_other() -> None:
    assert [result.error_code for result in create(Admin(), topic("a.b"), topic("a_b"))] == [0, 0]


@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_no_time_makes_nothing(timeout_ms: int) -> None:
    admin = Admin()
    results = create(admin, topic("a"), topic("b", 0), topic("b"), timeout_ms=timeout_ms)
    assert verdicts(results) == [("a", 7, None), ("b", 7, None), ("b", 7, None)]
    assert "a" not in admin.cluster.topics


def test_what_is_refused_before_it_takes_time_is_not_timed_out() -> None:
    prohibited = "Creation of internal topic __cluster_metadata is prohibited."
    results = create(Admin(), topic("a"), topic("a"), topic("__cluster_metadata"), timeout_ms=0)
    assert verdicts(results) == [
        ("__cluster_metadata", 42, prohibited),
        ("a", 42, "Duplicate topic name."),
    ]


def test_replicas_given_by_hand() -> None:
    admin = Admin()
    [made] = create(admin, topic("x", -1, -1, [(1, [1]), (0, [1])]))
    assert (made.error_code, made.num_partitions, made.replication_factor) == (0, 2, 1)


def test_the_log_tells_of_it_with_its_cause() -> None:
    admin = Admin()
    create(admin, topic("x", 2))
    [event] = admin.logged("TopicCreated")
    assert (event["topic"], event["partitions"], event["cause"]) == ("x", 2, 7)


def test_a_null_is_told_as_often_as_it_was_named_whatever_else_the_name_was_given() -> None:
    asked = topic("x")
    for name, value in (("a", None), ("b", None), ("a", "1"), ("a", None), ("c", "1")):
        asked.configs.append(CreatableTopicConfig(name=name, value=value))
    [(_, code, message)] = verdicts(create(Admin(), asked, version=5))
    assert (code, message) == (40, "Null value not supported for topic configs: a,b,a")
