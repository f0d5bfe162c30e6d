"""Leaving, closing, unsubscribing."""

from __future__ import annotations

import pytest

from assignors import TopicPartition
from coordinator.base.errors import ErrorCode
from coordinator.members import MemberState
from coordinator.members.faults import ListenerFault
from coordinator.wire.messages.heartbeat import HeartbeatResponse
from coordinator.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from coordinator.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from coordinator.wire.messages.offset_commit import OffsetCommitRequest
from tests.members.kit import Solo
from tests.members.test_offsets import told

E = ErrorCode


def stable(**options: object) -> Solo:
    s = Solo(**options)  # type: ignore[arg-type]
    s.enter("orders-0 orders-1", orders_0=5)
    s.listener.take()
    return s


def test_close_revokes_and_then_leaves() -> None:
    """CLI-14, CLI-25; the end comes when LeaveGroup is answered."""
    s = stable()
    s.member.close(s.now)
    assert s.listener.calls == [("revoked", "orders-0 orders-1")]
    leave = s.sent(LeaveGroupRequest)
    assert [(who.member_id, who.group_instance_id) for who in leave.members] == [("m1", None)]
    assert "closes" in leave.members[0].reason
    assert s.closed is None
    s.answer(LeaveGroupResponse())
    assert s.closed is not None and s.closed.fault is None and s.member.closed
    assert s.deadline() is None and s.member.poll(s.now) is False


@pytest.mark.parametrize(("leave", "leaves"), [(None, False), (True, True)])
def test_static_members_stay(leave: bool | None, leaves: bool) -> None:
    """CLI-14: no LeaveGroup, so that they may come back; unless asked for (KIP-1092)."""
    s = stable(group_instance_id="i1")
    s.member.close(s.now, leave=leave)
    assert (s.waiting(LeaveGroupRequest) is not None) is leaves
    assert s.listener.calls == [("revoked", "orders-0 orders-1")]
    if leaves:
        assert s.sent(LeaveGroupRequest).members[0].group_instance_id == "i1"
    else:
        assert s.closed is not None


@pytest.mark.parametrize(("configured", "leave"), [(False, None), (True, False)])
def test_nobody_leaves_who_was_told_to_remain(configured: bool, leave: bool | None) -> None:
    """CLI-14: internal.leave.group.on.close, or close(leave=False)."""
    s = stable(leave_group_on_close=configured)
    s.member.close(s.now, leave=leave)
    assert s.waiting(LeaveGroupRequest) is None and s.closed is not None


def test_a_pending_member_leaves_too() -> None:
    """CLI-14: it has an id (KIP-394), though it is in no generation."""
    s = Solo()
    s.start()
    s.answer(JoinGroupResponse(error_code=E.MEMBER_ID_REQUIRED, member_id="p1"))
    s.member.close(s.now)
    assert s.sent(LeaveGroupRequest).members[0].member_id == "p1"


def test_who_never_joined_has_nothing_to_leave() -> None:
    """CLI-14: UNJOINED, or the coordinator unknown."""
    s = Solo()
    s.member.close(s.now)
    s.gather()
    assert s.closed is not None and s.waiting(LeaveGroupRequest) is None
    s = stable()
    s.lose()
    s.member.close(s.now)
    s.gather()
    assert s.closed is not None and s.waiting(LeaveGroupRequest) is None


def test_leaving_in_a_rebalance_loses() -> None:
    """CLI-25: a rebalance is in progress, so what is owned may be another's by now."""
    s = stable(assignors=("cooperative-sticky",))
    s.member.enforce_rebalance()
    s.poll()
    assert s.waiting(JoinGroupRequest)
    s.member.close(s.now)
    assert s.listener.calls == [("lost", "orders-0 orders-1")]


def test_leaving_without_a_generation_loses() -> None:
    """CLI-25: generation or member id unset."""
    s = stable()
    s.polling = False
    s.advance(3_000)
    s.answer(HeartbeatResponse(error_code=E.UNKNOWN_MEMBER_ID))
    s.member.close(s.now)
    s.gather()
    assert s.listener.calls == [("lost", "orders-0 orders-1")]
    assert s.closed is not None


