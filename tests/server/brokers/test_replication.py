"""Replicas of a partition on three brokers: the high watermark, the ISR, acks=all, followers that
serve, truncation."""

from __future__ import annotations

from typing import Any

from coordinator.base.errors import ErrorCode
from coordinator.kit.cluster import (
    CutLink,
    HealLink,
    MoveLeader,
    SlowFollower,
    StartBroker,
    StopBroker,
)
from coordinator.server.storage.replica_log import ReplicaLog
from coordinator.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from coordinator.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from coordinator.wire.messages.produce import ProduceResponse
from tests.server.broker.driver import Client
from tests.server.brokers.desk import Cluster, produce


def told(client: Client) -> list[int]:
    """Error codes of the Produce answers that came."""
    codes = []
    for answer in client.answers():
        assert isinstance(answer, ProduceResponse)
        codes += [
            partition.error_code
            for topic in answer.responses
            for partition in topic.partition_responses
        ]
    return codes


def fetch(offset: int = 0, *, wait_ms: int = 0, rack: str = "", epoch: int = -1) -> FetchRequest:
    return FetchRequest(
        max_wait_ms=wait_ms,
        min_bytes=1,
        max_bytes=1 << 20,
        rack_id=rack,
        topics=[
            FetchTopic(
                topic="orders",
                partitions=[
                    FetchPartition(
                        partition=0,
                        fetch_offset=offset,
                        partition_max_bytes=1 << 20,
                        current_leader_epoch=epoch,
                    )
                ],
            )
        ],
    )


def fetched(client: Client, request: FetchRequest, version: int = 12) -> Any:
    answer = client.ask(request, version)
    assert isinstance(answer, FetchResponse)
    return answer.responses[0].partitions[0]


def others(cluster: Cluster) -> list[int]:
    """The followers of partition 0."""
    partition = cluster.partition()
    return [node for node in partition.replicas if node != partition.leader]


def test_every_replica_has_what_was_acknowledged() -> None:
    cluster = Cluster()
    client = cluster.client(cluster.partition().leader)
    client.send(produce(), 9)
    assert told(client) == [ErrorCode.NONE]
    logs = [cluster.partition(at=node).log for node in (1, 2, 3)]
    assert [(log.log_end_offset, log.high_watermark) for log in logs] == [(1, 1)] * 3
    first, *rest = (log._pieces for log in logs)
    assert all(one is other for copy in rest for one, other in zip(first, copy, strict=True)), (
        "bytes are shared"
    )


def test_a_slow_follower_holds_the_high_watermark_and_acks_all() -> None:
    cluster = Cluster()
    leader, slow = cluster.partition().leader, others(cluster)[0]
    cluster.do(SlowFollower(slow, delay_ms=100))
    client, reader = cluster.client(leader), cluster.client(leader)
    client.send(produce(), 9)
    assert told(client) == []
    assert not fetched(reader, fetch()).records, "what is not committed is not read"
    cluster.pass_time(99)
    assert told(client) == []
    cluster.pass_time(1)
    assert told(client) == [ErrorCode.NONE]
    assert fetched(reader, fetch()).records


def test_acks_all_times_out_while_a_replica_in_sync_is_silent() -> None:
    cluster = Cluster(
        config={"broker.session.timeout.ms": "60000", "replica.lag.time.max.ms": "30000"}
    )
    client = cluster.client(cluster.partition().leader)
    cluster.do(StopBroker(others(cluster)[0], how="pause"))
    client.send(produce(timeout_ms=500), 9)
    cluster.pass_time(499)
    assert told(client) == []
    cluster.pass_time(1)
    assert told(client) == [ErrorCode.REQUEST_TIMED_OUT]


def test_who_lags_too_long_leaves_the_isr_and_comes_back() -> None:
    """replica.lag.time.max.ms, KIP-497."""
    cluster = Cluster(config={"broker.session.timeout.ms": "60000"})
    leader, lost = cluster.partition().leader, others(cluster)[0]
    client = cluster.client(leader)
    cut = cluster.do(CutLink(leader, lost))
    cluster.pass_time(999)
    assert lost in cluster.partition().isr
    cluster.pass_time(1)
    assert lost not in cluster.partition().isr
    client.send(produce(), 9)
    assert told(client) == [ErrorCode.NONE]
    assert cut == HealLink(leader, lost)
    cluster.do(cut)
    assert cluster.partition().isr == [1, 2, 3], "ascending once it grew"
    assert cluster.partition(at=lost).log.log_end_offset == 1
    reasons = [
        line["reason"]
        for line in cluster.logged("IsrShrunk")
        if (line["topic"], line["partition"]) == ("orders", 0)
    ]
    assert reasons == [f"{lost} did not keep up for 1000 ms"]


