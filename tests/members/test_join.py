"""The way into a group: discovery, JoinGroup, SyncGroup, and what each error does."""

from __future__ import annotations

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.members import Generation, MemberState
from coordinator.members.faults import FencedInstance, GroupAuthorizationFailed, GroupFull
from coordinator.members.requests import Unsupported
from coordinator.members.states import MOVES, NO_GENERATION
from coordinator.wire.consumer_protocol import Subscription
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.heartbeat import HeartbeatRequest
from coordinator.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from coordinator.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from tests.members.kit import LOAD, NOT_COORDINATOR, UNAVAILABLE, Solo, given

E = ErrorCode


def refused(code: ErrorCode, member_id: str = "") -> JoinGroupResponse:
    return JoinGroupResponse(error_code=code, member_id=member_id)


def test_the_way_in_passes_through_all_states() -> None:
    """CLI-3, CLI-4."""
    s = Solo()
    assert s.member.state is MemberState.UNJOINED
    s.start()
    assert s.member.state is MemberState.PREPARING_REBALANCE
    s.joined(1, leader="x")
    assert s.member.state is MemberState.COMPLETING_REBALANCE and not s.member.settled
    s.synced("orders-0")
    assert s.member.state is MemberState.STABLE and s.member.settled
    assert s.listener.calls == [("assigned", "orders-0")]


def test_every_reset_is_an_allowed_move() -> None:
    """CLI-3: any state may fall back to UNJOINED, none is entered from nowhere."""
    assert all(MemberState.UNJOINED in after for after in MOVES.values())
    assert set(MOVES) == set(MemberState)
    assert MemberState.STABLE not in MOVES[MemberState.PREPARING_REBALANCE]


def test_what_a_join_says() -> None:
    """CLI-5, CPB-1: assignors in configured order, each with a subscription made now; the rebalance
    timeout is max.poll.interval.ms."""
    assignors = ("cooperative-sticky", "range")
    s = Solo(
        ("pay", "orders"),
        assignors=assignors,
        client_rack="r1",
        group_instance_id="i1",
        max_poll_interval_ms=77_000,
    )
    s.cluster = {"orders": 2, "pay": 1}
    s.start()
    join = s.sent(JoinGroupRequest)
    assert (join.group_id, join.protocol_type, join.group_instance_id) == ("g", "consumer", "i1")
    assert (join.session_timeout_ms, join.rebalance_timeout_ms) == (45_000, 77_000)
    assert [protocol.name for protocol in join.protocols] == ["cooperative-sticky", "range"]
    first, second = (Subscription.decode(protocol.metadata) for protocol in join.protocols)
    assert first == Subscription(("orders", "pay"), b"\xff\xff\xff\xff", (), -1, "r1")
    assert second.user_data is None


@pytest.mark.parametrize(
    ("request_ms", "poll_ms", "expires_ms"),
    [(30_000, 300_000, 305_000), (30_000, 10_000, 30_000), (5, (1 << 31) - 1, (1 << 31) - 1)],
)
def test_a_join_may_take_longer_than_other_requests(
    request_ms: int, poll_ms: int, expires_ms: int
) -> None:
    """CLI-2: max(request.timeout.ms, rebalance timeout + 5 s), no more than an int holds."""
    s = Solo(
        request_timeout_ms=request_ms,
        max_poll_interval_ms=poll_ms,
        metadata_max_age_ms=(1 << 31) - 1,
    )
    s.start()
    assert s.waiting(JoinGroupRequest) is not None
    assert s.member.next_deadline() == expires_ms


def test_a_request_that_is_not_answered_in_time_costs_the_connection() -> None:
    """CLI-2: all others have request.timeout.ms."""
    s = Solo()
    s.start()
    s.joined(1, leader="x")
    s.polling = False
    s.member.tick(s.now + 29_999)
    s.gather()
    assert s.disconnects == []
    s.now += 30_000
    s.member.tick(s.now)
    s.gather()
    assert s.disconnects == ["a request was not answered in time"]
    s.poll()
    assert s.waiting(FindCoordinatorRequest)


def test_the_first_join_gets_an_id_and_joins_with_it_at_once() -> None:
    """CLI-6 (79), KIP-394; the second JoinGroup says why (KIP-800)."""
    s = Solo()
    s.start()
    assert s.sent(JoinGroupRequest).member_id == ""
    s.answer(refused(E.MEMBER_ID_REQUIRED, "c-1"))
    join = s.sent(JoinGroupRequest)
    assert join.member_id == "c-1" and "MEMBER_ID_REQUIRED" in join.reason
    assert s.member.generation == Generation(-1, "c-1", None)


def test_loading_is_waited_out_with_growing_backoff() -> None:
    """CLI-6 (14), CLI-1: 100 ms, 200, 400, never more than 1,000; jitter comes from outside (0.5:
    none)."""
    s = Solo()
    s.start()
    waits = []
    for _ in range(6):
        s.answer(refused(LOAD))
        assert s.waiting(JoinGroupRequest) is None
        before = s.now
        while s.waiting(JoinGroupRequest) is None:
            s.advance(1)
        waits.append(s.now - before)
    assert waits == [100, 200, 400, 800, 1000, 1000]
    assert s.faults == []


