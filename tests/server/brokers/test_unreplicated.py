"""What a group coordinator says while too few replicas of its partition are in sync, so that no
write is replicated (ERR-1, ERR-2)."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.core.groups.classic.decide.sync import NOT_STORED
from coordinator.kit.cluster import StartBroker, StopBroker
from coordinator.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from coordinator.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from coordinator.wire.messages.describe_groups import DescribeGroupsRequest
from coordinator.wire.messages.heartbeat import HeartbeatRequest
from coordinator.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.server.broker.driver import Client, join, new_member
from tests.server.brokers.desk import Cluster
from tests.server.brokers.test_coordinators import (
    codes,
    commit,
    committed,
    coordinator_of,
    followers,
)

TIMEOUT_MS = 5_000
"""offsets.commit.timeout.ms."""


class Starved:
    """A cluster whose coordinator of group "g" cannot have anything replicated: all replicas have
    to be in sync, and one is gone."""

    def __init__(self) -> None:
        self.cluster = Cluster()
        for configs in self.cluster.runtime.configs.values():
            configs.replace_dynamic({"min.insync.replicas": "3"}, for_all_brokers=True)
        self.node = coordinator_of(self.cluster)
        self.client = self.cluster.client(self.node)
        self.gone = followers(self.cluster)[0]

    def starve(self) -> None:
        self.cluster.do(StopBroker(self.gone))

    def feed(self) -> None:
        self.cluster.do(StartBroker(self.gone))

    def another(self) -> Client:
        return self.cluster.client(self.node)


@pytest.fixture
def starved() -> Starved:
    return Starved()


def sync(member: str, generation: int) -> SyncGroupRequest:
    """The leader's, with its own assignment."""
    return SyncGroupRequest(
        group_id="g",
        generation_id=generation,
        member_id=member,
        protocol_type="consumer",
        protocol_name="range",
        assignments=[SyncGroupRequestAssignment(member_id=member, assignment=b"a")],
    )


def follow(member: str, generation: int) -> SyncGroupRequest:
    return SyncGroupRequest(
        group_id="g",
        generation_id=generation,
        member_id=member,
        protocol_type="consumer",
        protocol_name="range",
    )


def told(client: Client) -> list[int]:
    return [answer.error_code for answer in client.answers()]  # type: ignore[attr-defined]


def test_a_commit_is_refused_when_its_time_is_over_and_counts_when_it_is_replicated(
    starved: Starved,
) -> None:
    client, cluster = starved.client, starved.cluster
    assert client.ask(commit(5), 7).topics[0].partitions[0].error_code == 0  # type: ignore[attr-defined]
    starved.starve()
    client.send(commit(6), 7)
    cluster.pass_time(TIMEOUT_MS - 1)
    assert codes(client) == []
    cluster.pass_time(1)
    assert codes(client) == [ErrorCode.COORDINATOR_NOT_AVAILABLE]
    assert committed(cluster, starved.node) == 5
    starved.feed()
    assert committed(cluster, starved.node) == 6


def test_a_commit_is_acknowledged_when_it_is_replicated_in_time(starved: Starved) -> None:
    starved.starve()
    starved.client.send(commit(6), 7)
    starved.cluster.pass_time(TIMEOUT_MS - 1)
    starved.feed()
    assert codes(starved.client) == [0]


def test_a_heartbeat_waits_for_what_was_written_before_it_unless_it_is_refused(
    starved: Starved,
) -> None:
    client = starved.client
    member = new_member(client)
    client.ask(join("g", member), 9)
    assert client.ask(sync(member, 1), 5).error_code == ErrorCode.NONE  # type: ignore[attr-defined]
    beat = HeartbeatRequest(group_id="g", member_id=member, generation_id=1)
    starved.starve()
    assert client.ask(beat, 4).error_code == ErrorCode.NONE  # type: ignore[attr-defined]
    writer, stranger = starved.another(), starved.another()
    request = commit(1)
    request.member_id, request.generation_id_or_member_epoch = member, 1
    writer.send(request, 7)
    assert codes(writer) == []
    client.send(beat, 4)
    assert (
        stranger.ask(HeartbeatRequest(group_id="g", member_id="who"), 4).error_code
        == ErrorCode.UNKNOWN_MEMBER_ID
    )  # type: ignore[attr-defined]
    assert told(client) == []
    starved.feed()
    assert told(client) == [ErrorCode.NONE]


