"""The verb that lets a partition move, and its inverse: a move under way is cancelled, one that has
ended is made the other way."""

from __future__ import annotations

import json

from coordinator.events import EventLog
from coordinator.kit.cluster import (
    ReassignPartition,
    SlowFollower,
    StopBroker,
    Verb,
    from_plain,
    to_plain,
)
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario
from tests.server.brokers.desk import Cluster

SMALL = {"default.replication.factor": "2"}


def undo(cluster: Cluster, inverse: Verb | None) -> Verb | None:
    """Carry an inverse out, as a program that got it over HTTP would."""
    assert inverse is not None
    return cluster.do(from_plain(json.loads(json.dumps(to_plain(inverse)))))


def test_a_move_that_has_ended_is_made_the_other_way() -> None:
    """REASN-2."""
    cluster = Cluster(["orders:1"], SMALL)
    before = list(cluster.partition().replicas)
    new = next(node for node in (1, 2, 3) if node not in before)
    inverse = cluster.do(ReassignPartition("orders", 0, (new, before[0])))
    cluster.pass_time(5_000)
    assert (cluster.partition().replicas, cluster.partition().reassigning) == (
        [new, before[0]],
        False,
    )
    again = undo(cluster, inverse)
    cluster.pass_time(5_000)
    assert (cluster.partition().replicas, cluster.partition().reassigning) == (before, False)
    assert again == ReassignPartition("orders", 0, (new, before[0]))


def test_a_move_under_way_is_cancelled_by_its_inverse() -> None:
    """REASN-3: and the order is what it was; as a target the old replicas would be added and
    removed at once, for ever (REASN-4)."""
    cluster = Cluster(["orders:1"], SMALL)
    before = list(cluster.partition().replicas)
    new = next(node for node in (1, 2, 3) if node not in before)
    cluster.do(StopBroker(new))
    inverse = cluster.do(ReassignPartition("orders", 0, (new, before[1])))
    cluster.pass_time(5_000)
    assert cluster.partition().reassigning
    again = undo(cluster, inverse)
    assert (cluster.partition().replicas, cluster.partition().reassigning) == (before, False)
    assert again == ReassignPartition("orders", 0, (new, before[1]))
    undo(cluster, again)
    assert cluster.partition().adding == [new]


def test_none_cancels_and_no_brokers_mean_one_that_lacks_it() -> None:
    """REASN-3."""
    cluster = Cluster(["orders:1"], SMALL)
    before = list(cluster.partition().replicas)
    new = next(node for node in (1, 2, 3) if node not in before)
    cluster.do(SlowFollower(new, delay_ms=3_600_000))
    cluster.do(ReassignPartition("orders", 0))
    assert cluster.partition().adding == [new] and cluster.partition().removing == [before[0]]
    inverse = cluster.do(ReassignPartition("orders", 0, None))
    assert (sorted(cluster.partition().replicas), cluster.partition().reassigning) == (
        sorted(before),
        False,
    )
    assert inverse == ReassignPartition("orders", 0, (new, before[1]))


def test_where_all_have_it_the_next_replica_is_preferred() -> None:
    cluster = Cluster(["orders:1"])
    first, *others = cluster.partition().replicas
    cluster.do(ReassignPartition("orders", 0))
    assert cluster.partition().replicas == [*others, first]


def test_the_log_has_it() -> None:
    cluster = Cluster(["orders:1"], SMALL)
    cluster.do(ReassignPartition("orders", 0, (3, 1)))
    (line,) = cluster.logged("ReassignPartition")
    assert (line["stream"], line["topic"], line["partition"], line["replicas"]) == (
        "fault",
        "orders",
        0,
        [3, 1],
    )


def test_a_scenario_has_it_and_undoes_it() -> None:
    log = EventLog()
    text = """
duration = "60s"
[topics]
orders = 2
[brokers]
count = 3
[[members]]
name = "app"
topics = "orders"
[[faults]]
verb = "ReassignPartition"
topic = "orders"
partition = 0
replicas = [3, 2]
at = "10s"
lasts = "20s"
"""
    run_scenario(read_scenario(text, "moves.toml"), 1, log)
    lines = list(log.events())
    assert sum(line["type"] == "ReassignPartition" for line in lines) == 2
    there, back = (line["replicas"] for line in lines if line["type"] == "ReassignmentCompleted")
    assert there == [3, 2] and len(back) == 1
