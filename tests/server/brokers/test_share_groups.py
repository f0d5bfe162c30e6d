"""Share groups on several brokers (KIP-932): the group at its coordinator, the records at the leaders
of their partitions, and the states wherever the partitions of __share_group_state are led."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.base.errors import ErrorCode
from coordinator.kit.cluster import MoveLeader, StartBroker, StopBroker
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.share_acknowledge import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from coordinator.wire.messages.share_fetch import FetchPartition, FetchTopic, ShareFetchRequest
from coordinator.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from coordinator.wire.messages.share_group_states import ReadShareGroupStateRequest, ReadStateData
from coordinator.wire.messages.share_group_states import ReadStatePartitionData as PartitionData
from tests.server.broker.driver import Client
from tests.server.brokers.desk import Cluster, produce

CONFIG = {
    "group.share.assignment.interval.ms": "0",
    "share.coordinator.state.topic.num.partitions": "4",
    "share.coordinator.state.topic.min.isr": "1",
}


def coordinator_of(cluster: Cluster, kind: int, key: str) -> int:
    """The id of the broker that coordinates a key."""
    request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
    for _ in range(3):  # the topic behind it is made first
        [row] = cluster.client(1).ask(request, 6).coordinators  # type: ignore[attr-defined]
        cluster.settle()
        if not row.error_code:
            return int(row.node_id)
    raise AssertionError(row)


def beat(client: Client, epoch: int, *names: str) -> Any:
    """A heartbeat of the only member."""
    return client.ask(
        ShareGroupHeartbeatRequest(
            group_id="g",
            member_id="m",
            member_epoch=epoch,
            subscribed_topic_names=list(names) or None,
        ),
        1,
    )


def joined(topics: int = 3, config: Mapping[str, str] = {}) -> tuple[Cluster, Client]:
    """A cluster with a record in each partition, and a group whose only member has them all."""
    cluster = Cluster((f"orders:{topics}",), {**CONFIG, **config})
    for runtime in cluster.runtime.brokers.values():
        runtime.cluster.group_configs["g"] = {"share.auto.offset.reset": "earliest"}
    for index in range(topics):
        leader = cluster.partition(index).leader
        cluster.client(leader).ask(produce(index=index), 9)
    client = cluster.client(coordinator_of(cluster, 0, "g"))
    assert beat(client, 0, "orders").member_epoch == 2
    answer = beat(client, 2)
    for _ in range(3):  # until __share_group_state, made for this, is led
        if answer.assignment is None:
            cluster.pass_time(100)
            answer = beat(client, answer.member_epoch)
    [of] = answer.assignment.topic_partitions
    assert of.partitions == list(range(topics))
    return cluster, client


def fetch(cluster: Cluster, client: Client, index: int, epoch: int = 0) -> list[Any]:
    """What the member acquires of a partition at a broker."""
    answer = client.ask(
        ShareFetchRequest(
            group_id="g",
            member_id="m",
            share_session_epoch=epoch,
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=1_000_000,
            max_records=10,
            batch_size=10,
            topics=[
                FetchTopic(
                    topic_id=cluster.truth.topics["orders"].id,
                    partitions=[FetchPartition(partition_index=index)],
                )
            ],
        ),
        1,
    )
    [[partition]] = [topic.partitions for topic in answer.responses]  # type: ignore[attr-defined]
    assert partition.error_code == ErrorCode.NONE, partition.error_code
    return [
        (of.first_offset, of.last_offset, of.delivery_count) for of in partition.acquired_records
    ]


def accept(
    cluster: Cluster, node: int, first: int, last: int, *, epoch: int = 1, error: int = 0
) -> None:
    """The member accepts records at the broker that leads their partition, and is told so."""
    batch = AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=[1])
    partition = AcknowledgePartition(partition_index=0, acknowledgement_batches=[batch])
    topic_id = cluster.truth.topics["orders"].id
    said = cluster.client(node).ask(
        ShareAcknowledgeRequest(
            group_id="g",
            member_id="m",
            share_session_epoch=epoch,
            topics=[AcknowledgeTopic(topic_id=topic_id, partitions=[partition])],
        ),
        1,
    )
    assert said.responses[0].partitions[0].error_code == error  # type: ignore[attr-defined]


def test_every_leader_serves_its_partitions_to_the_group() -> None:
    """SH-HB-2: the states are made where their partitions are led, and each leader finds them."""
    cluster, _ = joined()
    leaders = {index: cluster.partition(index).leader for index in range(3)}
    assert len(set(leaders.values())) == 3
    for index, leader in leaders.items():
        assert fetch(cluster, cluster.client(leader), index) == [(0, 0, 1)]


def test_a_state_is_read_at_the_broker_that_leads_its_partition_only() -> None:
    cluster, _ = joined(1)
    topic = cluster.truth.topics["orders"]
    key = f"g:{_text(topic.id)}:0"
    node = coordinator_of(cluster, 2, key)
    request = ReadShareGroupStateRequest(
        group_id="g",
        topics=[ReadStateData(topic_id=topic.id, partitions=[PartitionData(partition=0)])],
    )
    errors = {
        at: cluster.client(at).ask(request, 0).results[0].partitions[0].error_code  # type: ignore[attr-defined]
        for at in (1, 2, 3)
    }
    assert errors == {
        at: ErrorCode.NONE if at == node else ErrorCode.NOT_COORDINATOR for at in (1, 2, 3)
    }


def test_what_was_acknowledged_outlives_leader_and_share_coordinator() -> None:
    """SH-SES-3: an accepted record is never given again, whoever leads its partition then."""
    cluster, _ = joined(1)
    topic = cluster.truth.topics["orders"]
    leader = cluster.partition().leader
    client = cluster.client(leader)
    assert fetch(cluster, client, 0) == [(0, 0, 1)]
    said = client.ask(
        ShareAcknowledgeRequest(
            group_id="g",
            member_id="m",
            share_session_epoch=1,
            topics=[
                AcknowledgeTopic(
                    topic_id=topic.id,
                    partitions=[
                        AcknowledgePartition(
                            partition_index=0,
                            acknowledgement_batches=[
                                AcknowledgementBatch(
                                    first_offset=0, last_offset=0, acknowledge_types=[1]
                                )
                            ],
                        )
                    ],
                )
            ],
        ),
        1,
    )
    assert said.responses[0].partitions[0].error_code == ErrorCode.NONE  # type: ignore[attr-defined]
    cluster.do(StopBroker(leader, "crash"))
    cluster.pass_time(5_000)
    other = cluster.partition().leader
    assert other not in (leader, -1)
    cluster.client(other).ask(produce(b"y"), 9)
    assert fetch(cluster, cluster.client(other), 0) == [(1, 1, 1)]


def test_a_leader_that_leads_no_longer_forgets_what_is_in_flight() -> None:
    """SH-SPSO-1, SH-FC-1: who held it does so no longer, and the next leader gives it anew."""
    cluster, _ = joined(1)
    leader = cluster.partition().leader
    assert fetch(cluster, cluster.client(leader), 0) == [(0, 0, 1)]
    other = next(node for node in (1, 2, 3) if node != leader)
    cluster.do(MoveLeader("orders", 0, other))
    cluster.pass_time(100)
    assert cluster.partition().leader == other
    assert not cluster.runtime.brokers[leader].services.shares.partitions.open_ones
    assert fetch(cluster, cluster.client(other), 0) == [(0, 0, 1)]
    cluster.do(MoveLeader("orders", 0, leader))
    cluster.pass_time(100)
    assert fetch(cluster, cluster.client(leader), 0, epoch=1) == [(0, 0, 1)]


def test_who_asks_a_leader_that_leads_no_longer() -> None:
    """SH-ACK-7: acknowledgements are 3, a fetch is 6; one that waited is told nothing of it."""
    cluster, _ = joined(1)
    leader = cluster.partition().leader
    client = cluster.client(leader)
    assert fetch(cluster, client, 0) == [(0, 0, 1)]
    topic_id = cluster.truth.topics["orders"].id
    accept = AcknowledgementBatch(first_offset=0, last_offset=0, acknowledge_types=[1])
    partition = AcknowledgePartition(partition_index=0, acknowledgement_batches=[accept])

    def fetching(epoch: int, wait_ms: int) -> ShareFetchRequest:
        return ShareFetchRequest(
            group_id="g",
            member_id="m",
            share_session_epoch=epoch,
            max_wait_ms=wait_ms,
            min_bytes=1,
            max_bytes=1_000_000,
            max_records=10,
            batch_size=10,
        )

    waits = cluster.client(leader)
    waits.send(fetching(1, 5_000), 1)
    cluster.do(MoveLeader("orders", 0, next(node for node in (1, 2, 3) if node != leader)))
    cluster.pass_time(4_000)
    said = client.ask(
        ShareAcknowledgeRequest(
            group_id="g",
            member_id="m",
            share_session_epoch=2,
            topics=[AcknowledgeTopic(topic_id=topic_id, partitions=[partition])],
        ),
        1,
    )
    refused = said.responses[0].partitions[0]  # type: ignore[attr-defined]
    assert refused.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert waits.answers() == []
    cluster.pass_time(1_000)
    [answer] = waits.answers()
    assert (answer.error_code, answer.responses) == (0, [])  # type: ignore[attr-defined]
    answer = client.ask(fetching(3, 0), 1)
    told = answer.responses[0].partitions[0]  # type: ignore[attr-defined]
    assert told.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert told.current_leader.leader_id == cluster.partition().leader


def rejected(cluster: Cluster) -> Client:
    """The group's only record was rejected, and has its dead letter to come, in dlq.t; the client of
    who leads it."""
    for runtime in cluster.runtime.brokers.values():
        runtime.cluster.group_configs["g"]["errors.deadletterqueue.topic.name"] = "dlq.t"
    client = cluster.client(cluster.partition().leader)
    assert fetch(cluster, client, 0) == [(0, 0, 1)]
    reject = AcknowledgementBatch(first_offset=0, last_offset=0, acknowledge_types=[3])
    partition = AcknowledgePartition(partition_index=0, acknowledgement_batches=[reject])
    topic_id = cluster.truth.topics["orders"].id
    said = client.ask(
        ShareAcknowledgeRequest(
            group_id="g",
            member_id="m",
            share_session_epoch=1,
            topics=[AcknowledgeTopic(topic_id=topic_id, partitions=[partition])],
        ),
        1,
    )
    assert said.responses[0].partitions[0].error_code == ErrorCode.NONE  # type: ignore[attr-defined]
    return client


def dead_letter_topic(cluster: Cluster, leader: int) -> None:
    """Topic dlq.t with its only replica at a broker."""
    cluster.runtime.controller.create_topic(
        "dlq.t",
        topic_id=b"d" * 16,
        replicas=[[leader]],
        configs={"errors.deadletterqueue.group.enable": "true"},
        now=cluster.now,
        cause=None,
    )
    cluster.settle()


def lines(cluster: Cluster, kind: str) -> list[dict[str, object]]:
    """The log's lines of a type."""
    return [line for line in cluster.log.events() if line["type"] == kind]


