"""Showing that one lives: heartbeats, session, poll interval."""

from __future__ import annotations

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.members import MemberState
from coordinator.members.backoff import Backoff
from coordinator.members.faults import FencedInstance
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from coordinator.wire.messages.join_group import JoinGroupRequest
from coordinator.wire.messages.leave_group import LeaveGroupRequest
from tests.members.kit import NOT_COORDINATOR, UNAVAILABLE, Solo

E = ErrorCode


def beaten(**options: object) -> Solo:
    """Stable, and a heartbeat is on its way."""
    s = Solo(**options)  # type: ignore[arg-type]
    s.enter()
    s.advance(3_000)
    assert s.waiting(HeartbeatRequest)
    s.listener.take()
    return s


def test_one_heartbeat_an_interval_and_never_two_at_once() -> None:
    """CLI-12."""
    s = beaten()
    beat = s.sent(HeartbeatRequest)
    assert (beat.group_id, beat.generation_id, beat.member_id, beat.group_instance_id) == (
        "g",
        1,
        "m1",
        None,
    )
    s.advance(6_000)
    assert sum(type(send.message) is HeartbeatRequest for send in s.todo) == 1
    s.answer(HeartbeatResponse())
    s.advance(1)
    assert s.waiting(HeartbeatRequest)  # overdue by then


def test_a_rebalance_is_joined_at_the_next_poll_and_counts_as_life() -> None:
    """CLI-11 (27 while STABLE)."""
    s = beaten()
    s.answer(HeartbeatResponse(error_code=E.REBALANCE_IN_PROGRESS))
    join = s.sent(JoinGroupRequest)
    assert join.member_id == "m1" and "rebalances" in join.reason
    assert s.listener.calls == [("revoked", "orders-0 orders-1")]
    assert s.member.state is MemberState.PREPARING_REBALANCE


def test_a_rebalance_told_while_rebalancing_is_ignored() -> None:
    """CLI-11 (27 while COMPLETING_REBALANCE)."""
    s = Solo()
    s.start()
    s.joined(1, leader="x")
    s.advance(3_000)
    s.answer(HeartbeatResponse(error_code=E.REBALANCE_IN_PROGRESS))
    s.synced("orders-0")
    assert s.member.settled


@pytest.mark.parametrize(
    ("code", "kept"), [(E.ILLEGAL_GENERATION, "m1"), (E.UNKNOWN_MEMBER_ID, "")]
)
def test_expelled_members_lose_their_partitions_and_join_anew(code: ErrorCode, kept: str) -> None:
    """CLI-11 (22 keeps the member id, 25 does not), CLI-23: lost, not revoked."""
    s = beaten()
    s.answer(HeartbeatResponse(error_code=code))
    assert s.listener.calls == [("lost", "orders-0 orders-1")]
    assert s.sent(JoinGroupRequest).member_id == kept
    assert s.faults == []


@pytest.mark.parametrize("code", [E.ILLEGAL_GENERATION, E.UNKNOWN_MEMBER_ID, E.FENCED_INSTANCE_ID])
def test_old_news_is_no_news(code: ErrorCode) -> None:
    """CLI-11: the answer to a heartbeat of an earlier generation changes nothing."""
    s = beaten()
    s.member.enforce_rebalance()
    s.poll()
    s.joined(2, leader="x")
    s.answer(HeartbeatResponse(error_code=code))
    assert (
        s.member.generation.generation_id == 2
        and s.member.state is MemberState.COMPLETING_REBALANCE
    )
    s.synced("orders-0")
    assert s.member.settled and s.faults == []


def test_a_fenced_instance_is_told_once_and_stops_beating() -> None:
    """CLI-11 (82)."""
    s = beaten(group_instance_id="i1")
    assert s.sent(HeartbeatRequest).group_instance_id == "i1"
    s.polling = False
    s.answer(HeartbeatResponse(error_code=E.FENCED_INSTANCE_ID))
    s.advance(10_000)
    assert s.waiting(HeartbeatRequest) is None and s.faults == []
    s.poll()
    assert [type(fault) for fault in s.faults] == [FencedInstance]


