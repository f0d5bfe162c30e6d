"""Thousands of partitions that change at once: by the death of a broker, by one request. Work is
linear in them, and done in pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from coordinator.base.slices import Slices
from coordinator.server.cluster.controller.controller import Controller
from coordinator.server.cluster.controller.many_changes import PARTITIONS_A_STEP
from coordinator.server.handlers import create_partitions, elect_leaders
from coordinator.server.handlers.reassignments import alter_partition_reassignments
from coordinator.server.requests.call import Call, Sliced
from coordinator.wire.messages import reassignments
from coordinator.wire.messages.reassignments import ElectLeadersRequest, TopicPartitions
from coordinator.wire.messages.topics import CreatePartitionsRequest, CreatePartitionsTopic
from coordinator.wire.schema import Request
from tests.server.brokers.desk import Cluster

pytestmark = pytest.mark.unmeasured

MANY = 1_000


def handled(
    cluster: Cluster, handle: Callable[..., Any], message: Request, version: int
) -> tuple[int, Any]:
    """How often a handler stopped on its way, and its answer."""
    call = Call(message, version, "test", "/127.0.0.1", 1, 0, "PLAINTEXT", None)
    sliced = handle(cluster.runtime.brokers[1], call)
    assert isinstance(sliced, Sliced)
    next(sliced.work)
    return ended(sliced.work)


def ended(work: Slices[Any]) -> tuple[int, Any]:
    """How often work that has stopped once has stopped in the end, and its result."""
    stops = 1
    try:
        while True:
            work.send(0)
            stops += 1
    except StopIteration as end:
        return stops, end.value


def test_a_broker_that_goes_is_looked_at_once_a_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether preferred leaders are to come back was asked of all partitions after the change of
    each: 12 s for 9,000."""
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
    (rows,) = [
        each.partition_result for each in answer.replica_election_results if each.topic == "many"
    ]
    assert [row.partition_id for row in rows if not row.error_code] == lost
    assert all(
        partition.leader == partition.replicas[0]
        for partition in cluster.truth.topics["many"].partitions
    )


def test_reassignments_of_many_partitions_stop_on_their_way() -> None:
    cluster = Cluster([f"many:{MANY}"])
    turned = {
        one.index: one.replicas[1:] + one.replicas[:1]
        for one in cluster.truth.topics["many"].partitions
    }
    parts = [
        reassignments.ReassignablePartition(partition_index=index, replicas=replicas)
        for index, replicas in turned.items()
    ]
    request = reassignments.AlterPartitionReassignmentsRequest(
        timeout_ms=1_000, topics=[reassignments.ReassignableTopic(name="many", partitions=parts)]
    )
    stops, answer = handled(cluster, alter_partition_reassignments, request, 0)
    assert stops >= MANY // 100
    assert [row.error_code for row in answer.responses[0].partitions] == [0] * MANY
    assert {one.index: one.replicas for one in cluster.truth.topics["many"].partitions} == turned


def test_partitions_leave_a_dead_broker_in_pieces() -> None:
    """So many a tick: what a tick does does not grow with the partitions. All are changed in the
    end, in order, as if in one piece."""
    cluster = Cluster([f"many:{MANY}"], {"replica.lag.time.max.ms": "30000"})
    cluster.hosts.crash(3, cluster.now)
    cluster.settle()
    fenced_ms = cluster.runtime.controller.next_deadline()
    assert fenced_ms == 2_000
    cluster.now = fenced_ms
    changed = []
    while cluster.runtime.next_deadline() in {0, fenced_ms}:
        before = len(cluster.logged("IsrShrunk")) + len(cluster.logged("LeaderElected"))
        cluster.runtime.tick(fenced_ms)
        changed.append(
            len(cluster.logged("IsrShrunk")) + len(cluster.logged("LeaderElected")) - before
        )
    assert sum(changed) >= MANY
    assert max(changed) <= PARTITIONS_A_STEP
    assert not any(
        3 in partition.isr
        for topic in cluster.truth.topics.values()
        for partition in topic.partitions
    )
    lines = [
        line
        for line in cluster.log.events()
        if line["type"] in ("IsrShrunk", "LeaderElected") and line["topic"] == "many"
    ]
    assert [line["partition"] for line in lines] == list(range(MANY))


