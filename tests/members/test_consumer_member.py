"""A member of the consumer protocol (KIP-848) in virtual time: the way in, reconciliation, errors,
the way out (K8-CL-1 to K8-CL-4)."""

from __future__ import annotations

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.members import ConsumerState
from coordinator.members.consumer_states import MOVES
from coordinator.members.faults import (
    FencedInstance,
    GroupAuthorizationFailed,
    GroupFull,
    ListenerFault,
)
from coordinator.members.requests import Unsupported, choose
from coordinator.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from tests.members.consumer_kit import INTERVAL_MS, ConsumerSolo, rows
from tests.members.kit import LOAD, NOT_COORDINATOR, UNAVAILABLE, tp, tps, view

E = ErrorCode
S = ConsumerState


def committed(error: ErrorCode = E.NONE, *names: str) -> OffsetCommitResponse:
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name="orders", partitions=[OffsetCommitResponsePartition(error_code=error)]
            )
        ]
    )


def test_the_way_in() -> None:
    """K8-CL-1, K8-CL-2: everything is told when joining; what was taken over is acknowledged at
    once; then only who and when."""
    s = ConsumerSolo(client_rack="r1", group_remote_assignor="range", max_poll_interval_ms=60_000)
    assert s.member.state is S.UNSUBSCRIBED
    s.begin()
    assert s.member.state is S.JOINING
    assert s.heartbeat == ConsumerGroupHeartbeatRequest(
        group_id="g",
        member_id="m1",
        member_epoch=0,
        rack_id="r1",
        rebalance_timeout_ms=60_000,
        subscribed_topic_names=["orders"],
        server_assignor="range",
        topic_partitions=[],
    )
    s.beaten(2, "orders-0 orders-1")
    assert s.listener.take() == [("assigned", "orders-0 orders-1")]
    assert s.member.state is S.STABLE and not s.member.settled  # on its way, not answered
    assert s.heartbeat == ConsumerGroupHeartbeatRequest(
        group_id="g", member_id="m1", member_epoch=2, topic_partitions=rows("orders-0 orders-1")
    )
    s.beaten(2)
    assert s.member.settled and not s.is_beating()
    s.offsets(orders_0=7)
    assert s.member.positions[tp("orders-0")].offset == 7
    s.advance(INTERVAL_MS)
    assert s.heartbeat == ConsumerGroupHeartbeatRequest(
        group_id="g", member_id="m1", member_epoch=2
    )


def test_every_state_can_be_left_but_fatal() -> None:
    """K8-CL-1."""
    assert set(MOVES) == set(ConsumerState)
    assert not MOVES[S.FATAL] and all(
        after for state, after in MOVES.items() if state is not S.FATAL
    )
    assert S.STABLE not in MOVES[S.FENCED] and S.ACKNOWLEDGING not in MOVES[S.JOINING]


def test_the_coordinator_sets_the_interval() -> None:
    """K8-CL-2: an answer's interval counts from that answer."""
    s = ConsumerSolo()
    s.enter()
    s.advance(INTERVAL_MS)
    s.beaten(2, interval_ms=1000)
    s.advance(999)
    assert not s.is_beating()
    s.advance(1)
    assert s.is_beating()


def test_an_assignment_of_nothing_is_taken_over_too() -> None:
    """K8-HB-2: the listener is called, and the coordinator is told."""
    s = ConsumerSolo()
    s.begin()
    s.beaten(2, "")
    assert s.listener.take() == [("assigned", "")]
    assert s.heartbeat.topic_partitions == []
    s.beaten(2)
    assert s.member.settled and s.member.owned == ()


def test_revoked_before_assigned_before_acknowledged() -> None:
    """K8-CL-4: what goes is revoked, what comes is assigned, what stays is not mentioned."""
    s = ConsumerSolo()
    s.enter("orders-0 orders-1")
    s.listener.take()
    s.advance(INTERVAL_MS)
    s.beaten(2, "orders-1 orders-2")
    assert s.listener.take() == [("revoked", "orders-0"), ("assigned", "orders-2")]
    assert (
        s.heartbeat.topic_partitions == rows("orders-1 orders-2") and s.heartbeat.member_epoch == 2
    )
    s.acknowledged(3)
    assert s.member.settled and s.member.generation.generation_id == 3


def test_the_same_assignment_again_is_not_taken_over_again() -> None:
    """K8-CL-4."""
    s = ConsumerSolo()
    s.enter("orders-0")
    s.listener.take()
    s.advance(INTERVAL_MS)
    s.beaten(5, "orders-0")
    assert s.listener.take() == [] and not s.is_beating() and s.member.settled


