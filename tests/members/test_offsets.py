"""Commits and committed offsets."""

from __future__ import annotations

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.members.effects import Position
from coordinator.members.faults import (
    CommitFailed,
    FencedInstance,
    GroupAuthorizationFailed,
    MemberFault,
    RebalanceInProgress,
    Refused,
    TopicAuthorizationFailed,
)
from coordinator.members.requests import Unsupported
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from coordinator.wire.messages.join_group import JoinGroupRequest
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from coordinator.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from tests.members.kit import LOAD, NOT_COORDINATOR, UNAVAILABLE, Solo, tp

E = ErrorCode


def told(*codes: int) -> OffsetCommitResponse:
    """An answer with these errors for orders-0, orders-1, ..."""
    rows = [
        OffsetCommitResponsePartition(partition_index=i, error_code=code)
        for i, code in enumerate(codes)
    ]
    return OffsetCommitResponse(topics=[OffsetCommitResponseTopic(name="orders", partitions=rows)])


def committing(*, retry: bool = False, **options: object) -> Solo:
    """Stable, with positions 5 and 6, and a commit on its way."""
    s = Solo(**options)  # type: ignore[arg-type]
    s.enter("orders-0 orders-1", orders_0=5, orders_1=6)
    s.listener.take()
    s.member.commit(s.now, retry=retry)
    assert s.waiting(OffsetCommitRequest)
    return s


def fault_of(s: Solo) -> MemberFault | None:
    s.gather()
    (done,) = s.committed
    return done.fault


def test_what_a_commit_says() -> None:
    """CLI-15: as a member of its generation, with the positions that were fetched."""
    s = committing(group_instance_id="i1")
    commit = s.sent(OffsetCommitRequest)
    assert (commit.generation_id_or_member_epoch, commit.member_id, commit.group_instance_id) == (
        1,
        "m1",
        "i1",
    )
    assert [(p.partition_index, p.committed_offset) for p in commit.topics[0].partitions] == [
        (0, 5),
        (1, 6),
    ]
    s.answer(told(0, 0))
    assert fault_of(s) is None and s.committed[0].offsets == {
        tp("orders-0"): Position(5),
        tp("orders-1"): Position(6),
    }


def test_no_commit_without_a_part_in_a_generation() -> None:
    """CLI-15: refused here, the coordinator is not asked."""
    s = Solo()
    s.start()
    s.member.commit(s.now, {tp("orders-0"): Position(1)})
    assert isinstance(fault_of(s), RebalanceInProgress)
    s.committed.clear()
    s.joined(1, leader="x")
    s.member.commit(s.now, {tp("orders-0"): Position(1)})
    assert isinstance(fault_of(s), RebalanceInProgress)
    s.committed.clear()
    s.synced("orders-0")
    s.offsets()
    s.polling = False
    s.advance(3_000)
    s.answer(HeartbeatResponse(error_code=E.UNKNOWN_MEMBER_ID))
    s.member.commit(s.now, {tp("orders-0"): Position(1)})
    assert isinstance(fault_of(s), CommitFailed)
    assert s.waiting(OffsetCommitRequest) is None


def test_without_a_subscription_nobody_commits_as_a_member() -> None:
    """CLI-15: generation -1 and no member id."""
    s = Solo(())
    s.member.commit(s.now, {tp("orders-0"): Position(1)})
    s.find()
    s.member.commit(s.now, {tp("orders-0"): Position(1)})
    commit = s.sent(OffsetCommitRequest)
    assert (commit.generation_id_or_member_epoch, commit.member_id, commit.group_instance_id) == (
        -1,
        "",
        None,
    )


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (E.GROUP_AUTHORIZATION_FAILED, GroupAuthorizationFailed),
        (E.TOPIC_AUTHORIZATION_FAILED, TopicAuthorizationFailed),
        (E.OFFSET_METADATA_TOO_LARGE, Refused),
        (E.INVALID_COMMIT_OFFSET_SIZE, Refused),
        (E.FENCED_INSTANCE_ID, FencedInstance),
        (E.UNKNOWN_SERVER_ERROR, Refused),
    ],
)
def test_what_a_commit_raises(code: ErrorCode, kind: type) -> None:
    """CLI-16: 30, 29, 12, 28, 82 in an unchanged generation, and what is not expected; the
    membership stands."""
    s = committing(retry=True)
    s.answer(told(0, code))
    fault = fault_of(s)
    assert type(fault) is kind and fault.code == code
    assert s.member.settled