@pytest.mark.parametrize("code", [UNAVAILABLE, NOT_COORDINATOR])
def test_a_moved_coordinator_is_found_and_the_generation_goes_on(code: ErrorCode) -> None:
    """CLI-11 (15, 16), CLI-13."""
    s = beaten()
    s.answer(HeartbeatResponse(error_code=code))
    s.find()
    s.advance(100)
    assert s.sent(HeartbeatRequest).generation_id == 1
    s.answer(HeartbeatResponse())
    assert s.member.settled and s.listener.calls == []


@pytest.mark.parametrize(
    "code", [E.COORDINATOR_LOAD_IN_PROGRESS, E.GROUP_AUTHORIZATION_FAILED, E.UNKNOWN_SERVER_ERROR]
)
def test_other_errors_fail_the_one_heartbeat(code: ErrorCode) -> None:
    """CLI-11: the next comes after a backoff, not after an interval; Java 4.4.0 tells the
    application nothing."""
    s = beaten()
    s.answer(HeartbeatResponse(error_code=code))
    s.advance(99)
    assert s.waiting(HeartbeatRequest) is None
    s.advance(1)
    assert s.waiting(HeartbeatRequest)
    assert s.faults == [] and s.member.settled


def test_silence_for_a_session_makes_the_coordinator_unknown() -> None:
    """CLI-12."""
    s = beaten(request_timeout_ms=300_000)
    s.advance(41_999)
    assert s.disconnects == []
    s.advance(1)
    assert s.disconnects == ["no heartbeat was answered within session.timeout.ms"]
    assert s.waiting(FindCoordinatorRequest)
    assert s.member.generation.generation_id == 1


def test_who_does_not_poll_leaves_and_has_lost_everything() -> None:
    """CLI-12, CLI-14: max.poll.interval.ms; the callback comes at the next poll."""
    s = Solo(max_poll_interval_ms=10_000)
    s.enter()
    s.listener.take()
    s.polling = False
    for _ in range(3):
        s.advance(3_000)
        s.answer(HeartbeatResponse())
    s.advance(1_000)
    leave = s.sent(LeaveGroupRequest)
    assert (leave.members[0].member_id, "max.poll.interval.ms" in leave.members[0].reason) == (
        "m1",
        True,
    )
    assert s.member.state is MemberState.UNJOINED and s.listener.calls == []
    s.polling = True
    s.poll()
    assert s.listener.calls == [("lost", "orders-0 orders-1")]
    assert s.sent(JoinGroupRequest).member_id == ""


def test_polling_keeps_a_member_in() -> None:
    """CLI-12: each poll renews max.poll.interval.ms."""
    s = Solo(max_poll_interval_ms=10_000)
    s.enter()
    for _ in range(10):
        s.advance(3_000)
        s.answer(HeartbeatResponse())
    assert s.member.settled


def test_no_heartbeat_while_unjoined() -> None:
    """CLI-12: nothing to keep alive."""
    s = beaten()
    s.answer(HeartbeatResponse(error_code=E.UNKNOWN_MEMBER_ID))
    s.advance(20_000)
    assert s.waiting(HeartbeatRequest) is None


def test_jitter_stays_within_a_fifth_and_below_the_most() -> None:
    """CLI-1: retry.backoff.ms doubling, off by up to 20 %, to retry.backoff.max.ms."""
    low, high = Backoff(100, 1_000, lambda: 0.0), Backoff(100, 1_000, lambda: 1.0)
    assert [low.next() for _ in range(6)] == [80, 160, 320, 640, 800, 800]
    assert [high.next() for _ in range(6)] == [120, 240, 480, 960, 1000, 1000]
    low.reset()
    assert low.next() == 80
