"""A transaction over many partitions ends in pieces: markers are written some at a time, and it is
complete when all have one."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from coordinator.server.cluster.model import TRANSACTION_STATE
from coordinator.server.cluster_runtime import Hosts
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.transactions import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    EndTxnRequest,
    InitProducerIdRequest,
)
from tests.server.brokers.desk import Cluster

MANY = 700


def begun(brokers: int) -> tuple[Cluster, Any, EndTxnRequest]:
    """A cluster whose broker 1 coordinates a transaction over a topic of many partitions, its
    client, and the request that ends it."""
    config = {"transaction.state.log.num.partitions": "1", "broker.session.timeout.ms": "60000"}
    cluster = Cluster([f"t:{MANY}"], config, brokers=brokers)
    client = cluster.client(1)
    client.ask(FindCoordinatorRequest(key_type=1, coordinator_keys=["tx"]), 6)
    if cluster.partition(0, TRANSACTION_STATE).leader != 1:
        Hosts(cluster.runtime).move_leader(TRANSACTION_STATE, 0, 1, cluster.now)
        cluster.settle()
    made: Any = client.ask(
        InitProducerIdRequest(transactional_id="tx", transaction_timeout_ms=60_000), 4
    )
    who = {"producer_id": made.producer_id, "producer_epoch": made.producer_epoch}
    added: Any = client.ask(
        AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="tx",
            **{f"v3_and_below_{name}": value for name, value in who.items()},
            v3_and_below_topics=[AddPartitionsToTxnTopic(name="t", partitions=list(range(MANY)))],
        ),
        3,
    )
    assert {
        row.partition_error_code
        for row in added.results_by_topic_v3_and_below[0].results_by_partition
    } == {0}
    return cluster, client, EndTxnRequest(transactional_id="tx", committed=True, **who)


def marked(cluster: Cluster) -> int:
    """How many partitions have their marker, at their leaders."""
    leaders = [
        cluster.partition(index, "t", at=cluster.partition(index, "t").leader)
        for index in range(MANY)
    ]
    return sum(one.log.log_end_offset for one in leaders)


def test_markers_are_written_in_pieces_and_the_answer_comes_before_them() -> None:
    cluster, client, end = begun(3)
    client.connection.receive(client.frame(end, 3), cluster.now)
    cluster.runtime.run_resumable(cluster.now)
    steps = [marked(cluster)]
    while cluster.runtime.next_deadline() == 0:
        cluster.runtime.tick(cluster.now)
        steps.append(marked(cluster))
    (answer,) = client.answers()
    assert answer.error_code == 0
    assert steps[0] <= 256
    assert max(after - before for before, after in pairwise(steps)) <= 256
    assert steps[-1] == MANY
    (one,) = cluster.runtime.brokers[1].services.transactions.coordinator.transactions.values()
    assert str(one.state) == "CompleteCommit"


def test_leaders_that_cannot_be_reached_are_waited_for_and_not_asked_again_at_once() -> None:
    """TXN-5: nothing is due at once for markers that nobody takes."""
    cluster, client, end = begun(3)
    cluster.hosts.pause(3, cluster.now)
    away = sum(cluster.partition(index, "t").leader == 3 for index in range(MANY))
    assert away
    client.send(end, 3)
    cluster.pass_time(3_000)  # the decision is replicated once the silent follower has left the ISR
    assert marked(cluster) == MANY - away
    assert cluster.runtime.brokers[1].services.transactions.unfinished
    assert cluster.runtime.brokers[1].services.transactions.next_deadline() != 0
    cluster.hosts.resume(3, cluster.now)
    cluster.settle()
    assert marked(cluster) == MANY
    assert not cluster.runtime.brokers[1].services.transactions.unfinished
