"""DeleteRecords, timed-out Produce, epochs and fetch sessions of three brokers, where a recorded
scenario cannot reach every case."""

from __future__ import annotations

from typing import Any

from coordinator.base.errors import ErrorCode
from coordinator.kit.cluster import MoveLeader, SlowFollower, StartBroker, StopBroker
from coordinator.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from coordinator.wire.messages.reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from coordinator.wire.messages.topics import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from tests.server.brokers.desk import Cluster, produce


def delete(offset: int, timeout_ms: int = 500) -> DeleteRecordsRequest:
    """Delete the records of partition 0 below an offset."""
    return DeleteRecordsRequest(
        timeout_ms=timeout_ms,
        topics=[
            DeleteRecordsTopic(
                name="orders", partitions=[DeleteRecordsPartition(partition_index=0, offset=offset)]
            )
        ],
    )


def told(client: Any) -> list[tuple[int, int]]:
    """Error and low watermark of each answer."""
    rows = [answer.topics[0].partitions[0] for answer in client.answers()]
    return [(row.error_code, row.low_watermark) for row in rows]


def with_records(config: dict[str, str] | None = None) -> tuple[Cluster, Any, list[int]]:
    """A cluster with two records in partition 0, a client of its leader, and its followers."""
    cluster = Cluster(config=config)
    leader = cluster.partition().leader
    client = cluster.client(leader)
    for _ in range(2):
        client.send(produce(), 9)
    client.answers()
    return cluster, client, [node for node in (1, 2, 3) if node != leader]


def starts(cluster: Cluster) -> list[int]:
    return [cluster.partition(at=node).log.log_start_offset for node in (1, 2, 3)]


def test_records_are_deleted_at_every_replica_before_the_answer() -> None:
    cluster, client, _ = with_records()
    client.send(delete(1), 2)
    assert told(client) == [(0, 1)]
    assert starts(cluster) == [1, 1, 1]


def test_the_answer_waits_for_a_slow_follower() -> None:
    cluster, client, (slow, _) = with_records()
    cluster.do(SlowFollower(slow, delay_ms=100))
    client.send(delete(1), 2)
    cluster.pass_time(99)
    assert told(client) == []
    cluster.pass_time(1)
    assert told(client) == [(0, 1)]
    assert starts(cluster) == [1, 1, 1]


def test_a_silent_follower_is_waited_for_until_the_time_is_over() -> None:
    cluster, client, (silent, _) = with_records(
        {"broker.session.timeout.ms": "60000", "replica.lag.time.max.ms": "30000"}
    )
    cluster.do(StopBroker(silent, how="pause"))
    client.send(delete(1), 2)
    cluster.pass_time(499)
    assert told(client) == []
    cluster.pass_time(1)
    assert told(client) == [(ErrorCode.REQUEST_TIMED_OUT, 0)]
    cluster.do(StartBroker(silent))
    client.send(delete(1), 2)
    assert told(client) == [(0, 1)]


def test_a_follower_that_is_fenced_is_not_waited_for() -> None:
    cluster, client, (gone, _) = with_records()
    cluster.do(StopBroker(gone, how="crash"))
    cluster.pass_time(5_000)
    client.send(delete(2), 2)
    assert told(client) == [(0, 2)]


def test_a_new_leader_answers_for_the_old_one() -> None:
    cluster, client, (silent, other) = with_records(
        {"broker.session.timeout.ms": "60000", "replica.lag.time.max.ms": "30000"}
    )
    cluster.do(StopBroker(silent, how="pause"))
    client.send(delete(1, timeout_ms=10_000), 2)
    cluster.do(MoveLeader("orders", 0, other))
    cluster.pass_time(10_000)
    assert told(client) == [(ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)]


def test_produce_that_timed_out_says_where_its_records_stand() -> None:
    cluster, client, (silent, _) = with_records(
        {"broker.session.timeout.ms": "60000", "replica.lag.time.max.ms": "30000"}
    )
    cluster.do(StopBroker(silent, how="pause"))
    client.send(produce(timeout_ms=500), 9)
    cluster.pass_time(500)
    (answer,) = client.answers()
    row = answer.responses[0].partition_responses[0]
    assert (row.error_code, row.base_offset, row.log_start_offset) == (
        ErrorCode.REQUEST_TIMED_OUT,
        2,
        0,
    )


def test_an_epoch_without_records_is_forgotten() -> None:
    cluster, _, (second, third) = with_records()
    first = cluster.partition().leader
    for node in (second, third, first):
        cluster.do(MoveLeader("orders", 0, node))
    log = cluster.partition(at=first).log
    epochs = [log.epoch_end(epoch) for epoch in range(log.last_epoch + 1)]
    assert {end.epoch for end in epochs} == {0, log.last_epoch}
    assert {end.end_offset for end in epochs} == {2}


def test_a_session_hears_that_a_replica_has_moved_away() -> None:
    """Also where there is nothing new to read, or its consumer would wait there for ever."""
    cluster = Cluster(config={"default.replication.factor": "2"})
    leader = cluster.partition().leader
    client = cluster.client(leader)
    wanted = FetchTopic(
        topic="orders",
        partitions=[FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1_000)],
    )
    opened: Any = client.ask(
        FetchRequest(max_wait_ms=0, min_bytes=0, session_epoch=0, topics=[wanted]), 12
    )
    again: Any = client.ask(
        FetchRequest(max_wait_ms=0, min_bytes=0, session_id=opened.session_id, session_epoch=1), 12
    )
    assert again.responses == []
    others = [node for node in (1, 2, 3) if node != leader]
    entry = ReassignablePartition(partition_index=0, replicas=others)
    client.ask(
        AlterPartitionReassignmentsRequest(
            timeout_ms=1_000, topics=[ReassignableTopic(name="orders", partitions=[entry])]
        ),
        0,
    )
    cluster.pass_time(1_000)
    assert cluster.partition().replicas == others
    moved: Any = client.ask(
        FetchRequest(max_wait_ms=0, min_bytes=0, session_id=opened.session_id, session_epoch=2), 12
    )
    assert moved.responses[0].partitions[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