@pytest.mark.parametrize("code", [UNAVAILABLE, NOT_COORDINATOR])
def test_a_lost_coordinator_is_looked_for_again(code: ErrorCode) -> None:
    """CLI-6, CLI-13 (15, 16): rediscovered, member id kept."""
    s = Solo()
    s.start()
    s.answer(refused(E.MEMBER_ID_REQUIRED, "m1"))
    s.answer(refused(code))
    assert s.disconnects == [f"JoinGroup was answered {code.name}"]
    s.find()
    assert s.waiting(JoinGroupRequest) is None  # not before the backoff
    s.advance(100)
    assert s.sent(JoinGroupRequest).member_id == "m1"


def test_an_unknown_member_id_is_dropped_and_joined_without_at_once() -> None:
    """CLI-6 (25)."""
    s = Solo()
    s.start()
    s.answer(refused(E.MEMBER_ID_REQUIRED, "m1"))
    s.answer(refused(E.UNKNOWN_MEMBER_ID))
    assert s.sent(JoinGroupRequest).member_id == ""
    assert s.member.generation == NO_GENERATION


def test_a_rebalance_in_progress_is_answered_by_another_try() -> None:
    """CLI-6 (27): at once, ids kept."""
    s = Solo()
    s.start()
    s.answer(refused(E.MEMBER_ID_REQUIRED, "m1"))
    s.answer(refused(E.REBALANCE_IN_PROGRESS))
    assert s.sent(JoinGroupRequest).member_id == "m1"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (E.FENCED_INSTANCE_ID, FencedInstance),
        (E.GROUP_AUTHORIZATION_FAILED, GroupAuthorizationFailed),
        (E.GROUP_MAX_SIZE_REACHED, GroupFull),
        (E.INCONSISTENT_GROUP_PROTOCOL, None),
        (E.INVALID_SESSION_TIMEOUT, None),
        (E.INVALID_GROUP_ID, None),
        (E.UNSUPPORTED_VERSION, None),
        (E.INVALID_REQUEST, None),
        (-42, None),
    ],
)
def test_what_is_fatal_reaches_the_application_and_the_next_poll_tries_again(
    code: int, kind: type | None
) -> None:
    """CLI-6: 82, 30, 81, 23, 26, 24, 35 and whatever is not expected."""
    s = Solo()
    s.start()
    s.answer(JoinGroupResponse(error_code=code))
    (fault,) = s.faults
    assert fault.code == (code if code > 0 else E.UNKNOWN_SERVER_ERROR)
    assert kind is None or type(fault) is kind
    if code == E.UNSUPPORTED_VERSION:
        assert "unset" in str(fault)
    s.poll()
    join = s.sent(JoinGroupRequest)
    assert fault.name in join.reason


def test_a_group_of_another_kind_is_refused() -> None:
    """CLI-7: a protocol type that is not "consumer"."""
    s = Solo()
    s.start()
    s.answer(
        JoinGroupResponse(
            generation_id=1,
            protocol_type="connect",
            protocol_name="range",
            leader="m1",
            member_id="m1",
        )
    )
    assert s.faults[0].code is E.INCONSISTENT_GROUP_PROTOCOL


def test_an_answer_after_leaving_is_dropped() -> None:
    """CLI-7: no longer in PREPARING_REBALANCE."""
    s = Solo()
    s.start()
    send = s.waiting(JoinGroupRequest)
    assert send is not None
    s.member.unsubscribe(s.now)
    s.member.receive(
        send.number,
        JoinGroupResponse(generation_id=1, leader="m1", member_id="m1", protocol_name="range"),
        s.now,
    )
    assert s.member.state is MemberState.UNJOINED and s.member.generation == NO_GENERATION
    assert s.waiting(SyncGroupRequest) is None


def test_heartbeats_begin_before_sync_is_answered() -> None:
    """CLI-7, CLI-12."""
    s = Solo()
    s.start()
    assert s.member.next_deadline() == 300_000  # metadata; no heartbeat while JoinGroup is parked
    s.joined(1, leader="x")
    s.advance(3_000)
    assert s.waiting(SyncGroupRequest) and s.sent(HeartbeatRequest).generation_id == 1


def test_a_follower_sends_an_empty_sync() -> None:
    """CLI-8: with type and name (v5)."""
    s = Solo()
    s.start()
    s.joined(3, leader="x")
    sync = s.sent(SyncGroupRequest)
    assert (sync.generation_id, sync.protocol_type, sync.protocol_name, sync.assignments) == (
        3,
        "consumer",
        "range",
        [],
    )
    assert not s.member.is_leader


@pytest.mark.parametrize(
    "code", [E.GROUP_AUTHORIZATION_FAILED, E.FENCED_INSTANCE_ID, LOAD, E.UNKNOWN_SERVER_ERROR]
)
def test_what_is_fatal_in_sync(code: ErrorCode) -> None:
    """CLI-9: 30, 82, and everything that is not expected, 14 among it."""
    s = Solo()
    s.start()
    s.joined(1, leader="x")
    s.answer(SyncGroupResponse(error_code=code))
    assert [fault.code for fault in s.faults] == [code]


