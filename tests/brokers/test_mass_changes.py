"""Thousands of partitions that change at once: by the death of a broker, by one request. Work is linear in them, and done in pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from coordinator.broker.call import Call, Sliced
from coordinator.broker.handlers import alter_partition_reassignments, elect_leaders
from coordinator.cluster.controller.core import Controller
from coordinator.wire.messages import alter_partition_reassignments as alter
from coordinator.wire.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from coordinator.wire.schema import Request
from tests.brokers.desk import Cluster

MANY = 1_000


def handled(cluster: Cluster, handle: Callable[..., Any], message: Request, version: int) -> tuple[int, Any]:
    """How often a handler stopped on its way, and its answer."""
    call = Call(message, version, "test", "/127.0.0.1", 1, 0, "PLAINTEXT", None)
    sliced = handle(cluster.runtime.brokers[1], call)
    assert isinstance(sliced, Sliced)
    stops = 0
    try:
        next(sliced.work)
        while True:
            stops += 1
            sliced.work.send(0)
    except StopIteration as end:
        return stops, end.value


def test_a_broker_that_goes_is_looked_at_once_a_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether preferred leaders are to come back was asked of all partitions after the change of each: 12 s for 9,000."""
    cluster = Cluster([f"many:{MANY}"])
    looked = 0
    real = Controller._imbalanced

    def counted(controller: Controller, partition: Any) -> bool:
        nonlocal looked
        looked += 1
        return real(controller, partition)

    monkeypatch.setattr(Controller, "_imbalanced", counted)
    cluster.hosts.shut_down(3, cluster.now)
    cluster.settle()
    assert all(partition.leader != 3 for partition in cluster.truth.topics["many"].partitions)
    assert looked < 10 * MANY


@pytest.mark.parametrize("named", [True, False])
def test_elections_of_many_partitions_stop_on_their_way(named: bool) -> None:
    cluster = Cluster([f"many:{MANY}"])
    lost = [one.index for one in cluster.truth.topics["many"].partitions if one.leader == 3]
    cluster.hosts.shut_down(3, cluster.now)
    cluster.settle()
    cluster.hosts.start(3, cluster.now)
    cluster.settle()
    assert lost
    asked = [TopicPartitions(topic="many", partitions=list(range(MANY)))] if named else None
    request = ElectLeadersRequest(election_type=0, topic_partitions=asked, timeout_ms=1_000)
    stops, answer = handled(cluster, elect_leaders.handle, request, 2)
    assert stops >= MANY // 100
    (rows,) = [each.partition_result for each in answer.replica_election_results if each.topic == "many"]
    assert [row.partition_id for row in rows if not row.error_code] == lost
    assert all(partition.leader == partition.replicas[0] for partition in cluster.truth.topics["many"].partitions)


def test_reassignments_of_many_partitions_stop_on_their_way() -> None:
    cluster = Cluster([f"many:{MANY}"])
    turned = {one.index: one.replicas[1:] + one.replicas[:1] for one in cluster.truth.topics["many"].partitions}
    parts = [alter.ReassignablePartition(partition_index=index, replicas=replicas) for index, replicas in turned.items()]
    request = alter.AlterPartitionReassignmentsRequest(timeout_ms=1_000, topics=[alter.ReassignableTopic(name="many", partitions=parts)])
    stops, answer = handled(cluster, alter_partition_reassignments.handle, request, 0)
    assert stops >= MANY // 100
    assert [row.error_code for row in answer.responses[0].partitions] == [0] * MANY
    assert {one.index: one.replicas for one in cluster.truth.topics["many"].partitions} == turned