def test_too_few_replicas_in_sync() -> None:
    """NOT_ENOUGH_REPLICAS; with eligible leader replicas the high watermark stands meanwhile
    (KIP-966)."""
    cluster = Cluster()
    for configs in cluster.runtime.configs.values():
        configs.replace_dynamic({"min.insync.replicas": "2"}, for_all_brokers=True)
    leader = cluster.partition().leader
    client = cluster.client(leader)
    for node in others(cluster):
        cluster.do(StopBroker(node, how="pause"))
    client.send(produce(acks=1), 9)
    assert told(client) == [ErrorCode.NONE]
    assert cluster.partition(at=leader).log.high_watermark == 0


def test_not_enough_replicas_is_told_after_a_controlled_shutdown_of_two() -> None:
    cluster = Cluster(brokers=5, config={"default.replication.factor": "3"})
    for configs in cluster.runtime.configs.values():
        configs.replace_dynamic({"min.insync.replicas": "2"}, for_all_brokers=True)
    leader = cluster.partition().leader
    for node in others(cluster):
        cluster.do(StopBroker(node))
    assert cluster.partition().isr == [leader]
    assert len(cluster.partition().elr) == 1, (
        "who was in sync while there were enough is no candidate; who left below it is"
    )
    client = cluster.client(leader)
    client.send(produce(), 9)
    assert told(client) == [ErrorCode.NOT_ENOUGH_REPLICAS]
    client.send(produce(acks=1), 9)
    assert told(client) == [ErrorCode.NONE]
    assert cluster.partition(at=leader).log.high_watermark == 0


def test_a_stale_leader_tells_its_producers_once_it_learns() -> None:
    """A leader that is cut off goes on; what it took with acks=1 is truncated when it follows its
    successor (KIP-101)."""
    cluster = Cluster()
    stale = cluster.partition().leader
    rest = others(cluster)
    client = cluster.client(stale)
    client.send(produce(b"kept"), 9)
    assert told(client) == [ErrorCode.NONE]
    for node in rest:
        cluster.do(CutLink(stale, node))
    client.send(produce(b"lost", acks=1), 9)
    assert told(client) == [ErrorCode.NONE], "it still believes that it leads"
    client.send(produce(b"waits", timeout_ms=60_000), 9)
    cluster.pass_time(6_000)
    now_leads = cluster.partition().leader
    assert now_leads in rest
    assert cluster.partition(at=stale).leader == stale
    other = cluster.client(now_leads)
    other.send(produce(b"new"), 9)
    assert told(other) == [ErrorCode.NONE]
    for node in rest:
        cluster.do(HealLink(stale, node))
    assert told(client) == [ErrorCode.NOT_LEADER_OR_FOLLOWER]
    cluster.pass_time(1)
    logs = [cluster.partition(at=node).log for node in (1, 2, 3)]
    assert len({b"".join(log._pieces) for log in logs}) == 1
    assert {log.log_end_offset for log in logs} == {2}
    assert sorted(cluster.partition().isr) == [1, 2, 3]


def test_followers_serve_consumers_from_version_11_on() -> None:
    """KIP-392; leaders' producers and older consumers are told NOT_LEADER_OR_FOLLOWER."""
    cluster = Cluster()
    leader, follower = cluster.partition().leader, others(cluster)[0]
    client = cluster.client(leader)
    client.send(produce(), 9)
    assert told(client) == [ErrorCode.NONE]
    reader = cluster.client(follower)
    assert fetched(reader, fetch(), 10).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert fetched(reader, fetch(), 11).records
    reader.send(produce(), 10)
    (answer,) = reader.answers()
    assert isinstance(answer, ProduceResponse)
    (refused,) = answer.responses[0].partition_responses
    assert refused.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert (refused.current_leader.leader_id, refused.current_leader.leader_epoch) == (leader, 0)
    assert [(node.node_id, node.host) for node in answer.node_endpoints] == [
        (leader, f"host{leader}")
    ], "KIP-951"


def test_a_consumer_is_sent_to_a_replica_in_its_rack() -> None:
    selector = {
        "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector"
    }
    cluster = Cluster(config=selector, racks=["a", "b", "c"])
    leader, near = cluster.partition().leader, others(cluster)[0]
    client = cluster.client(leader)
    client.send(produce(), 9)
    rack = cluster.truth.brokers[near].rack
    assert rack is not None
    told(client)
    assert fetched(client, fetch(rack=rack), 12).preferred_read_replica == near
    assert fetched(client, fetch(rack="nowhere"), 12).preferred_read_replica == -1
    assert fetched(client, fetch(), 12).records