@pytest.mark.parametrize(
    ("code", "member_id", "generation"),
    [
        (E.REBALANCE_IN_PROGRESS, "m1", 1),
        (E.ILLEGAL_GENERATION, "m1", -1),
        (E.UNKNOWN_MEMBER_ID, "", -1),
    ],
)
def test_what_a_sync_error_resets(code: ErrorCode, member_id: str, generation: int) -> None:
    """CLI-9: 27 keeps all, 22 the member id, 25 nothing; the next JoinGroup goes out at once."""
    s = Solo()
    s.start()
    s.joined(1, leader="x")
    s.answer(SyncGroupResponse(error_code=code))
    assert s.faults == []
    join = s.sent(JoinGroupRequest)
    assert join.member_id == member_id
    assert Subscription.decode(join.protocols[0].metadata).generation_id == generation


@pytest.mark.parametrize("code", [UNAVAILABLE, NOT_COORDINATOR])
def test_a_coordinator_lost_in_sync(code: ErrorCode) -> None:
    """CLI-9, CLI-13: rediscover; ids are kept."""
    s = Solo()
    s.start()
    s.joined(1, leader="x")
    s.answer(SyncGroupResponse(error_code=code))
    s.find()
    s.advance(100)
    assert s.sent(JoinGroupRequest).member_id == "m1"


def test_a_lost_connection_keeps_the_member_id() -> None:
    """CLI-13: in JoinGroup, in SyncGroup, and in between."""
    s = Solo()
    s.start()
    s.answer(refused(E.MEMBER_ID_REQUIRED, "m1"))
    s.lose()
    s.find()
    s.advance(100)
    assert s.sent(JoinGroupRequest).member_id == "m1"
    s.joined(1, leader="x")
    s.lose()
    s.find()
    s.advance(200)
    assert s.sent(JoinGroupRequest).member_id == "m1"
    assert s.faults == []


def test_a_sync_that_comes_too_late_counts_as_illegal_generation() -> None:
    """CLI-10: a heartbeat reset the generation meanwhile; joined anew at once, and nothing is
    assigned."""
    s = Solo()
    s.start()
    s.joined(1, leader="x")
    s.advance(3_000)
    from coordinator.wire.messages.heartbeat import HeartbeatResponse

    s.answer(HeartbeatResponse(error_code=E.UNKNOWN_MEMBER_ID))
    s.answer(
        SyncGroupResponse(
            protocol_type="consumer", protocol_name="range", assignment=given("orders-0")
        )
    )
    assert s.sent(JoinGroupRequest).member_id == ""
    assert s.member.owned == ()


def test_a_sync_of_another_protocol_is_refused() -> None:
    """CLI-10."""
    s = Solo(assignors=("range", "roundrobin"))
    s.start()
    s.joined(1, leader="x")
    s.synced("orders-0", protocol_name="roundrobin")
    assert s.faults[0].code is E.INCONSISTENT_GROUP_PROTOCOL


def test_a_generation_that_ends_before_it_is_taken_up_is_joined_anew() -> None:
    """CLI-4: the heartbeat thread reset it while the application was away; everything is dropped,
    the member id too."""
    from coordinator.wire.messages.heartbeat import HeartbeatResponse

    s = Solo()
    s.start()
    s.joined(1, leader="x")
    s.polling = False
    s.synced("orders-0")
    assert s.member.state is MemberState.STABLE
    s.advance(3_000)
    s.answer(HeartbeatResponse(error_code=E.ILLEGAL_GENERATION))
    s.poll()
    assert s.sent(JoinGroupRequest).member_id == ""
    assert s.listener.calls == []


def test_discovery_backs_off_and_tells_what_is_fatal() -> None:
    """CLI-6: FindCoordinator is retried; 30 reaches the application once."""
    s = Solo()
    s.turn()
    s.tell()
    s.find(UNAVAILABLE)
    assert s.waiting(FindCoordinatorRequest) is None
    s.advance(100)
    s.find(E.GROUP_AUTHORIZATION_FAILED)
    assert [type(fault) for fault in s.faults] == [GroupAuthorizationFailed]
    s.advance(200)
    s.find()
    assert s.waiting(JoinGroupRequest)


def test_no_join_without_a_subscription() -> None:
    s = Solo(())
    s.turn()
    assert s.todo == [] and s.questions == [] and s.deadline() is None


def test_what_the_brokers_versions_cannot_carry_is_raised() -> None:
    """VER-18: the driver could not send it."""
    for kind in (JoinGroupRequest, SyncGroupRequest):
        s = Solo()
        s.start()
        if kind is SyncGroupRequest:
            s.joined(1, leader="x")
        send = s.waiting(kind)
        assert send is not None
        fault = Unsupported("too old")
        s.member.unsupported(send.number, fault, s.now)
        s.poll()
        assert s.faults == [fault]
