"""The wall clock of a broker's host jumps: what is dated by it follows, what waits for time does
not (EXP-1, EXP-2, OC-8)."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.events.groups import OffsetsCommitted
from coordinator.history.explain.output import as_text, timeline_of
from coordinator.kit.cluster import (
    JumpClock,
    MoveCoordinator,
    StartBroker,
    StopBroker,
    from_plain,
    to_plain,
)
from coordinator.server.cluster_runtime import ClusterError
from coordinator.server.replay.one_broker import group_events
from coordinator.wire.messages.heartbeat import HeartbeatRequest
from coordinator.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from coordinator.wire.messages.offset_commit import OffsetCommitRequest
from coordinator.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.server.brokers.desk import Cluster, produce
from tests.server.brokers.test_coordinators import (
    codes,
    commit,
    committed,
    coordinator_of,
    followers,
)

_DAY_MS = 86_400_000
_ZERO_MS = 1_000_000  # the wall clock of the desk's zero
_CHECK_MS = 60_000


def desk(**config: str) -> Cluster:
    return Cluster(
        config={
            "offsets.retention.minutes": "1440",
            "offsets.retention.check.interval.ms": str(_CHECK_MS),
            **config,
        }
    )


def commits(cluster: Cluster, node: int, request: OffsetCommitRequest, version: int = 7) -> None:
    client = cluster.client(node)
    client.send(request, version)
    assert codes(client) == [0]


def append_time(cluster: Cluster, node: int) -> int:
    answer: Any = cluster.client(node).ask(produce(acks=1), 9)
    [partition] = answer.responses[0].partition_responses
    told: int = partition.log_append_time_ms
    return told


def test_records_are_dated_by_the_clock_of_their_leader() -> None:
    cluster = desk(**{"log.message.timestamp.type": "LogAppendTime"})
    leader = cluster.partition().leader
    cluster.pass_time(50)
    assert append_time(cluster, leader) == _ZERO_MS + 50
    assert cluster.do(JumpClock(leader, _DAY_MS)) == JumpClock(leader, -_DAY_MS)
    assert append_time(cluster, leader) == _ZERO_MS + _DAY_MS + 50
    assert [line["by_ms"] for line in cluster.logged("JumpClock")] == [_DAY_MS]
    other = 1 if leader != 1 else 2
    cluster.do(JumpClock(other, 7))
    assert append_time(cluster, leader) == _ZERO_MS + _DAY_MS + 50
    cluster.do(JumpClock(leader, -_DAY_MS))
    assert append_time(cluster, leader) == _ZERO_MS + 50


def test_a_clock_is_its_hosts_and_outlives_the_process() -> None:
    """Also where it jumps while no process runs."""
    cluster = desk(**{"log.message.timestamp.type": "LogAppendTime"})
    leader = cluster.partition().leader
    cluster.do(JumpClock(leader, _DAY_MS))
    cluster.do(StopBroker(leader))
    cluster.do(JumpClock(leader, 5))
    cluster.do(StartBroker(leader))
    cluster.pass_time(5_000)
    assert cluster.runtime.brokers[leader].epoch_ms == _ZERO_MS + _DAY_MS + 5


def test_offsets_expire_by_the_clock_of_their_coordinator() -> None:
    """EXP-2: a day passes in an instant; what is looked for is looked for when it is time by the
    timer (EXP-5)."""
    cluster = desk()
    node = coordinator_of(cluster)
    commits(cluster, node, commit(5))
    cluster.do(JumpClock(node, _DAY_MS))
    cluster.pass_time(_CHECK_MS - 1)
    assert committed(cluster, node) == 5
    cluster.pass_time(1)
    assert committed(cluster, node) == -1


def test_a_day_less_a_minute_is_not_a_day() -> None:
    """EXP-2"""
    cluster = desk()
    node = coordinator_of(cluster)
    commits(cluster, node, commit(5))
    cluster.do(JumpClock(node, _DAY_MS - _CHECK_MS - 1))
    cluster.pass_time(_CHECK_MS)
    assert committed(cluster, node) == 5
    cluster.pass_time(_CHECK_MS)
    assert committed(cluster, node) == -1


def test_what_is_committed_after_a_jump_is_dated_after_it() -> None:
    """EXP-2: it does not expire for having been committed on a clock that is ahead, until that
    clock goes a day further."""
    cluster = desk()
    node = coordinator_of(cluster)
    cluster.do(JumpClock(node, 30 * _DAY_MS))
    commits(cluster, node, commit(5))
    cluster.pass_time(2 * _CHECK_MS)
    assert committed(cluster, node) == 5
    cluster.do(JumpClock(node, _DAY_MS))
    cluster.pass_time(_CHECK_MS)
    assert committed(cluster, node) == -1


def test_a_clock_that_goes_back_keeps_offsets() -> None:
    """EXP-2"""
    cluster = desk()
    node = coordinator_of(cluster)
    commits(cluster, node, commit(5))
    cluster.do(JumpClock(node, -600_000))
    cluster.pass_time(_DAY_MS)
    assert committed(cluster, node) == 5
    cluster.pass_time(600_000 + _CHECK_MS)
    assert committed(cluster, node) == -1


def test_a_retention_time_of_the_commits_own_ends_by_the_clock() -> None:
    """OC-8"""
    cluster = desk()
    node = coordinator_of(cluster)
    request = commit(5)
    request.retention_time_ms = 10 * _DAY_MS
    cluster.do(JumpClock(node, _DAY_MS))
    commits(cluster, node, request, version=2)
    cluster.do(JumpClock(node, 9 * _DAY_MS))
    cluster.pass_time(_CHECK_MS)
    assert committed(cluster, node) == 5
    cluster.do(JumpClock(node, _DAY_MS))
    cluster.pass_time(_CHECK_MS)
    assert committed(cluster, node) == -1


def test_another_coordinator_looks_by_its_own_clock() -> None:
    """What was committed on a clock that is a month ahead is kept for a month longer by one that is
    not."""
    cluster = desk(**{"auto.leader.rebalance.enable": "false"})
    first = coordinator_of(cluster)
    cluster.do(JumpClock(first, 30 * _DAY_MS))
    commits(cluster, first, commit(5))
    second = followers(cluster)[0]
    cluster.do(MoveCoordinator("g", second))
    cluster.pass_time(2 * _DAY_MS)
    assert committed(cluster, second) == 5
    cluster.do(JumpClock(second, 29 * _DAY_MS))
    cluster.pass_time(_CHECK_MS)
    assert committed(cluster, second) == -1


def test_no_session_ends_by_it() -> None:
    """SES-1: neither sessions nor phases of a rebalance: they are timers."""
    cluster = desk(**{"group.initial.rebalance.delay.ms": "0"})
    node = coordinator_of(cluster)
    client = cluster.client(node)
    join = JoinGroupRequest(
        group_id="g",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        member_id="",
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )
    told: Any = client.ask(join, 3)
    cluster.pass_time(1)
    cluster.do(JumpClock(node, 365 * _DAY_MS))
    member = {"group_id": "g", "generation_id": told.generation_id, "member_id": told.member_id}
    client.ask(
        SyncGroupRequest(
            **member,
            assignments=[SyncGroupRequestAssignment(member_id=told.member_id, assignment=b"")],
        ),
        3,
    )
    cluster.do(JumpClock(node, -364 * _DAY_MS))
    cluster.pass_time(9_000)
    beats: Any = client.ask(HeartbeatRequest(**member), 3)
    assert beats.error_code == 0
    cluster.pass_time(9_999)
    assert cluster.logged("MemberRemoved") == []
    cluster.pass_time(2)
    assert [line["reason"] for line in cluster.logged("MemberRemoved")] == ["session expired"]


def test_a_group_that_became_empty_counts_from_then_by_the_clock() -> None:
    """EXP-1: since it became Empty."""
    cluster = desk(**{"group.initial.rebalance.delay.ms": "0"})
    node = coordinator_of(cluster)
    cluster.do(JumpClock(node, 3 * _DAY_MS))
    join = JoinGroupRequest(
        group_id="g",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        member_id="",
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )
    told: Any = cluster.client(node).ask(join, 3)
    request = commit(5)
    request.member_id, request.generation_id_or_member_epoch = told.member_id, told.generation_id
    client = cluster.client(node)
    client.send(request, 7)
    assert codes(client) in ([0], [27])
    cluster.pass_time(10_001)
    assert len(cluster.logged("GroupEmptied")) == 1
    commits(cluster, node, commit(6))
    cluster.pass_time(2 * _CHECK_MS)
    assert committed(cluster, node) == 6
    cluster.do(JumpClock(node, _DAY_MS))
    cluster.pass_time(_CHECK_MS)
    assert committed(cluster, node) == -1


def test_the_log_tells_of_it() -> None:
    """A replay dates commits as their broker did, and `explain` says why offsets expired."""
    cluster = desk()
    node = coordinator_of(cluster)
    cluster.do(JumpClock(node, 10 * _DAY_MS))
    commits(cluster, node, commit(5))
    cluster.do(JumpClock(node, _DAY_MS + 3_600_000))
    cluster.pass_time(_CHECK_MS)
    lines = list(cluster.log.read())
    [at_ms] = [
        logged.at_ms for logged in group_events(lines) if type(logged.event) is OffsetsCommitted
    ]
    assert at_ms == 10 * _DAY_MS
    timeline = timeline_of(lines)
    text = "\n".join(as_text(timeline, timeline.groups.values()))
    assert (
        f"The offsets committed for orders 0 expired (EXP-1): the wall clock of broker {node}'s host has jumped and is now "
        "11 days 1 h ahead of what it would be."
    ) in text


@pytest.mark.parametrize(
    ("verb", "why"),
    [
        (JumpClock(9, 5), "there is no broker 9: the brokers are 1, 2, 3"),
        (
            JumpClock(1, 0),
            "by_ms=0: the clock would not jump; give milliseconds, negative ones to go back",
        ),
        (
            JumpClock(1, -1_000_001),
            "by_ms=-1000001: the clock shows 1970-01-01; it can go back to 1970 and forward to the end of 9999",
        ),
        (
            JumpClock(1, 10**15),
            f"by_ms={10**15}: the clock shows 1970-01-01; it can go back to 1970 and forward to the end of 9999",
        ),
    ],
)
def test_jumps_that_cannot_be(verb: JumpClock, why: str) -> None:
    cluster = desk()
    with pytest.raises(ClusterError) as refused:
        cluster.do(verb)
    assert str(refused.value) == why
    assert cluster.logged("JumpClock") == []
    assert cluster.runtime.brokers[1].epoch_ms == _ZERO_MS


def test_it_is_plain_data() -> None:
    assert from_plain(to_plain(JumpClock(2, -5))) == JumpClock(2, -5)
    with pytest.raises(ClusterError, match="JumpClock: by_ms is 'x'; give a whole number"):
        from_plain({"verb": "JumpClock", "broker": 1, "by_ms": "x"})
