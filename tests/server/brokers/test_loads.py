"""What a coordinator tells while it loads, what it shows before its writes are replicated, and what
a new leader does not know yet."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.core import group_coordinator
from coordinator.kit.cluster import MoveCoordinator, MoveLeader, SlowFollower, SlowLoad
from coordinator.server.cluster.internal_topics import partition_for
from coordinator.server.cluster.model import TRANSACTION_STATE
from coordinator.server.cluster_runtime import ClusterError
from coordinator.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from coordinator.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from coordinator.wire.messages.heartbeat import HeartbeatRequest
from coordinator.wire.messages.list_groups import ListGroupsRequest
from coordinator.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from coordinator.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from coordinator.wire.messages.transactions import InitProducerIdRequest
from tests.server.brokers.desk import Cluster, produce
from tests.server.brokers.test_coordinators import (
    codes,
    commit,
    committed,
    coordinator_of,
    followers,
)


def stable(cluster: Cluster, node: int) -> int:
    """The committed offset as a fetch that requires stable offsets is told."""
    answer: Any = cluster.client(node).ask(
        OffsetFetchRequest(
            group_id="g",
            topics=[OffsetFetchRequestTopic(name="orders", partition_indexes=[0])],
            require_stable=True,
        ),
        7,
    )
    offset: int = answer.topics[0].partitions[0].committed_offset
    return offset


def test_a_load_takes_the_time_that_it_is_given() -> None:
    """ERR-4: 14 meanwhile, heartbeats blindly 0; then all that was committed is there."""
    cluster = Cluster()
    first = coordinator_of(cluster)
    assert codes_of(cluster, first, commit(5)) == [0]
    second = followers(cluster)[0]
    assert cluster.do(SlowLoad(second, 500)) == SlowLoad(second, 0)
    cluster.do(MoveCoordinator("g", second))
    assert coordinator_of(cluster) == second
    assert committed(cluster, second) == -ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert codes_of(cluster, second, commit(6)) == [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS]
    heartbeat: Any = cluster.client(second).ask(
        HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 4
    )
    assert heartbeat.error_code == 0
    listed: Any = cluster.client(second).ask(ListGroupsRequest(), 4)
    assert listed.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    cluster.pass_time(499)
    assert committed(cluster, second) == -ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    cluster.pass_time(1)
    assert committed(cluster, second) == 5


def test_a_leader_that_goes_while_it_loads_serves_nothing() -> None:
    cluster = Cluster()
    first = coordinator_of(cluster)
    assert codes_of(cluster, first, commit(5)) == [0]
    second = followers(cluster)[0]
    cluster.do(SlowLoad(second, 500))
    cluster.do(MoveCoordinator("g", second))
    cluster.do(MoveCoordinator("g", first))
    cluster.pass_time(1_000)
    assert committed(cluster, second) == -ErrorCode.NOT_COORDINATOR
    assert committed(cluster, first) == 5


def test_consumer_groups_load_as_long() -> None:
    """ConsumerGroupHeartbeat, whatever it asks for, and ConsumerGroupDescribe."""
    cluster = Cluster()
    first = coordinator_of(cluster)
    hello: dict[str, Any] = {
        "rebalance_timeout_ms": 1_000,
        "subscribed_topic_names": ["orders"],
        "topic_partitions": [],
    }
    joined: Any = cluster.client(first).ask(
        ConsumerGroupHeartbeatRequest(group_id="g", member_id="m", **hello), 1
    )
    assert joined.error_code == ErrorCode.NONE
    second = followers(cluster)[0]
    cluster.do(SlowLoad(second, 500))
    cluster.do(MoveCoordinator("g", second))
    client = cluster.client(second)

    def errors() -> list[int]:
        requests = [
            ConsumerGroupHeartbeatRequest(
                group_id="g", member_id="m", member_epoch=joined.member_epoch
            ),
            ConsumerGroupHeartbeatRequest(group_id="g", member_id="who", member_epoch=-1),
            ConsumerGroupHeartbeatRequest(group_id="", member_id="m"),
            ConsumerGroupDescribeRequest(group_ids=["g"]),
        ]
        answers: list[Any] = [client.ask(request, 1) for request in requests]
        return [
            getattr(answer, "error_code", None) or answer.groups[0].error_code for answer in answers
        ]

    loading, ours = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.INVALID_REQUEST
    assert errors() == [loading, loading, ours, loading]
    cluster.pass_time(500)
    again: Any = client.ask(
        ConsumerGroupHeartbeatRequest(
            group_id="g", member_id="m", member_epoch=joined.member_epoch
        ),
        1,
    )
    assert (again.error_code, again.member_epoch) == (ErrorCode.NONE, joined.member_epoch)


def test_transactional_ids_load_as_long() -> None:
    cluster = Cluster()
    request = InitProducerIdRequest(
        transactional_id="t", transaction_timeout_ms=1_000, producer_id=-1, producer_epoch=-1
    )
    for node in (1, 2, 3):  # has the topic made
        cluster.client(node).ask(find_transactions(), 3)
    index = partition_for(cluster.runtime.configs[1], TRANSACTION_STATE, "t")
    first = cluster.partition(index, TRANSACTION_STATE).leader
    told: Any = cluster.client(first).ask(request, 4)
    assert told.error_code == 0
    second = next(node for node in (1, 2, 3) if node != first)
    cluster.do(SlowLoad(second, 500))
    cluster.do(MoveLeader(TRANSACTION_STATE, index, second))
    loading: Any = cluster.client(second).ask(request, 4)
    assert loading.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    cluster.pass_time(500)
    again: Any = cluster.client(second).ask(request, 4)
    assert (again.error_code, again.producer_id, again.producer_epoch) == (0, told.producer_id, 1)


def test_a_load_goes_on_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_coordinator, "SLICE", 1)
    cluster = Cluster()
    first = coordinator_of(cluster)
    assert codes_of(cluster, first, commit(5)) == [0]
    second = followers(cluster)[0]
    runtime, ticks = cluster.runtime, 0
    cluster.hosts.move_leader(
        "__consumer_offsets",
        cluster.runtime.brokers[1].coordinator.partition_for("g"),
        second,
        cluster.now,
    )
    while runtime.brokers[second].coordinator.next_deadline() == cluster.now:
        runtime.tick(cluster.now)
        ticks += 1
    assert ticks > 1, "more than one slice"
    assert committed(cluster, second) == 5


def test_reads_show_what_is_replicated() -> None:
    """META-2: but for one that requires stable offsets, which sees what was written last."""
    cluster = Cluster()
    node = coordinator_of(cluster)
    assert codes_of(cluster, node, commit(5)) == [0]
    cluster.do(SlowFollower(followers(cluster)[0], delay_ms=100))
    client = cluster.client(node)
    client.send(commit(9), 7)
    assert client.answers() == []
    assert committed(cluster, node) == 5
    reader = cluster.client(node)
    reader.send(
        OffsetFetchRequest(
            group_id="g",
            topics=[OffsetFetchRequestTopic(name="orders", partition_indexes=[0])],
            require_stable=True,
        ),
        7,
    )
    cluster.pass_time(1_000)
    assert codes(client) == [0]
    assert committed(cluster, node) == stable(cluster, node) == 9


def test_a_consumer_group_is_described_as_it_is_replicated() -> None:
    """META-2, KIP-848."""
    cluster = Cluster()
    node = coordinator_of(cluster)
    beat = ConsumerGroupHeartbeatRequest(
        group_id="g",
        member_id="m",
        member_epoch=0,
        rebalance_timeout_ms=1_000,
        subscribed_topic_names=["orders"],
        topic_partitions=[],
    )
    describe = ConsumerGroupDescribeRequest(group_ids=["g"])
    cluster.do(SlowFollower(followers(cluster)[0], delay_ms=100))
    client = cluster.client(node)
    client.send(beat, 1)
    assert client.answers() == []
    before: Any = cluster.client(node).ask(describe, 1)
    assert before.groups[0].error_code == ErrorCode.GROUP_ID_NOT_FOUND
    cluster.pass_time(1_000)
    assert len(client.answers()) == 1
    after: Any = cluster.client(node).ask(describe, 1)
    assert len(after.groups[0].members) == 1


@pytest.mark.parametrize(
    ("version", "error"), [(5, ErrorCode.OFFSET_NOT_AVAILABLE), (4, ErrorCode.LEADER_NOT_AVAILABLE)]
)
def test_a_new_leader_does_not_know_the_end_at_once(version: int, error: ErrorCode) -> None:
    """KIP-207: records before its epoch may be committed, though its high watermark does not say so
    yet."""
    cluster = Cluster()
    leader = cluster.partition().leader
    second, third = (node for node in cluster.partition().replicas if node != leader)
    cluster.do(SlowFollower(second, delay_ms=100))
    cluster.do(SlowFollower(third, delay_ms=300))
    cluster.client(leader).send(produce(acks=1), 9)
    cluster.pass_time(150)
    cluster.do(MoveLeader("orders", 0, second))
    ask = ListOffsetsRequest(
        replica_id=-1,
        topics=[
            ListOffsetsTopic(
                name="orders", partitions=[ListOffsetsPartition(partition_index=0, timestamp=-1)]
            )
        ],
    )
    told: Any = cluster.client(second).ask(ask, version)
    assert told.topics[0].partitions[0].error_code == error
    first = ListOffsetsRequest(
        replica_id=-1,
        topics=[
            ListOffsetsTopic(
                name="orders", partitions=[ListOffsetsPartition(partition_index=0, timestamp=-2)]
            )
        ],
    )
    earliest: Any = cluster.client(second).ask(first, version)
    assert earliest.topics[0].partitions[0].error_code == 0
    cluster.pass_time(1_000)
    told = cluster.client(second).ask(ask, version)
    assert (told.topics[0].partitions[0].error_code, told.topics[0].partitions[0].offset) == (0, 1)


def test_a_load_cannot_take_less_than_no_time() -> None:
    with pytest.raises(ClusterError, match="load_ms=-1: a length of time is not negative"):
        Cluster().do(SlowLoad(1, -1))


def codes_of(cluster: Cluster, node: int, request: Any) -> list[int]:
    client = cluster.client(node)
    client.send(request, 7)
    return codes(client)


def find_transactions() -> Any:
    from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest

    return FindCoordinatorRequest(key="t", key_type=1)
