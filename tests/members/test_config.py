"""Settings: Kafka's names and defaults, and what is refused."""

from __future__ import annotations

import pytest

from assignors.range_assignor import RangeAssignor
from coordinator.members import MemberConfig, MemberConfigError


def test_the_defaults_are_the_java_consumers() -> None:
    """CLI-1."""
    config = MemberConfig(group_id="g")
    assert (
        config.session_timeout_ms,
        config.heartbeat_interval_ms,
        config.max_poll_interval_ms,
    ) == (45_000, 3_000, 300_000)
    assert (
        config.request_timeout_ms,
        config.default_api_timeout_ms,
        config.metadata_max_age_ms,
    ) == (30_000, 60_000, 300_000)
    assert (config.retry_backoff_ms, config.retry_backoff_max_ms) == (100, 1_000)
    assert (config.enable_auto_commit, config.auto_commit_interval_ms) == (True, 5_000)
    assert config.assignors == ("range", "cooperative-sticky")
    assert config.leave_group_on_close and config.rack is None and config.group_instance_id is None
    assert (
        config.exclude_internal_topics
        and config.allow_auto_create_topics
        and config.isolation_level == "read_uncommitted"
    )


def test_settings_come_by_kafkas_names() -> None:
    strategy = {"partition.assignment.strategy": "sticky, range"}
    config = MemberConfig.from_properties(
        {"group.id": "g", "session.timeout.ms": "6000", "enable.auto.commit": False, **strategy}
    )
    assert (config.session_timeout_ms, config.enable_auto_commit, config.assignors) == (
        6_000,
        False,
        ("sticky", "range"),
    )
    assert MemberConfig.from_properties(["group.id=g", "client.rack = r1"]).rack == "r1"
    assert MemberConfig.from_properties(
        {"group.id": "g", "partition.assignment.strategy": ["sticky"]}
    ).assignors == ("sticky",)
    made = MemberConfig.from_properties(
        {"group.id": "g", "partition.assignment.strategy": RangeAssignor}
    ).make_assignors()
    assert [assignor.name for assignor in made] == ["range"]


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({}, "group.id is missing"),
        ({"session.timeout": 1}, "session.timeout.ms is"),
        ({"nonsense": 1}, "nonsense is no setting"),
        ({"session.timeout.ms": "soon"}, "whole number"),
        ({"session.timeout.ms": 1 << 31}, "at most"),
        ({"session.timeout.ms": True}, "whole number"),
        ({"request.timeout.ms": 0}, "at least 1"),
        ({"session.timeout.ms": 3000}, "must be lower"),
        ({"enable.auto.commit": "yes"}, "true or false"),
        ({"isolation.level": "some"}, "read_committed"),
        ({"partition.assignment.strategy": ""}, "empty"),
        ({"partition.assignment.strategy": "range,range"}, "twice"),
        ({"group.instance.id": "a b"}, "1 to 249"),
        ({"group.instance.id": ".."}, "1 to 249"),
        ({"group.instance.id": "x" * 250}, "1 to 249"),
    ],
)
def test_what_cannot_be(properties: dict[str, object], said: str) -> None:
    """VER-17 for instance ids; each says what would be right."""
    with pytest.raises(MemberConfigError, match=said):
        MemberConfig.from_properties(
            properties if not properties else {"group.id": "g", **properties}
        )


def test_text_that_is_no_setting() -> None:
    with pytest.raises(MemberConfigError, match="name=value"):
        MemberConfig.from_properties(["group.id"])


@pytest.mark.parametrize(
    ("assignor", "said"),
    [
        ("nope", "no assignor is called"),
        ("no.such.module:Class", "cannot import"),
        ("tests.members.kit:Nobody", "no class"),
        ("tests.members.kit:Listener", "lacks"),
    ],
)
def test_assignors_that_cannot_be_had(assignor: str, said: str) -> None:
    """Unknown name, no such module or class, a class that lacks a method: which, and what would be
    right."""
    with pytest.raises(MemberConfigError, match=said):
        MemberConfig(group_id="g", assignors=(assignor,)).make_assignors()


def test_a_users_assignor_by_module_and_class() -> None:
    first, second = MemberConfig(
        group_id="g", assignors=("tests.members.kit:Cooperative", "range")
    ).make_assignors()
    assert (first.name, second.name) == ("mine", "range")


def test_two_assignors_of_one_name() -> None:
    with pytest.raises(MemberConfigError, match="called alike"):
        MemberConfig(
            group_id="g", assignors=("tests.members.kit:Cooperative", "tests.members.kit:Eager")
        ).make_assignors()
