"""Metadata: when they are asked for, and what they change."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.members import MemberConfigError
from coordinator.members.cluster_view import ClusterView
from coordinator.members.faults import InvalidTopic, TopicAuthorizationFailed
from coordinator.wire.consumer_protocol import Subscription
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.join_group import JoinGroupRequest
from coordinator.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from tests.members.kit import Solo, tps

E = ErrorCode


def subscribed(s: Solo) -> tuple[str, ...]:
    return Subscription.decode(s.sent(JoinGroupRequest).protocols[0].metadata).topics


def test_metadata_are_asked_for_at_once_and_every_max_age() -> None:
    """CLI-1: metadata.max.age.ms."""
    s = Solo(metadata_max_age_ms=60_000, heartbeat_interval_ms=40_000)
    s.enter()
    s.advance(30_000)
    assert s.questions == []
    s.advance(30_000)
    assert [(q.topics, q.allow_auto_topic_creation) for q in s.questions] == [({"orders"}, True)]


def test_metadata_that_cannot_be_had_are_asked_for_again() -> None:
    s = Solo()
    s.gather()
    for wait in (100, 200, 400):
        s.questions.clear()
        s.member.metadata_failed(s.now)
        s.advance(wait - 1)
        assert s.questions == []
        s.advance(1)
        assert len(s.questions) == 1


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (E.TOPIC_AUTHORIZATION_FAILED, TopicAuthorizationFailed),
        (E.INVALID_TOPIC_EXCEPTION, InvalidTopic),
    ],
)
def test_topics_that_may_not_be_read_are_raised(error: ErrorCode, kind: type) -> None:
    """Unauthorised topics raise; which ones."""
    s = Solo(("orders", "secret"))
    s.turn()
    s.tell({"secret": error})
    (fault,) = s.faults
    assert type(fault) is kind and fault.topics == {"secret"} and "secret" in str(fault)  # type: ignore[attr-defined]
    s.poll()
    assert len(s.faults) == 1


@pytest.mark.parametrize("error", [E.UNKNOWN_TOPIC_OR_PARTITION, E.LEADER_NOT_AVAILABLE])
def test_a_listed_topic_that_is_not_there_asks_for_a_refresh(error: ErrorCode) -> None:
    """An unavailable listed topic is asked for again until it is there; the leader then joins anew
    (CLI-19)."""
    s = Solo(("orders", "later"), cluster={"orders": 1})
    s.turn()
    s.tell({"later": error})
    s.find()
    assert subscribed(s) == ("later", "orders")
    s.joined(1, member="m1")
    s.synced("orders-0")
    s.offsets()
    s.advance(100)
    s.tell({"later": error})
    s.advance(200)
    s.cluster["later"] = 1
    s.tell()
    assert "metadata" in s.sent(JoinGroupRequest).reason


def test_a_pattern_asks_for_all_topics_and_takes_those_that_match_whole() -> None:
    """CLI-20: internal topics are left out, unless exclude.internal.topics=false."""
    cluster = {"orders": 1, "orders-eu": 1, "orders-us": 1, "__orders": 1}
    for exclude, expected in (
        (True, ("orders", "orders-eu")),
        (False, ("__orders", "orders", "orders-eu")),
    ):
        s = Solo(pattern=".*orders(-eu)?", cluster=cluster, exclude_internal_topics=exclude)
        s.turn()
        assert s.questions[-1].topics is None
        s.tell(internal=["__orders"])
        if s.questions:
            s.tell(internal=["__orders"])
        s.find()
        if s.questions:
            s.tell(internal=["__orders"])
        assert subscribed(s) == expected


def entered(**options: object) -> Solo:
    s = Solo(pattern="orders.*", cluster={"orders": 1}, metadata_max_age_ms=2_000, **options)  # type: ignore[arg-type]
    s.turn()
    s.tell()
    s.advance(100)
    while s.questions:
        s.tell()
    s.find()
    while s.questions:
        s.tell()
    s.joined(1, leader="x", member="m1")
    s.synced("orders-0")
    s.offsets()
    return s


def test_before_joining_by_pattern_metadata_are_refreshed() -> None:
    """CLI-20: once per join, if the backoff allows."""
    s = entered()
    s.advance(1_000)
    s.member.enforce_rebalance()
    s.poll()
    assert s.waiting(JoinGroupRequest) is None and len(s.questions) == 1
    s.cluster["orders-eu"] = 2
    s.tell()
    while s.questions:
        s.tell()
    assert subscribed(s) == ("orders", "orders-eu")


def test_any_member_joins_anew_when_a_matching_topic_appears() -> None:
    """CLI-20: followers too."""
    s = entered()
    assert not s.member.is_leader
    s.cluster["orders-eu"] = 2
    s.cluster["payments"] = 2
    s.advance(2_000)
    while s.questions:
        s.tell()
    assert subscribed(s) == ("orders", "orders-eu")


def test_a_topic_that_the_leader_saw_first_is_taken_over() -> None:
    """CLI-24: with a pattern, an assigned topic that matches joins the subscription; no further
    rejoin."""
    s = entered()
    s.member.enforce_rebalance()
    s.poll()
    while s.questions:
        s.tell()
    s.joined(2, leader="x")
    s.synced("orders-0 orders-eu-0")
    assert s.member.owned == tps("orders-0 orders-eu-0")
    assert s.member.subscription == {"orders", "orders-eu"} and s.member.settled


def test_a_pattern_that_matches_nothing_joins_all_the_same() -> None:
    s = Solo(pattern="nothing", cluster={"orders": 1})
    s.turn()
    s.tell()
    s.find()
    s.advance(100)
    while s.questions:
        s.tell()
    assert subscribed(s) == ()


def test_the_answer_to_an_older_question_is_not_enough() -> None:
    """What was asked for before the subscription changed leaves the need standing."""
    s = Solo(cluster={"orders": 1, "pay": 1})
    s.gather()
    s.member.subscribe(["orders", "pay"], s.now)
    s.tell()
    assert s.questions[-1].topics == {"orders", "pay"}
    s.tell()
    assert s.waiting(FindCoordinatorRequest) or s.waiting(JoinGroupRequest)


@pytest.mark.parametrize(
    ("topics", "told"),
    [
        ("pay", "topics='pay' is one text, .*: topics="),
        ([1], "give a list of names"),
        ([""], "give"),
    ],
)
def test_topics_that_are_no_list_of_names_change_nothing(topics: Any, told: str) -> None:
    s = Solo(cluster={"orders": 1, "pay": 1})
    s.gather()
    with pytest.raises(MemberConfigError, match=told):
        s.member.subscribe(topics, s.now)
    s.member.subscribe(["pay"], s.now)
    s.tell()
    assert s.questions[-1].topics == {"pay"}


def test_an_answer_that_many_get_is_read_once() -> None:
    """Each has a view of its own, so that it sees that an answer has come; what they show is the
    same."""
    response = MetadataResponse(
        topics=[
            MetadataResponseTopic(
                name="orders", partitions=[MetadataResponsePartition(partition_index=0)]
            )
        ]
    )
    one, other = (ClusterView.of(response, frozenset({"orders"})) for _ in range(2))
    assert one is not other
    assert one.topics is other.topics
    assert (other.asked, other.errors, other.unsettled) == (one.asked, one.errors, one.unsettled)
    everything = ClusterView.of(response, None)
    assert everything.covers(None)
    assert not one.covers(None)