def test_unsubscribe_leaves_and_asks_for_nothing() -> None:
    """CLI-14, CLI-25."""
    s = stable()
    s.member.subscribe([], s.now)
    assert s.listener.calls == [("revoked", "orders-0 orders-1")]
    assert "unsubscribes" in s.sent(LeaveGroupRequest).members[0].reason
    s.answer(LeaveGroupResponse())
    assert s.member.state is MemberState.UNJOINED and s.todo == [] and not s.member.closed
    s.member.subscribe(["orders"], s.now)
    s.poll()
    assert s.sent(JoinGroupRequest).member_id == ""


def test_close_commits_first() -> None:
    """Auto-commit: retried while there is time, then revoked, then left."""
    s = stable(enable_auto_commit=True)
    s.member.close(s.now)
    assert s.waiting(LeaveGroupRequest) is None and s.listener.calls == []
    s.answer(told(E.COORDINATOR_LOAD_IN_PROGRESS))
    s.advance(100)
    assert s.waiting(OffsetCommitRequest)
    s.answer(told(0))
    assert s.listener.calls == [("revoked", "orders-0 orders-1")] and s.waiting(LeaveGroupRequest)


def test_close_gives_up_the_commit_before_a_rebalance() -> None:
    """Java's consumer does not repeat that one either: it would take back what the last commit
    says."""
    s = stable(enable_auto_commit=True)
    s.advance(3_000)
    s.answer(HeartbeatResponse(error_code=E.REBALANCE_IN_PROGRESS))
    s.poll()
    assert s.sent(OffsetCommitRequest).topics[0].partitions[0].committed_offset == 5
    s.answer(told(E.COORDINATOR_LOAD_IN_PROGRESS))
    s.member.seek(TopicPartition("orders", 0), 9)
    s.member.close(s.now)
    assert s.sent(OffsetCommitRequest).topics[0].partitions[0].committed_offset == 9
    s.answer(told(0))
    s.advance(200)
    assert s.waiting(OffsetCommitRequest) is None


def test_close_does_not_wait_for_ever() -> None:
    s = stable(enable_auto_commit=True)
    s.member.close(s.now, 1_000)
    s.advance(1_000)
    assert s.closed is not None and s.listener.calls == [("revoked", "orders-0 orders-1")]


def test_a_listener_that_raises_does_not_keep_anybody_in() -> None:
    """CLI-25: told at the end."""
    s = stable()
    s.listener.fail = "revoked"
    s.member.close(s.now)
    assert s.waiting(LeaveGroupRequest)
    s.answer(LeaveGroupResponse())
    assert s.closed is not None and isinstance(s.closed.fault, ListenerFault)
    s = stable()
    s.listener.fail = "revoked"
    with pytest.raises(ListenerFault):
        s.member.unsubscribe(s.now)
    assert s.waiting(LeaveGroupRequest)


def test_closing_twice_is_closing_once() -> None:
    s = stable()
    s.member.close(s.now)
    s.member.close(s.now)
    s.gather()
    assert sum(type(send.message) is LeaveGroupRequest for send in s.todo) == 1


def test_a_parked_sync_does_not_hold_up_the_end() -> None:
    """SYNC-7: whoever leaves gets no answer to it."""
    s = Solo()
    s.start()
    s.joined(1, leader="x")
    s.member.close(s.now)
    s.answer(LeaveGroupResponse())
    assert s.closed is not None


def test_a_commit_on_its_way_to_a_coordinator_that_is_none_any_more_is_waited_for() -> None:
    """Nothing else is to be sent, so no other coordinator is looked for, and time passes
    (CLI-14)."""
    s = stable(enable_auto_commit=True)
    s.member.seek(TopicPartition("orders", 0), 9)
    s.advance(3_000)
    s.member.close(s.now, 5_000)
    assert s.waiting(OffsetCommitRequest) is not None
    s.answer(HeartbeatResponse(error_code=E.NOT_COORDINATOR))
    due = s.deadline()
    assert due is not None and due > s.now
    s.advance(5_000)
    assert s.closed is not None
