"""DeleteTopics: by name and by id, codes and texts as Kafka 4.4.0 answered them, and what goes with
a topic (EXP-7)."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.wire.messages.topics import DeleteTopicState
from coordinator.wire.schema import ZERO_UUID
from tests.server.broker.admin import Admin

KEY = 20


def delete(
    admin: Admin, *names: str, ids: tuple[bytes, ...] = (), timeout_ms: int = 1000
) -> list[tuple[Any, ...]]:
    topics = [DeleteTopicState(name=name) for name in names] + [
        DeleteTopicState(topic_id=topic_id) for topic_id in ids
    ]
    responses = admin.ask(KEY, 6, topics=topics, timeout_ms=timeout_ms).responses
    return [(each.name, each.topic_id, each.error_code, each.error_message) for each in responses]


def test_by_name_and_by_id() -> None:
    admin = Admin("a", "b")
    a, b = (admin.cluster.topics[name].id for name in "ab")
    assert delete(admin, "a", ids=(b,)) == [("a", a, 0, None), ("b", b, 0, None)]
    assert set(admin.cluster.topics) == {"__consumer_offsets"}
    assert a not in admin.cluster.topics_by_id


@pytest.mark.parametrize("version", [1, 5])
def test_older_versions_know_names_only(version: int) -> None:
    admin = Admin("a")
    responses = admin.ask(KEY, version, topic_names=["a", "nope"], timeout_ms=1000).responses
    assert {each.name: each.error_code for each in responses} == {"a": 0, "nope": 3}


def test_refusals() -> None:
    admin = Admin("a", "b", "c")
    b, c = (admin.cluster.topics[name].id for name in "bc")
    unknown = b"\x77" * 16
    not_here = "This server does not host this topic-partition."
    assert delete(admin, "nope") == [("nope", ZERO_UUID, 3, not_here)]
    assert delete(admin, "a/b") == [("a/b", ZERO_UUID, 3, not_here)]
    assert delete(admin, "a", "a") == [("a", ZERO_UUID, 42, "Duplicate topic name.")]
    assert delete(admin, ids=(b, b)) == [(None, b, 42, "Duplicate topic id.")]
    assert delete(admin, ids=(unknown,)) == [
        (None, unknown, 100, "This server does not host this topic ID.")
    ]
    assert delete(admin, ids=(ZERO_UUID,)) == [
        (None, ZERO_UUID, 42, "Neither topic name nor id were specified.")
    ]
    assert delete(admin, "c", ids=(c,)) == [
        ("c", c, 42, "The provided topic name maps to an ID that was already supplied.")
    ]
    both = admin.ask(
        KEY, 6, topics=[DeleteTopicState(name="c", topic_id=c)], timeout_ms=1000
    ).responses[0]
    assert (both.error_code, both.error_message) == (
        42,
        "You may not specify both topic name and topic id.",
    )
    assert {"a", "b", "c"} < set(admin.cluster.topics)
    assert admin.logged("TopicDeleted") == []


def test_no_time_deletes_nothing_and_looks_nothing_up() -> None:
    admin = Admin("a")
    unknown = b"\x77" * 16
    every = [
        ("nope", ZERO_UUID, 7, None),
        ("nope", ZERO_UUID, 7, None),
        ("a", ZERO_UUID, 7, None),
        (None, unknown, 7, None),
    ]
    assert delete(admin, "nope", "nope", "a", ids=(unknown,), timeout_ms=0) == every
    assert delete(admin, "nope", "nope", timeout_ms=0) == [
        ("nope", ZERO_UUID, 42, "Duplicate topic name.")
    ]
    assert "a" in admin.cluster.topics


@pytest.mark.parametrize(("version", "code"), [(1, 42), (6, 73)])
def test_deletion_may_be_forbidden(version: int, code: int) -> None:
    admin = Admin("a", delete_topic_enable="false")
    fields: dict[str, Any] = (
        {"topics": [DeleteTopicState(name="a")]} if version == 6 else {"topic_names": ["a"]}
    )
    [refused] = admin.ask(KEY, version, timeout_ms=1000, **fields).responses
    assert refused.error_code == code
    assert "a" in admin.cluster.topics


def test_groups_hear_of_every_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    """EXP-7: offsets of a deleted topic go with it."""
    admin = Admin("a:3")
    heard: list[tuple[str, int]] = []
    woken: list[str] = []
    tell = admin.broker.coordinator.on_partitions_deleted
    monkeypatch.setattr(
        admin.broker.coordinator,
        "on_partitions_deleted",
        lambda gone, now, cause: heard.extend(gone) or tell(gone, now, cause),
    )
    monkeypatch.setattr(
        admin.broker.parked_fetches, "wake_topic", lambda topic, now: woken.append(topic)
    )
    delete(admin, "a")
    assert heard == [("a", 0), ("a", 1), ("a", 2)]
    assert woken == ["a"]
    [event] = admin.logged("TopicDeleted")
    assert (event["topic"], event["cause"]) == ("a", 7)


def test_a_name_is_free_again_with_another_id() -> None:
    admin = Admin("a")
    before = admin.cluster.topics["a"].id
    delete(admin, "a")
    admin.ask(3, 4, topics=None)
    assert before not in admin.cluster.topics_by_id