def test_a_broker_that_is_started_at_once_comes_back_after_it_left_everything() -> None:
    """Its session had not ended: it leaves what it led before it is let in, and is unfenced after
    that."""
    cluster = Cluster([f"many:{MANY}"])
    cluster.hosts.crash(3, cluster.now)
    cluster.hosts.start(3, cluster.now)
    assert cluster.truth.brokers[3].fenced
    assert cluster.runtime.controller.is_changing
    assert not cluster.runtime.calm
    cluster.settle()
    assert cluster.runtime.calm
    assert cluster.truth.brokers[3].active
    kinds = [
        line["type"]
        for line in cluster.log.events()
        if line["stream"] == "cluster" and line.get("broker") == 3
    ]
    assert kinds[-3:] == ["BrokerFenced", "BrokerRegistered", "BrokerUnfenced"]
    left = [
        line["seq"]
        for line in cluster.log.events()
        if line["type"] in ("IsrShrunk", "LeaderElected") and 3 not in line["isr"]
    ]
    (registered,) = [
        line["seq"]
        for line in cluster.logged("BrokerRegistered")
        if line["broker"] == 3 and line["epoch"] == 2
    ]
    assert len(left) >= MANY
    assert left[MANY - 1] < registered
    assert all(
        sorted(partition.isr) == [1, 2, 3] for partition in cluster.truth.topics["many"].partitions
    )
    assert (
        cluster.runtime.images[3].topics["many"].partitions[MANY - 1].leader_epoch
        == cluster.partition(MANY - 1, "many").leader_epoch
    )


def test_what_was_deleted_meanwhile_is_passed_over() -> None:
    cluster = Cluster([f"many:{MANY}", f"more:{MANY}"])
    cluster.hosts.fence(3, cluster.now)
    assert cluster.runtime.controller.is_changing
    cluster.runtime.controller.delete_topic(cluster.truth.topics["more"], cluster.now)
    cluster.settle()
    assert not cluster.runtime.controller.is_changing
    assert not any(3 in partition.isr for partition in cluster.truth.topics["many"].partitions)
    assert all("more" not in image.topics for image in cluster.runtime.images.values())


def test_who_was_away_catches_up_in_pieces() -> None:
    """A broker that was stopped meanwhile hears of thousands of changes, so many a tick, and acts
    when it has heard of all."""
    cluster = Cluster([f"many:{MANY}"])
    cluster.hosts.shut_down(3, cluster.now)
    cluster.settle()
    cluster.hosts.start(3, cluster.now)
    heard = []
    image, last = cluster.runtime.images[3], {}
    while cluster.runtime.next_deadline() == 0:
        now = {one.index: one.partition_epoch for one in image.topics["many"].partitions}
        heard.append(sum(last.get(index) != epoch for index, epoch in now.items()) if last else 0)
        last = now
        cluster.runtime.tick(0)
    assert max(heard) <= 1_024
    assert sum(heard) >= MANY
    assert [one.partition_epoch for one in image.topics["many"].partitions] == [
        one.partition_epoch for one in cluster.truth.topics["many"].partitions
    ]


def test_a_topic_that_grows_by_many_while_another_request_changes_it_is_planned_again() -> None:
    cluster = Cluster(["orders:2", "few:2"])
    wanted = [
        CreatePartitionsTopic(name=name, count=2 + PARTITIONS_A_STEP * 5, assignments=None)
        for name in ("orders", "few")
    ]
    request = CreatePartitionsRequest(topics=wanted, timeout_ms=1_000, validate_only=False)
    call = Call(request, 3, "test", "/127.0.0.1", 1, 0, "PLAINTEXT", None)
    work = create_partitions.handle(cluster.runtime.brokers[1], call).work
    next(work)
    cluster.runtime.controller.add_partitions("orders", [[1, 2, 3]], cluster.now)
    assert len(cluster.truth.topics["orders"].partitions) == 3
    _, answer = ended(work)
    assert [row.error_code for row in answer.results] == [0, 0]
    assert [len(cluster.truth.topics[name].partitions) for name in ("orders", "few")] == [
        2 + PARTITIONS_A_STEP * 5
    ] * 2