def test_a_generation_that_is_not_stored_in_time_rebalances(starved: Starved) -> None:
    client, cluster = starved.client, starved.cluster
    starved.starve()
    member = new_member(client)
    joined: Any = client.ask(join("g", member), 9)
    assert joined.error_code == ErrorCode.NONE, (
        "the join phase writes nothing that a member has to wait for"
    )
    client.send(sync(member, joined.generation_id), 5)
    [row] = starved.another().ask(DescribeGroupsRequest(groups=["g"]), 6).groups  # type: ignore[attr-defined]
    assert row.error_code == ErrorCode.GROUP_ID_NOT_FOUND, "nobody else has it"
    cluster.pass_time(TIMEOUT_MS)
    assert told(client) == [ErrorCode.COORDINATOR_NOT_AVAILABLE]
    starved.feed()
    beat = HeartbeatRequest(group_id="g", member_id=member, generation_id=joined.generation_id)
    assert client.ask(beat, 4).error_code == ErrorCode.REBALANCE_IN_PROGRESS  # type: ignore[attr-defined]


@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("stored", [True, False])
def test_followers_wait_until_the_generation_is_stored(
    starved: Starved, *, early: bool, stored: bool
) -> None:
    """SYNC-2, SYNC-3, ERR-2: a follower hears of its assignment, or of its loss, when the leader
    does."""
    cluster, leader, follower = starved.cluster, starved.client, starved.another()
    first, second = new_member(leader), new_member(follower)
    leader.ask(join("g", first), 9)
    follower.send(join("g", second), 9)
    leader.send(join("g", first), 9)
    [joined], [_] = leader.answers(), follower.answers()
    generation = joined.generation_id  # type: ignore[attr-defined]
    assert joined.leader == first  # type: ignore[attr-defined]
    starved.starve()
    plan = sync(first, generation)
    plan.assignments.append(SyncGroupRequestAssignment(member_id=second, assignment=b"b"))
    if early:
        follower.send(follow(second, generation), 5)
    leader.send(plan, 5)
    if not early:
        cluster.pass_time(1)
        follower.send(follow(second, generation), 5)
    assert (told(leader), told(follower)) == ([], [])
    if stored:
        starved.feed()
    else:
        cluster.pass_time(TIMEOUT_MS - (not early))
    expected = (
        [(b"a", 0), (b"b", 0)] if stored else [(b"", ErrorCode.COORDINATOR_NOT_AVAILABLE)] * 2
    )
    begun = [line for line in cluster.logged("RebalanceStarted") if line["reason"] == NOT_STORED]
    assert len(begun) == (0 if stored else 1), "one rebalance, however many wait"
    assert [
        (told.assignment, told.error_code)
        for client in (leader, follower)
        for told in client.answers()
    ] == expected  # type: ignore[attr-defined]


def test_heartbeats_of_consumers(starved: Starved) -> None:
    """One that writes nothing is answered; a join is refused when its time is over, and counts all
    the same."""
    client, cluster = starved.client, starved.cluster
    hello: dict[str, Any] = {
        "group_id": "g",
        "rebalance_timeout_ms": 60_000,
        "subscribed_topic_names": ["orders"],
        "topic_partitions": [],
    }
    first: Any = client.ask(ConsumerGroupHeartbeatRequest(member_id="a", **hello), 1)
    assert first.error_code == ErrorCode.NONE
    starved.starve()
    beat = ConsumerGroupHeartbeatRequest(
        group_id="g", member_id="a", member_epoch=first.member_epoch
    )
    if client.ask(beat, 1).error_code:  # type: ignore[attr-defined]
        pytest.fail("a heartbeat that writes nothing has nothing to wait for")
    other = starved.another()
    other.send(ConsumerGroupHeartbeatRequest(member_id="b", **hello), 1)
    cluster.pass_time(TIMEOUT_MS)
    assert told(other) == [ErrorCode.COORDINATOR_NOT_AVAILABLE]

    def members() -> int:
        answer: Any = other.ask(ConsumerGroupDescribeRequest(group_ids=["g"]), 1)
        return len(answer.groups[0].members)

    assert members() == 1
    starved.feed()
    assert members() == 2