def test_a_parked_fetch_when_its_leader_goes() -> None:
    """Seen on 4.4.0: version 10 is answered at once, version 16 goes on, as a follower serves
    it."""
    cluster = Cluster()
    leader = cluster.partition().leader
    old, new = cluster.client(leader), cluster.client(leader)
    old.send(fetch(wait_ms=5_000), 10)
    new.send(fetch(wait_ms=5_000), 12)
    assert not old.answers()
    cluster.do(MoveLeader("orders", 0, to=others(cluster)[0]))
    (answer,) = old.answers()
    assert isinstance(answer, FetchResponse)
    assert answer.responses[0].partitions[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert not new.answers()
    producer = cluster.client(cluster.partition().leader)
    producer.send(produce(), 9)
    (later,) = new.answers()
    assert isinstance(later, FetchResponse)
    assert later.responses[0].partitions[0].records


def test_an_unclean_leader_loses_what_it_had_not() -> None:
    cluster = Cluster(config={"unclean.leader.election.enable": "true"})
    leader, behind = cluster.partition().leader, others(cluster)
    client = cluster.client(leader)
    for node in behind:
        cluster.do(CutLink(leader, node))
    cluster.pass_time(1_000)
    client.send(produce(acks=1), 9)
    cluster.do(StopBroker(leader, how="crash"))
    cluster.pass_time(10_000)
    assert cluster.partition().leader in behind
    for node in behind:
        cluster.do(HealLink(leader, node))
    cluster.do(StartBroker(leader))
    cluster.pass_time(1)
    assert {cluster.partition(at=node).log.log_end_offset for node in (1, 2, 3)} == {0}


def test_offsets_of_a_follower_are_not_asked() -> None:
    cluster = Cluster()
    client = cluster.client(others(cluster)[0])
    answer: Any = client.ask(
        ListOffsetsRequest(
            replica_id=-1,
            topics=[
                ListOffsetsTopic(
                    name="orders",
                    partitions=[ListOffsetsPartition(partition_index=0, timestamp=-1)],
                )
            ],
        ),
        7,
    )
    assert answer.topics[0].partitions[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_offsets_for_replicas_and_debugging_consumers() -> None:
    """What is not committed shows to who says that it is a replica, and to a debugging consumer
    (-2), whom followers answer, too."""
    cluster = Cluster()
    leader, (follower, slow) = cluster.partition().leader, others(cluster)
    cluster.do(SlowFollower(slow, delay_ms=100_000))
    client = cluster.client(leader)
    client.send(produce(acks=1), 9)
    assert told(client) == [ErrorCode.NONE]

    def latest(node: int, replica: int) -> tuple[int, int]:
        answer: Any = cluster.client(node).ask(
            ListOffsetsRequest(
                replica_id=replica,
                topics=[
                    ListOffsetsTopic(
                        name="orders",
                        partitions=[ListOffsetsPartition(partition_index=0, timestamp=-1)],
                    )
                ],
            ),
            7,
        )
        row = answer.topics[0].partitions[0]
        return row.error_code, row.offset

    cluster.pass_time(100)
    assert [latest(leader, replica) for replica in (-1, -2, follower, 9)] == [
        (0, 0),
        (0, 1),
        (0, 1),
        (0, 1),
    ]
    assert [latest(follower, replica) for replica in (-1, -2, leader)] == [(6, -1), (0, 1), (6, -1)]


def test_replicas_are_replica_logs() -> None:
    cluster = Cluster(["single:1"], config={"default.replication.factor": "1"})
    holder = cluster.partition(topic="single").leader
    assert isinstance(cluster.partition(topic="single", at=holder).log, ReplicaLog)


def test_a_fetch_at_a_broker_without_a_replica_is_told_so_whatever_its_epoch() -> None:
    """And a replica that asks is not told where the leader is."""
    cluster = Cluster(brokers=4)
    without = next(iter({1, 2, 3, 4} - set(cluster.partition().replicas)))
    reader = cluster.client(without)
    for epoch in (-1, cluster.partition().leader_epoch - 1, cluster.partition().leader_epoch + 1):
        assert fetched(reader, fetch(epoch=epoch)).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    request = fetch()
    request.topics[0].topic_id = cluster.truth.topics["orders"].id
    answer = reader.ask(request, 17)
    assert isinstance(answer, FetchResponse)
    assert answer.node_endpoints
    request.replica_state.replica_id = 99
    answer = reader.ask(request, 17)
    assert isinstance(answer, FetchResponse)
    assert not answer.node_endpoints


def test_a_consumer_is_sent_to_no_replica_that_has_not_its_records() -> None:
    """KAFKA-14372: one outside the ISR, whatever it has; nor one whose log starts behind the
    offset."""
    selector = {
        "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector"
    }
    cluster = Cluster(
        config=selector | {"broker.session.timeout.ms": "60000"}, racks=["a", "b", "c"]
    )
    leader, near = cluster.partition().leader, others(cluster)[0]
    client = cluster.client(leader)
    client.send(produce(), 9)
    told(client)
    rack = cluster.truth.brokers[near].rack
    assert rack is not None
    log = cluster.partition(at=near).log
    log.delete_records(1)
    assert fetched(client, fetch(rack=rack), 12).preferred_read_replica == -1
    assert fetched(client, fetch(1, rack=rack), 12).preferred_read_replica == near
    cluster.do(StopBroker(near, how="pause"))
    client.send(produce(), 9)
    cluster.pass_time(30_000)
    told(client)
    assert near not in cluster.partition().isr
    assert fetched(client, fetch(1, rack=rack), 12).preferred_read_replica == -1