def test_dead_letters_go_to_the_leader_of_their_partition() -> None:
    """SH-DLQ-1: another broker than that of the records."""
    cluster, _ = joined(1)
    other = next(node for node in (1, 2, 3) if node != cluster.partition().leader)
    dead_letter_topic(cluster, other)
    rejected(cluster)
    (line,) = lines(cluster, "DeadLettersWritten")
    assert line["broker"] == cluster.partition().leader
    assert cluster.partition(topic="dlq.t", at=other).log.log_end_offset == 1


def test_dead_letters_wait_for_a_leader() -> None:
    """SH-DLQ-4: tried again after 1 s and 2 s, a letter goes to the leader that is back by then."""
    cluster, _ = joined(1)
    other = next(node for node in (1, 2, 3) if node != cluster.partition().leader)
    dead_letter_topic(cluster, other)
    cluster.do(StopBroker(other, "crash"))
    cluster.pass_time(20_000)
    rejected(cluster)
    begun = cluster.now
    cluster.pass_time(2_999)
    cluster.do(StartBroker(other))
    cluster.pass_time(12_000)
    (line,) = lines(cluster, "DeadLettersWritten")
    assert line["at_ms"] == begun + 3_000


def test_dead_letters_without_a_leader_are_given_up() -> None:
    """SH-DLQ-4: after five attempts, 1, 2, 4 and 8 s apart, the record is archived without."""
    cluster, _ = joined(1)
    other = next(node for node in (1, 2, 3) if node != cluster.partition().leader)
    dead_letter_topic(cluster, other)
    cluster.do(StopBroker(other, "crash"))
    cluster.pass_time(20_000)
    rejected(cluster)
    begun = cluster.now
    cluster.pass_time(60_000)
    (line,) = lines(cluster, "RecordsArchived")
    assert line["at_ms"] == begun + 15_000
    assert line["reason"] == (
        "no dead letters were written: dlq.t-0 has no leader that can be asked"
    )
    assert lines(cluster, "DeadLettersWritten") == []


def _text(topic_id: bytes) -> str:
    from base64 import urlsafe_b64encode

    return urlsafe_b64encode(topic_id).decode().rstrip("=")
