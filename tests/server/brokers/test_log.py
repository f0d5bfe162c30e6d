"""The event log of several brokers: verbs, what follows from them, and whose each line is; the
cluster follows from its events."""

from __future__ import annotations

from coordinator.kit.cluster import StopBroker, from_plain, to_plain
from tests.server.brokers.desk import Cluster
from tests.server.brokers.test_coordinators import commit, coordinator_of


def test_lines_say_whose_they_are() -> None:
    cluster = Cluster()
    node = coordinator_of(cluster)
    cluster.client(node).ask(commit(1), 7)
    (line,) = cluster.logged("OffsetsCommitted")
    assert line["broker"] == node
    verb = StopBroker(node, how="crash")
    cluster.do(verb)
    cluster.pass_time(10_000)
    (stopped,) = cluster.logged("StopBroker")
    assert (stopped["stream"], stopped["broker"], stopped["how"]) == ("fault", node, "crash")
    assert [
        (fenced["broker"], str(fenced["reason"])[:8]) for fenced in cluster.logged("BrokerFenced")
    ] == [(node, f"broker {node}")]
    loaded = cluster.logged("GroupLoaded")
    assert [line["broker"] for line in loaded] == [
        coordinator_of(cluster, next(other for other in (1, 2, 3) if other != node))
    ]
    assert from_plain(to_plain(verb)) == verb
