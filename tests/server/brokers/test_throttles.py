"""Replication throttles and unregistered brokers, as administrators ask for them: over the wire."""

from __future__ import annotations

from typing import Any

from coordinator.base.errors import ErrorCode
from coordinator.kit.cluster import StartBroker, StopBroker
from coordinator.server.cluster.controller.reassignments import reassign
from coordinator.wire.messages.broker_registration import UnregisterBrokerRequest
from coordinator.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from coordinator.wire.messages.metadata import DescribeClusterRequest
from coordinator.wire.messages.topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from tests.server.brokers.desk import Cluster, produce

TOPIC, BROKER = 2, 4
RECORD = b"x" * 100_000
RECORDS = 20


def configure(cluster: Cluster, kind: int, name: str, **values: str | None) -> None:
    """Set configurations of a topic or broker, as kafka-configs does; None deletes."""
    configs = [
        AlterableConfig(
            name=key.replace("_", "."), config_operation=0 if value is not None else 1, value=value
        )
        for key, value in values.items()
    ]
    answer: Any = cluster.client(int(name) if kind == BROKER else 1).ask(
        IncrementalAlterConfigsRequest(
            resources=[
                AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
            ]
        ),
        1,
    )
    assert [row.error_code for row in answer.responses] == [0], answer


def filled() -> tuple[Cluster, int, int]:
    """A partition of two replicas with two megabytes in it; answers its leader, and the broker that
    holds none of it."""
    cluster = Cluster(["orders:1"], {"default.replication.factor": "2"})
    leader = cluster.partition().leader
    client = cluster.client(leader)
    for _ in range(RECORDS):
        client.send(produce(RECORD), 9)
    assert len(client.answers()) == RECORDS
    return (
        cluster,
        leader,
        next(node for node in (1, 2, 3) if node not in cluster.partition().replicas),
    )


def move(cluster: Cluster, leader: int, new: int) -> None:
    reassign(cluster.runtime.controller, "orders", 0, [leader, new], cluster.now)
    cluster.settle()


def log_end(cluster: Cluster, node: int) -> int:
    return cluster.partition(at=node).log.log_end_offset


def test_a_leader_that_is_held_up_hears_of_a_replica_with_nothing_to_copy() -> None:
    """KIP-73: it holds records back, not requests; a follower that is held up itself does not
    ask."""
    for side in ("leader", "follower"):
        cluster, leader, new = filled()
        replicas, rate = (
            f"{side}_replication_throttled_replicas",
            f"{side}_replication_throttled_rate",
        )
        configure(cluster, TOPIC, "orders", **{replicas: "*"})
        configure(cluster, BROKER, str(leader if side == "leader" else new), **{rate: "1"})
        move(cluster, leader, new)
        cluster.pass_time(1_000)
        assert cluster.partition().adding == [new], "records take their time"
        there = CreatableReplicaAssignment(partition_index=0, broker_ids=[leader])
        held = CreatableTopicConfig(name=replicas.replace("_", "."), value="*")
        topic = CreatableTopic(
            name="empty",
            num_partitions=-1,
            replication_factor=-1,
            assignments=[there],
            configs=[held],
        )
        made: Any = cluster.client(1).ask(CreateTopicsRequest(topics=[topic], timeout_ms=1_000), 5)
        assert [row.error_code for row in made.topics] == [0], made
        cluster.settle()
        reassign(cluster.runtime.controller, "empty", 0, [leader, new], cluster.now)
        cluster.pass_time(1_000)
        assert set(cluster.partition(0, "empty").isr) == (
            {leader, new} if side == "leader" else {leader}
        )


def test_a_throttle_holds_a_new_replica_up_until_it_is_lifted() -> None:
    cluster, leader, new = filled()
    configure(cluster, TOPIC, "orders", follower_replication_throttled_replicas=f"0:{new}")
    configure(cluster, BROKER, str(new), follower_replication_throttled_rate="100000")
    move(cluster, leader, new)
    cluster.pass_time(10_000)
    assert 9 <= log_end(cluster, new) <= 12, (
        "about ten of twenty records of 100,000 bytes, in ten seconds"
    )
    assert cluster.partition().adding == [new]
    configure(cluster, BROKER, str(new), follower_replication_throttled_rate=None)
    cluster.pass_time(2_000)
    assert log_end(cluster, new) == RECORDS
    assert cluster.partition().adding == []
    assert new in cluster.partition().isr


