"""Group coordinators of three brokers: where they are, what moves with them, and what is told when
writes are not replicated."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.base.java_hash import coordinator_partition
from coordinator.kit.cluster import (
    CutLink,
    HealLink,
    MoveCoordinator,
    MoveLeader,
    ReassignPartition,
    SlowFollower,
    StartBroker,
    StopBroker,
    Verb,
)
from coordinator.server.cluster.internal_topics import partition_for
from coordinator.server.cluster.model import CONSUMER_OFFSETS
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.heartbeat import HeartbeatRequest
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from coordinator.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from coordinator.wire.messages.sync_group import SyncGroupRequest
from tests.server.broker.driver import Client, join, new_member
from tests.server.brokers.desk import Cluster

OFFSETS = "__consumer_offsets"
INDEX = coordinator_partition("g", 4)


def coordinator_of(cluster: Cluster, asked: int = 1) -> int:
    answer: Any = cluster.client(asked).ask(FindCoordinatorRequest(key="g", key_type=0), 3)
    found: int = answer.node_id
    return found


def commit(offset: int, group: str = "g") -> OffsetCommitRequest:
    return OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=-1,
        member_id="",
        topics=[
            OffsetCommitRequestTopic(
                name="orders",
                partitions=[
                    OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
                ],
            )
        ],
    )


def codes(client: Client) -> list[int]:
    return [
        row.error_code
        for answer in client.answers()
        for topic in answer.topics
        for row in topic.partitions
    ]  # type: ignore[attr-defined]


def codes_of(cluster: Cluster, node: int, offset: int) -> list[int]:
    """What a commit of an offset is told at a broker."""
    client = cluster.client(node)
    client.send(commit(offset), 7)
    return codes(client)


def committed(cluster: Cluster, node: int) -> int:
    """What OffsetFetch says at a broker; its error as a negative number."""
    answer: Any = cluster.client(node).ask(
        OffsetFetchRequest(
            group_id="g", topics=[OffsetFetchRequestTopic(name="orders", partition_indexes=[0])]
        ),
        7,
    )
    if answer.error_code:
        return -int(answer.error_code)
    found: int = answer.topics[0].partitions[0].committed_offset
    return found


def followers(cluster: Cluster) -> list[int]:
    partition = cluster.partition(INDEX, OFFSETS)
    return [node for node in partition.replicas if node != partition.leader]


@pytest.mark.parametrize("how", ["controlled", "crash", "pause"])
def test_commits_survive_their_coordinator(how: Any) -> None:
    """ERR-5, ERR-7"""
    cluster = Cluster()
    before = coordinator_of(cluster)
    assert (
        cluster.client(followers(cluster)[0]).ask(commit(1), 7).topics[0].partitions[0].error_code
        == ErrorCode.NOT_COORDINATOR
    )  # type: ignore[attr-defined]
    assert cluster.client(before).ask(commit(5), 7).topics[0].partitions[0].error_code == 0  # type: ignore[attr-defined]
    undo = cluster.do(StopBroker(before, how=how))
    cluster.pass_time(10_000)
    after = coordinator_of(cluster, next(node for node in (1, 2, 3) if node != before))
    assert after != before
    assert committed(cluster, after) == 5
    assert undo == StartBroker(before)
    cluster.do(undo)
    assert committed(cluster, before) == -ErrorCode.NOT_COORDINATOR


def test_a_copy_that_was_taken_away_and_added_again_is_loaded() -> None:
    """ERR-7: who led the groups' partition before, and had no copy for a while, loads the copy that
    it has now."""
    cluster = Cluster()
    first = coordinator_of(cluster)
    index = partition_for(cluster.runtime.configs[1], CONSUMER_OFFSETS, "g")
    other = followers(cluster)[0]
    assert codes_of(cluster, first, 1) == [0]
    for leader in (other, first):
        cluster.do(MoveLeader(CONSUMER_OFFSETS, index, leader))
    for replicas in ((first,), (first, *(node for node in (1, 2, 3) if node != first))):
        cluster.do(ReassignPartition(CONSUMER_OFFSETS, index, replicas))
        cluster.pass_time(1_000)
    assert codes_of(cluster, first, 2) == [0]
    cluster.do(MoveLeader(CONSUMER_OFFSETS, index, other))
    assert committed(cluster, other) == 2


def test_members_go_on_with_the_next_coordinator() -> None:
    """ERR-6: parked requests are told; ERR-7: a synced generation is there again, with whole
    sessions."""
    cluster = Cluster()
    before = coordinator_of(cluster)
    client = cluster.client(before)
    member = new_member(client)
    client.send(join("g", member), 9)
    cluster.pass_time(0)
    (joined,) = client.answers()
    assert joined.error_code == 0  # type: ignore[attr-defined]
    synced: Any = client.ask(
        SyncGroupRequest(
            group_id="g",
            generation_id=1,
            member_id=member,
            protocol_type="consumer",
            protocol_name="range",
            assignments=[],
        ),
        5,
    )
    assert synced.error_code == 0
    other = followers(cluster)[0]
    undo = cluster.do(MoveCoordinator("g", to=other))
    assert undo == MoveCoordinator("g", to=before)
    beat = HeartbeatRequest(group_id="g", generation_id=1, member_id=member)
    refused: Any = client.ask(beat, 4)
    assert refused.error_code == ErrorCode.NOT_COORDINATOR
    accepted: Any = cluster.client(other).ask(beat, 4)
    assert accepted.error_code == 0


def test_an_answer_leaves_when_its_write_is_replicated() -> None:
    """META-1"""
    cluster = Cluster()
    before = coordinator_of(cluster)
    cluster.do(SlowFollower(followers(cluster)[0], delay_ms=200))
    client = cluster.client(before)
    client.send(commit(5), 7)
    assert codes(client) == []
    cluster.pass_time(199)
    assert codes(client) == []
    cluster.pass_time(201)
    assert codes(client) == [0]


def test_a_write_that_is_not_replicated_in_time() -> None:
    """ERR-1: offsets.commit.timeout.ms makes COORDINATOR_NOT_AVAILABLE."""
    cluster = Cluster(
        config={"replica.lag.time.max.ms": "60000", "broker.session.timeout.ms": "60000"}
    )
    before = coordinator_of(cluster)
    cluster.do(StopBroker(followers(cluster)[0], how="pause"))
    client = cluster.client(before)
    client.send(commit(5), 7)
    cluster.pass_time(4_999)
    assert codes(client) == []
    cluster.pass_time(1)
    assert codes(client) == [ErrorCode.COORDINATOR_NOT_AVAILABLE]


def test_no_commit_is_acknowledged_by_a_coordinator_that_is_cut_off() -> None:
    """What it takes is never answered as done, and is gone when it follows its successor."""
    cluster = Cluster()
    stale = coordinator_of(cluster)
    rest = followers(cluster)
    client = cluster.client(stale)
    assert client.ask(commit(5), 7).topics[0].partitions[0].error_code == 0  # type: ignore[attr-defined]
    cuts: list[Verb] = [CutLink(stale, node) for node in rest]
    for cut in cuts:
        cluster.do(cut)
    client.send(commit(6), 7)
    cluster.pass_time(4_900)
    assert codes(client) == []
    after = coordinator_of(cluster, rest[0])
    assert after in rest
    assert cluster.client(after).ask(commit(7), 7).topics[0].partitions[0].error_code == 0  # type: ignore[attr-defined]
    for node in rest:
        cluster.do(HealLink(stale, node))
    assert codes(client) == [ErrorCode.NOT_COORDINATOR]
    assert committed(cluster, after) == 7
    cluster.do(MoveCoordinator("g", to=stale))
    assert committed(cluster, stale) == 7


def test_every_copy_holds_the_same_events() -> None:
    cluster = Cluster()
    client = cluster.client(coordinator_of(cluster))
    for offset in range(20):
        client.ask(commit(offset), 7)
    kept = [
        list(cluster.partition(INDEX, OFFSETS, at=node).log.durable.events()) for node in (1, 2, 3)
    ]  # type: ignore[attr-defined]
    assert kept[0] == kept[1] == kept[2]
    assert len(kept[0]) < 20, "what later commits replaced is compacted"