def test_unauthorised_topics_are_collected_and_the_first_other_error_decides() -> None:
    """CLI-16 (29)."""
    s = committing()
    s.answer(told(E.TOPIC_AUTHORIZATION_FAILED, E.OFFSET_METADATA_TOO_LARGE))
    assert fault_of(s).code is E.OFFSET_METADATA_TOO_LARGE  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "code", [LOAD, E.UNKNOWN_TOPIC_OR_PARTITION, UNAVAILABLE, NOT_COORDINATOR, E.REQUEST_TIMED_OUT]
)
def test_what_is_retried(code: ErrorCode) -> None:
    """CLI-16: 14 and 3 with the same coordinator, 15, 16 and 7 after looking for it."""
    s = committing(retry=True)
    s.answer(told(code, 0))
    if code in (LOAD, E.UNKNOWN_TOPIC_OR_PARTITION):
        assert s.disconnects == []
    else:
        assert s.disconnects == [f"OffsetCommit was answered {code.name}"]
        s.find()
    s.advance(100)
    s.answer(told(0, 0))
    assert fault_of(s) is None


def test_an_asynchronous_commit_is_not_retried_but_told() -> None:
    """CLI-16: commitAsync's callback gets a retriable fault."""
    s = committing()
    s.answer(told(LOAD))
    fault = fault_of(s)
    assert fault is not None and fault.retriable


def test_a_commit_that_never_gets_through_ends() -> None:
    """CLI-1: default.api.timeout.ms."""
    s = committing(retry=True, default_api_timeout_ms=500)
    s.answer(told(LOAD))
    s.advance(100)
    s.answer(told(LOAD))
    s.advance(200)
    s.answer(told(LOAD))
    s.advance(400)
    s.poll()
    assert fault_of(s).code is E.REQUEST_TIMED_OUT  # type: ignore[union-attr]


def test_a_rebalance_met_by_a_commit() -> None:
    """CLI-16 (27): told, and joined anew; ids are kept."""
    s = committing()
    s.answer(told(E.REBALANCE_IN_PROGRESS))
    assert isinstance(fault_of(s), RebalanceInProgress)
    assert s.sent(JoinGroupRequest).member_id == "m1"


@pytest.mark.parametrize(
    ("code", "kept"), [(E.ILLEGAL_GENERATION, "m1"), (E.UNKNOWN_MEMBER_ID, "")]
)
def test_a_commit_of_one_who_is_out(code: ErrorCode, kept: str) -> None:
    """CLI-16 (22, 25): the generation is reset, what was owned is lost."""
    s = committing()
    s.answer(told(code))
    assert isinstance(fault_of(s), CommitFailed)
    assert s.sent(JoinGroupRequest).member_id == kept
    assert s.listener.calls == [("lost", "orders-0 orders-1")]


@pytest.mark.parametrize("code", [E.ILLEGAL_GENERATION, E.UNKNOWN_MEMBER_ID, E.FENCED_INSTANCE_ID])
def test_an_old_commit_while_joining_anew(code: ErrorCode) -> None:
    """CLI-16: the generation has changed and the member is in PREPARING_REBALANCE: only told to
    wait."""
    s = committing()
    s.advance(3_000)
    s.answer(HeartbeatResponse(error_code=E.ILLEGAL_GENERATION))
    assert s.sent(JoinGroupRequest).member_id == "m1"
    s.answer(told(code))
    assert isinstance(fault_of(s), RebalanceInProgress)
    assert s.member.generation.member_id == "m1"


def test_an_old_commit_after_joining_anew_that_was_fenced() -> None:
    """CLI-16 (82): generation changed, no longer preparing."""
    s = committing()
    s.member.enforce_rebalance()
    s.poll()
    s.rejoined("orders-0 orders-1")
    s.answer(told(E.FENCED_INSTANCE_ID))
    assert isinstance(fault_of(s), CommitFailed)
    assert s.member.settled