def test_a_leader_can_be_throttled_too() -> None:
    cluster, leader, new = filled()
    configure(cluster, TOPIC, "orders", leader_replication_throttled_replicas="*")
    configure(cluster, BROKER, str(leader), leader_replication_throttled_rate="200000")
    move(cluster, leader, new)
    cluster.pass_time(5_000)
    assert 9 <= log_end(cluster, new) <= 12
    configure(cluster, TOPIC, "orders", leader_replication_throttled_replicas=None)
    cluster.pass_time(2_000)
    assert log_end(cluster, new) == RECORDS


def test_replicas_in_sync_are_not_throttled() -> None:
    cluster, leader, _ = filled()
    configure(
        cluster,
        TOPIC,
        "orders",
        leader_replication_throttled_replicas="*",
        follower_replication_throttled_replicas="*",
    )
    for node in (1, 2, 3):
        configure(
            cluster,
            BROKER,
            str(node),
            leader_replication_throttled_rate="1",
            follower_replication_throttled_rate="1",
        )
    client = cluster.client(leader)
    client.send(produce(RECORD), 9)
    assert len(client.answers()) == 1


def test_a_throttle_names_its_replicas() -> None:
    cluster, leader, new = filled()
    configure(
        cluster, TOPIC, "orders", follower_replication_throttled_replicas=f"1:{new},0:{leader}"
    )
    configure(cluster, BROKER, str(new), follower_replication_throttled_rate="1")
    move(cluster, leader, new)
    assert log_end(cluster, new) == RECORDS


def described(
    cluster: Cluster, node: int, version: int, *, fenced: bool = False
) -> dict[int, bool]:
    answer: Any = cluster.client(node).ask(
        DescribeClusterRequest(include_fenced_brokers=fenced), version
    )
    assert answer.error_code == 0
    return {row.broker_id: row.is_fenced for row in answer.brokers}


def test_fenced_brokers_are_shown_to_those_who_ask() -> None:
    """KIP-1073"""
    cluster = Cluster()
    cluster.do(StopBroker(3))
    assert described(cluster, 1, 1) == {1: False, 2: False}
    assert described(cluster, 1, 2) == {1: False, 2: False}
    assert described(cluster, 1, 2, fenced=True) == {1: False, 2: False, 3: True}


def unregister(cluster: Cluster, asked: int, broker: int) -> tuple[int, str | None]:
    answer: Any = cluster.client(asked).ask(UnregisterBrokerRequest(broker_id=broker), 0)
    return answer.error_code, answer.error_message


def test_a_broker_that_is_gone_is_unregistered_and_registers_anew() -> None:
    cluster = Cluster()
    assert unregister(cluster, 1, 7) == (
        ErrorCode.BROKER_ID_NOT_REGISTERED,
        "Broker ID 7 is not currently registered",
    )
    cluster.do(StopBroker(3))
    assert unregister(cluster, 1, 3) == (0, "")
    assert unregister(cluster, 2, 3) == (
        ErrorCode.BROKER_ID_NOT_REGISTERED,
        "Broker ID 3 is not currently registered",
    )
    assert described(cluster, 1, 2, fenced=True) == {1: False, 2: False}
    assert len(cluster.partition().replicas) == 3, "what was assigned to it stays so"
    assert [line["broker"] for line in cluster.logged("BrokerUnregistered")] == [3]
    cluster.do(StartBroker(3))
    cluster.pass_time(5_000)
    assert described(cluster, 1, 2, fenced=True) == {1: False, 2: False, 3: False}
    assert sorted(cluster.partition().isr) == [1, 2, 3]


def test_a_broker_that_runs_is_unregistered_and_leads_nothing() -> None:
    cluster = Cluster(["orders:6"])
    assert unregister(cluster, 1, 2) == (0, "")
    assert described(cluster, 1, 2, fenced=True) == {1: False, 3: False}
    partitions = [cluster.partition(index) for index in range(6)]
    assert all(partition.leader in (1, 3) and 2 not in partition.isr for partition in partitions)
    cluster.pass_time(10_000)
    cluster.do(StopBroker(2))
    cluster.do(StartBroker(2))
    cluster.pass_time(10_000)
    assert described(cluster, 1, 2, fenced=True) == {1: False, 2: False, 3: False}
    assert all(2 in cluster.partition(index).isr for index in range(6))


def test_without_a_controller_nobody_is_unregistered() -> None:
    cluster = Cluster()
    cluster.do(StopBroker(1, how="crash"))
    cluster.do(StopBroker(3, how="crash"))
    assert unregister(cluster, 2, 3)[0] == ErrorCode.REQUEST_TIMED_OUT
