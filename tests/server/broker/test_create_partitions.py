"""CreatePartitions: codes and texts as Kafka 4.4.0 answered them."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.wire.messages.topics import CreatePartitionsAssignment, CreatePartitionsTopic
from tests.server.broker.admin import Admin

KEY = 37


def grow(
    admin: Admin,
    *topics: tuple[str, int, list[list[int]] | None],
    version: int = 3,
    timeout_ms: int = 1000,
    validate_only: bool = False,
) -> list[tuple[Any, ...]]:
    asked = [
        CreatePartitionsTopic(
            name=name,
            count=count,
            assignments=manual and [CreatePartitionsAssignment(broker_ids=ids) for ids in manual],
        )
        for name, count, manual in topics
    ]
    results = admin.ask(
        KEY, version, topics=asked, timeout_ms=timeout_ms, validate_only=validate_only
    ).results
    return [(result.name, result.error_code, result.error_message) for result in results]


@pytest.mark.parametrize("version", range(4))
def test_a_topic_grows(version: int) -> None:
    admin = Admin("a:2")
    assert grow(admin, ("a", 5, None), version=version) == [("a", 0, None)]
    partitions = admin.cluster.topics["a"].partitions
    assert [partition.index for partition in partitions] == [0, 1, 2, 3, 4]
    assert all(partition.leader == 1 for partition in partitions)
    [event] = admin.logged("PartitionsAdded")
    assert (event["topic"], event["partitions"], event["added"], event["cause"]) == (
        "a",
        5,
        [2, 3, 4],
        7,
    )


def test_validate_only_and_no_time_add_nothing() -> None:
    admin = Admin("a:2")
    assert grow(admin, ("a", 5, None), validate_only=True) == [("a", 0, None)]
    assert grow(admin, ("a", 5, None), timeout_ms=0) == [("a", 7, None)]
    assert grow(admin, ("a", 5, None), ("a", 5, None), timeout_ms=0) == [
        ("a", 42, "Duplicate topic name.")
    ]
    assert len(admin.cluster.topics["a"].partitions) == 2


def test_replicas_given_by_hand() -> None:
    admin = Admin("a:2")
    assert grow(admin, ("a", 4, [[1], [1]])) == [("a", 0, None)]
    assert len(admin.cluster.topics["a"].partitions) == 4


@pytest.mark.parametrize(
    ("count", "manual", "code", "message"),
    [
        (2, None, 37, "Topic already has 2 partition(s)."),
        (2, [], 37, "Topic already has 2 partition(s)."),
        (1, None, 37, "The topic a currently has 2 partition(s); 1 would not be an increase."),
        (0, None, 37, "The topic a currently has 2 partition(s); 0 would not be an increase."),
        (-1, [[9]], 37, "The topic a currently has 2 partition(s); -1 would not be an increase."),
        (
            3,
            [],
            39,
            "Attempted to add 1 additional partition(s), but only 0 assignment(s) were specified.",
        ),
        (
            3,
            [[1], [1]],
            39,
            "Attempted to add 1 additional partition(s), but only 2 assignment(s) were specified.",
        ),
        (
            3,
            [[9]],
            39,
            "The manual partition assignment includes broker 9, but no such broker is registered.",
        ),
        (3, [[]], 39, "The manual partition assignment includes an empty replica list."),
        (3, [[1, 1]], 39, "The manual partition assignment includes the broker 1 more than once."),
        (20_000, None, 44, "Excessively large number of additional partitions per request."),
    ],
)
def test_refusals(
    count: int, manual: list[list[int]] | None, code: int, message: str | None
) -> None:
    admin = Admin("a:2")
    assert grow(admin, ("a", count, manual)) == [("a", code, message)]
    assert len(admin.cluster.topics["a"].partitions) == 2
    assert admin.logged("PartitionsAdded") == []


def test_unknown_topics_and_doubled_names() -> None:
    admin = Admin("a:2")
    assert grow(admin, ("nope", 3, None), ("a/b", 3, None)) == [("nope", 3, None), ("a/b", 3, None)]
    assert grow(admin, ("nope", 1, None), ("a", 8, None), ("a", 9, None)) == [
        ("a", 42, "Duplicate topic name."),
        ("nope", 3, None),
    ]