# -- by itself
# -----------------------------------------------------------------------------------------------------------


def test_auto_commit_every_interval() -> None:
    """CLI-1: enable.auto.commit, auto.commit.interval.ms, counted from the assignment (CLI-24)."""
    s = Solo(enable_auto_commit=True, heartbeat_interval_ms=44_000)
    s.enter("orders-0 orders-1", orders_0=5)
    s.advance(4_999)
    assert s.waiting(OffsetCommitRequest) is None
    s.advance(1)
    assert [
        (p.partition_index, p.committed_offset)
        for p in s.sent(OffsetCommitRequest).topics[0].partitions
    ] == [(0, 5)]
    s.answer(told(0))
    s.member.seek(tp("orders-1"), 9)
    s.advance(5_000)
    assert len(s.sent(OffsetCommitRequest).topics[0].partitions) == 2
    assert s.committed == []  # its own commits are nobody's business


def test_auto_commit_that_failed_is_tried_again_soon() -> None:
    s = Solo(enable_auto_commit=True, heartbeat_interval_ms=44_000)
    s.enter("orders-0", orders_0=5)
    s.advance(5_000)
    s.answer(told(LOAD))
    s.advance(100)
    assert s.waiting(OffsetCommitRequest)


def test_before_a_rebalance_what_was_consumed_is_committed_first() -> None:
    """CLI-23 (a): JoinGroup and the revoke callback wait for the commit, which is retried."""
    s = Solo(enable_auto_commit=True)
    s.enter("orders-0", orders_0=5)
    s.listener.take()
    s.member.enforce_rebalance()
    s.poll()
    assert s.waiting(JoinGroupRequest) is None and s.listener.calls == []
    s.answer(told(LOAD))
    assert s.waiting(JoinGroupRequest) is None
    s.advance(100)
    s.answer(told(0))
    assert s.listener.calls == [("revoked", "orders-0")]
    assert s.waiting(JoinGroupRequest)


@pytest.mark.parametrize("code", [E.UNKNOWN_MEMBER_ID, E.OFFSET_METADATA_TOO_LARGE])
def test_a_commit_that_fails_for_good_does_not_hold_up_the_rebalance(code: ErrorCode) -> None:
    """CLI-23 (a)."""
    s = Solo(enable_auto_commit=True)
    s.enter("orders-0", orders_0=5)
    s.listener.take()
    s.member.enforce_rebalance()
    s.poll()
    s.answer(told(code))
    assert s.listener.calls == [("lost" if code is E.UNKNOWN_MEMBER_ID else "revoked", "orders-0")]
    assert s.waiting(JoinGroupRequest)


def test_a_commit_that_is_never_answered_holds_up_the_rebalance_for_its_timeout_only() -> None:
    """CLI-23 (a): no longer than max.poll.interval.ms."""
    s = Solo(enable_auto_commit=True, max_poll_interval_ms=10_000, session_timeout_ms=400_000)
    s.enter("orders-0", orders_0=5)
    s.member.enforce_rebalance()
    s.poll()
    for _ in range(99):
        if s.waiting(OffsetCommitRequest):
            s.answer(told(LOAD))
        s.advance(101)
    assert s.waiting(JoinGroupRequest) is None
    s.advance(1_000)
    assert s.waiting(JoinGroupRequest)


# -- fetching
# ------------------------------------------------------------------------------------------------------------


def fetched(code: int = 0, *, group: int = 0, offset: int = 3) -> OffsetFetchResponse:
    row = OffsetFetchResponsePartitions(partition_index=0, committed_offset=offset, error_code=code)
    topics = [OffsetFetchResponseTopics(name="orders", partitions=[row])]
    return OffsetFetchResponse(
        groups=[
            OffsetFetchResponseGroup(group_id="g", topics=[] if group else topics, error_code=group)
        ]
    )


def assigned(**options: object) -> Solo:
    s = Solo(**options)  # type: ignore[arg-type]
    s.start()
    s.joined(1, leader="x")
    s.synced("orders-0")
    return s