def test_an_assignment_that_comes_meanwhile_is_taken_over_after() -> None:
    """K8-CL-4: with auto-commit the first waits for its commit; the second follows it."""
    s = ConsumerSolo(enable_auto_commit=True)
    s.enter("orders-0 orders-1", orders_0=5, orders_1=5)
    s.listener.take()
    s.advance(INTERVAL_MS)
    s.answer(committed())  # the periodic one, due at the same time
    s.beaten(2, "orders-1")
    commit = s.sent(OffsetCommitRequest)
    assert (commit.generation_id_or_member_epoch, commit.member_id) == (
        2,
        "m1",
    ) and s.listener.take() == []
    assert s.member.going == tps("orders-0")  # it is not handed out any more
    s.advance(INTERVAL_MS)
    s.beaten(2, "orders-1 orders-3")
    assert s.listener.take() == []
    s.answer(committed())
    assert (
        s.listener.take() == [("revoked", "orders-0"), ("assigned", "")]
        and s.member.state is S.RECONCILING
    )
    s.beaten(3)
    s.answer(committed())
    assert s.listener.take() == [("assigned", "orders-3")] and s.heartbeat.topic_partitions == rows(
        "orders-1 orders-3"
    )


def test_a_stale_commit_before_a_rebalance_is_tried_again() -> None:
    """K8-OFF-1: the epoch may have gone on while the commit was under way; the next try names the
    new one."""
    s = ConsumerSolo(enable_auto_commit=True, auto_commit_interval_ms=600_000)
    s.enter("orders-0 orders-1", orders_0=5)
    s.advance(INTERVAL_MS)
    s.beaten(2, "orders-1")
    s.answer(committed(E.STALE_MEMBER_EPOCH))
    assert s.listener.calls[-1] == ("assigned", "orders-0 orders-1")
    s.advance(200)
    s.answer(committed())
    assert s.listener.calls[-2:] == [("revoked", "orders-0"), ("assigned", "")]


def test_topics_without_names_wait_for_metadata_while_the_others_are_taken_over() -> None:
    """K8-CL-4: what can be resolved is acknowledged, and only once."""
    s = ConsumerSolo(("orders", "payments"), cluster={"orders": 2})
    s.begin()
    s.beaten(2, "orders-0 payments-0")
    assert s.listener.take() == [("assigned", "orders-0")] and s.member.state is S.RECONCILING
    assert s.heartbeat.topic_partitions == rows("orders-0")
    s.beaten(2)
    s.offsets()
    s.advance(INTERVAL_MS)
    assert s.heartbeat.topic_partitions is None and not s.member.settled
    s.beaten(2)
    s.cluster["payments"] = 1
    s.tell()
    assert s.listener.take() == [("assigned", "payments-0")]
    assert s.heartbeat.topic_partitions == rows("orders-0 payments-0")
    s.acknowledged(2)
    assert s.member.settled


def test_a_topic_that_is_gone_from_the_metadata_keeps_its_name_while_it_is_assigned() -> None:
    """K8-CL-4: it is revoked by the name that it had."""
    s = ConsumerSolo(("orders", "payments"), cluster={"orders": 2, "payments": 1})
    s.enter("orders-0 payments-0")
    s.listener.take()
    s.member.metadata(view({"orders": 2}, ("orders", "payments")), s.now)
    s.advance(INTERVAL_MS)
    s.beaten(3, "orders-0 orders-1 payments-0")
    assert s.listener.take() == [("assigned", "orders-1")]
    s.acknowledged(3)
    s.advance(INTERVAL_MS)
    s.beaten(4, "orders-0 orders-1")
    assert s.listener.take() == [("revoked", "payments-0"), ("assigned", "")]


@pytest.mark.parametrize("error", [E.FENCED_MEMBER_EPOCH, E.UNKNOWN_MEMBER_ID])
def test_who_is_fenced_loses_everything_and_joins_again_at_once(error: ErrorCode) -> None:
    """K8-CL-3: with the same id, epoch 0 and everything it has to say."""
    s = ConsumerSolo()
    s.enter()
    s.listener.take()
    s.advance(INTERVAL_MS)
    s.polling = False
    s.refused(error)
    assert s.member.state is S.FENCED and s.member.owned and not s.is_beating()
    s.polling = True
    s.turn()
    assert s.listener.take() == [("lost", "orders-0 orders-1")] and s.member.owned == ()
    assert (
        s.heartbeat.member_id,
        s.heartbeat.member_epoch,
        s.heartbeat.subscribed_topic_names,
    ) == ("m1", 0, ["orders"])
    s.beaten(7, "orders-1")
    assert s.listener.take() == [("assigned", "orders-1")]