@pytest.mark.parametrize(
    ("level", "stable"), [("read_uncommitted", False), ("read_committed", True)]
)
def test_positions_come_from_committed_offsets(level: str, stable: bool) -> None:
    """CLI-17: require_stable with read_committed only."""
    s = assigned(isolation_level=level)
    fetch = s.sent(OffsetFetchRequest)
    assert (
        fetch.require_stable,
        fetch.groups[0].group_id,
        fetch.groups[0].topics[0].partition_indexes,
    ) == (stable, "g", [0])
    s.answer(fetched())
    assert s.member.positions == {tp("orders-0"): Position(3)} and s.member.positions_known


def test_nothing_committed_is_no_position() -> None:
    s = assigned()
    s.answer(fetched(offset=-1))
    assert s.member.positions == {} and s.member.positions_known
    assert s.waiting(OffsetFetchRequest) is None


@pytest.mark.parametrize(
    "response",
    [fetched(E.UNSTABLE_OFFSET_COMMIT), fetched(group=LOAD), fetched(group=NOT_COORDINATOR)],
)
def test_a_fetch_that_is_retried(response: OffsetFetchResponse) -> None:
    """CLI-17: 88, a loading coordinator; another coordinator after finding it."""
    s = assigned()
    s.answer(response)
    assert s.waiting(OffsetFetchRequest) is None
    if s.disconnects:
        s.find()
    s.advance(100)
    assert s.waiting(OffsetFetchRequest)
    assert s.faults == []


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        (fetched(group=E.GROUP_AUTHORIZATION_FAILED), GroupAuthorizationFailed),
        (fetched(E.TOPIC_AUTHORIZATION_FAILED), TopicAuthorizationFailed),
        (fetched(E.UNKNOWN_TOPIC_OR_PARTITION), Refused),
        (fetched(group=E.INVALID_GROUP_ID), Refused),
    ],
)
def test_a_fetch_that_is_raised(response: OffsetFetchResponse, kind: type) -> None:
    """CLI-17: 30, 29, 3, others."""
    s = assigned()
    s.answer(response)
    assert [type(fault) for fault in s.faults] == [kind]


def test_kept_partitions_keep_their_position() -> None:
    """Cooperative: only what is new is asked for."""
    s = Solo(assignors=("cooperative-sticky",))
    s.enter("orders-0", orders_0=5)
    s.member.seek(tp("orders-0"), 50)
    s.member.enforce_rebalance()
    s.poll()
    s.joined(2, leader="x")
    s.synced("orders-0 orders-1")
    assert s.sent(OffsetFetchRequest).groups[0].topics[0].partition_indexes == [1]
    s.offsets()
    assert s.member.positions == {tp("orders-0"): Position(50)}


def test_only_owned_partitions_have_positions() -> None:
    s = assigned()
    with pytest.raises(KeyError):
        s.member.seek(tp("orders-3"), 1)


def test_what_the_brokers_versions_cannot_carry() -> None:
    """VER-18: a commit ends with it, a fetch or a heartbeat is raised."""
    s = committing(retry=True)
    fault = Unsupported("too old")
    send = s.waiting(OffsetCommitRequest)
    assert send is not None
    s.member.unsupported(send.number, fault, s.now)
    assert fault_of(s) is fault
    for kind in (OffsetFetchRequest, HeartbeatRequest):
        s = assigned()
        s.advance(3_000)
        send = s.waiting(kind)
        assert send is not None
        s.member.unsupported(send.number, fault, s.now)
        s.member.unsupported(send.number, fault, s.now)
        s.poll()
        assert s.faults == [fault]


def test_a_commit_on_its_way_to_a_coordinator_that_was_given_up_leaves_nothing_to_do_but_wait() -> (
    None
):
    """CLI-13: a heartbeat is refused while the commit waits for its answer; whoever waits for the
    commit is not to go on at once."""
    s = Solo()
    s.enter()
    s.polling = False
    s.member.commit(s.now, {tp("orders-0"): Position(1)})
    s.now += 3_000
    s.member.tick(s.now)
    s.answer(HeartbeatResponse(error_code=E.COORDINATOR_NOT_AVAILABLE))
    assert s.disconnects != []
    assert s.member.commit_due is None
    s.member.disconnected(
        s.now
    )  # the driver tells that the connection is closed: now it is the commit's turn again
    assert s.member.commit_due is not None