@pytest.mark.parametrize("error", [NOT_COORDINATOR, UNAVAILABLE])
def test_another_coordinator_is_told_everything_at_once(error: ErrorCode) -> None:
    """K8-CL-3: no backoff, no lost partitions; all fields are sent again."""
    s = ConsumerSolo()
    s.enter("orders-0")
    s.listener.take()
    s.advance(INTERVAL_MS)
    s.refused(error)
    assert s.sent(FindCoordinatorRequest)
    s.find()
    assert (s.heartbeat.member_epoch, s.heartbeat.topic_partitions) == (2, rows("orders-0"))
    assert (
        s.heartbeat.subscribed_topic_names == ["orders"]
        and s.heartbeat.rebalance_timeout_ms == 300_000
    )
    s.beaten(2, "orders-0")
    assert s.listener.take() == [] and s.member.settled


@pytest.mark.parametrize("epoch", [0, 2])
def test_a_loading_coordinator_is_asked_again_after_a_backoff(epoch: int) -> None:
    """K8-CL-3: also while joining."""
    s = ConsumerSolo()
    if epoch:
        s.enter()
        s.advance(INTERVAL_MS)
    else:
        s.begin()
    s.refused(LOAD)
    s.advance(79)
    assert not s.is_beating()
    s.advance(42)
    assert s.heartbeat.member_epoch == epoch and s.heartbeat.subscribed_topic_names == ["orders"]


def test_a_lost_connection_is_a_heartbeat_to_send_again() -> None:
    s = ConsumerSolo()
    s.enter("orders-0")
    s.advance(INTERVAL_MS)
    s.lose()
    s.find()
    s.advance(200)
    assert s.heartbeat.member_epoch == 2 and s.heartbeat.topic_partitions == rows("orders-0")


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (E.GROUP_AUTHORIZATION_FAILED, GroupAuthorizationFailed),
        (E.GROUP_MAX_SIZE_REACHED, GroupFull),
        (E.FENCED_INSTANCE_ID, FencedInstance),
        (E.UNRELEASED_INSTANCE_ID, FencedInstance),
        (E.UNSUPPORTED_ASSIGNOR, Exception),
        (E.INVALID_REQUEST, Exception),
        (E.INVALID_REGULAR_EXPRESSION, Exception),
        (E.UNSUPPORTED_VERSION, Exception),
        (E.UNKNOWN_SERVER_ERROR, Exception),
    ],
)
def test_what_is_refused_for_good_ends_the_membership(
    error: ErrorCode, fault: type[Exception]
) -> None:
    """K8-CL-3: told once, with everything lost; then nothing more is sent."""
    s = ConsumerSolo()
    s.enter("orders-0")
    s.listener.take()
    s.advance(INTERVAL_MS)
    s.refused(error)
    assert [type(found) for found in s.faults] == [type(s.faults[0])] and isinstance(
        s.faults[0], fault
    )
    assert s.faults[0].code is error and s.listener.take() == [("lost", "orders-0")]
    s.advance(600_000)
    assert s.member.state is S.FATAL and not s.is_beating() and len(s.faults) == 1


def test_an_old_broker_says_what_to_do() -> None:
    """VER-18: ConsumerGroupHeartbeat is not served."""
    s = ConsumerSolo()
    s.begin()
    send = s.waiting(ConsumerGroupHeartbeatRequest)
    assert send is not None
    with pytest.raises(Unsupported) as refusal:
        choose(send.message, {11: (0, 9)})
    s.member.unsupported(send.number, refusal.value, s.now)
    s.turn()
    assert "group.protocol=classic" in str(s.faults[0]) and s.member.state is S.FATAL


def test_who_does_not_poll_leaves_and_joins_again_when_it_does() -> None:
    """K8-CL-4: epoch -1 is said at once; what it had is lost at the next poll."""
    s = ConsumerSolo(max_poll_interval_ms=7000)
    s.enter("orders-0")
    s.listener.take()
    s.polling = False
    s.advance(5000)
    s.beaten(2)
    s.advance(2000)
    assert s.member.state is S.STALE and s.heartbeat.member_epoch == -1 and s.listener.take() == []
    s.beaten(-1)
    s.advance(60_000)
    assert not s.is_beating()
    s.polling = True
    s.turn()
    assert s.listener.take() == [("lost", "orders-0")] and s.heartbeat.member_epoch == 0


def test_a_new_subscription_goes_with_the_next_heartbeat() -> None:
    """K8-CL-2: at the interval, not at once, and alone."""
    s = ConsumerSolo(cluster={"orders": 2, "payments": 2})
    s.enter("orders-0")
    s.member.subscribe(["orders", "payments"], s.now)
    s.turn()
    s.tell()
    assert not s.is_beating()
    s.advance(INTERVAL_MS)
    assert s.heartbeat == ConsumerGroupHeartbeatRequest(
        group_id="g", member_id="m1", member_epoch=2, subscribed_topic_names=["orders", "payments"]
    )


def test_a_pattern_is_the_coordinators_to_match() -> None:
    """K8-RX-1: sent as it is; dropped again with an empty one. Its topics' names come with the
    metadata of all."""
    s = ConsumerSolo((), pattern="ord.*", cluster={"orders": 2, "orders2": 1})
    s.begin()
    assert (s.heartbeat.subscribed_topic_regex, s.heartbeat.subscribed_topic_names) == ("ord.*", [])
    s.beaten(1, "")
    s.acknowledged(1)
    s.advance(INTERVAL_MS)
    assert s.heartbeat.subscribed_topic_regex is None
    s.beaten(2, "orders-0 orders2-0")
    assert s.listener.calls[-1] == ("assigned", "orders-0 orders2-0")
    s.acknowledged(2)
    s.member.subscribe(["orders"], s.now)
    s.advance(INTERVAL_MS)
    assert (s.heartbeat.subscribed_topic_regex, s.heartbeat.subscribed_topic_names) == (
        "",
        ["orders"],
    )


def test_unsubscribing_revokes_and_leaves_and_may_be_followed_by_another_subscription() -> None:
    """K8-CL-4: the answer to what was sent before changes nothing any more."""
    s = ConsumerSolo()
    s.enter("orders-0")
    s.listener.take()
    s.advance(INTERVAL_MS)
    assert s.heartbeat.member_epoch == 2
    s.member.unsubscribe(s.now)
    assert s.listener.take() == [("revoked", "orders-0")] and s.member.state is S.UNSUBSCRIBED
    s.member.subscribe(["orders"], s.now)
    s.turn()
    s.gather()
    assert [
        send.message.member_epoch
        for send in s.todo
        if isinstance(send.message, ConsumerGroupHeartbeatRequest)
    ] == [2, -1, 0]
    s.beaten(2, "orders-0")
    assert s.member.state is S.JOINING and s.listener.take() == []
    s.beaten(-1)
    s.beaten(4, "orders-1")
    assert s.listener.take() == [("assigned", "orders-1")]


@pytest.mark.parametrize(
    ("instance", "leave", "epoch"),
    [
        (None, None, -1),
        ("i", None, -2),
        ("i", True, -1),
        ("i", False, -2),
        (None, True, -1),
        (None, False, None),
    ],
)
def test_closing(instance: str | None, leave: bool | None, epoch: int | None) -> None:
    """K8-CL-4, KIP-1092: static members leave for now; LEAVE_GROUP makes it for good,
    REMAIN_IN_GROUP keeps others silent."""
    s = ConsumerSolo(group_instance_id=instance)
    s.enter("orders-0")
    assert s.member.generation.member_id == "m1"
    s.listener.take()
    s.member.close(s.now, leave=leave)
    assert s.listener.take() == [("revoked", "orders-0")]
    if epoch is None:
        assert not s.is_beating()
    else:
        assert (s.heartbeat.member_epoch, s.heartbeat.instance_id) == (epoch, instance)
        s.beaten(epoch)
    s.gather()
    assert s.closed is not None and s.closed.fault is None and s.member.closed


def test_closing_commits_first() -> None:
    s = ConsumerSolo(enable_auto_commit=True, auto_commit_interval_ms=600_000)
    s.enter("orders-0", orders_0=3)
    s.member.close(s.now)
    assert s.sent(OffsetCommitRequest).member_id == "m1" and not s.is_beating()
    s.answer(committed())
    s.beaten(-1)
    s.gather()
    assert s.closed is not None


def test_closing_without_a_coordinator_ends_in_time() -> None:
    s = ConsumerSolo()
    s.enter("orders-0")
    s.lose()
    s.member.close(s.now, 500)
    s.gather()
    assert s.listener.calls[-1] == ("revoked", "orders-0") and s.closed is not None


def test_a_listener_that_raises_is_told_and_asked_again() -> None:
    """K8-CL-4: nothing is acknowledged until it has returned."""
    s = ConsumerSolo()
    s.enter("orders-0")
    s.listener.take()
    s.advance(INTERVAL_MS)
    s.listener.fail = "assigned"
    s.pause_ms = 50
    s.beaten(3, "orders-0 orders-1")
    assert (
        isinstance(s.faults[0], ListenerFault)
        and s.member.state is S.RECONCILING
        and not s.is_beating()
    )
    s.listener.fail = None
    s.advance(50)
    assert s.listener.take() == [("assigned", "orders-1"), ("assigned", "")]
    assert s.heartbeat.topic_partitions == rows("orders-0 orders-1")
