"""Reassignments that stand still in each phase, because a replica that is added may copy next to
nothing (KIP-73)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.assignments import BROKER, DELETE, alter, described
from integration_tests.cluster.scenarios.positions import served
from integration_tests.cluster.scenarios.reassignments import elect, reassign, running
from integration_tests.cluster.scenarios.refusals import epoch_end, fetch, listed
from integration_tests.cluster.stage import Cluster

RATE = "follower.replication.throttled.rate"
LARGE = b"x" * 900_000
"""A record, of which a follower fetches one at a time. A throttled follower has the first, and none
for ten seconds after that."""


def large_topic(c: Cluster, label: str, replicas: list[int]) -> str:
    """A topic whose replica at broker 3, once it is added, copies nothing beyond the first of five
    large records."""
    name = c.topic(label, replicas, follower_replication_throttled_replicas="0:3")
    for _ in range(5):
        c.produce(name, LARGE, broker=replicas[0])
    return name


@contextmanager
def throttled(c: Cluster) -> Iterator[None]:
    """Broker 3 copies a byte a second of what is throttled; at the end as much as it can."""
    alter(c, BROKER, "3", RATE, "1", broker=3)
    described(c, BROKER, "3", RATE, "1", broker=3)
    try:
        yield
    finally:
        alter(c, BROKER, "3", RATE, None, DELETE, broker=3)
        described(c, BROKER, "3", RATE, None, broker=3)


@scenario
def a_leader_goes_while_a_replica_is_added(c: Cluster) -> None:
    """REASN-2: who is added and has not caught up is not elected, nor sent to; the leader that was
    to go comes back, and then goes."""
    with throttled(c):
        name = large_topic(c, "t", [1, 2])
        topic_id = c.topic_id(name)
        reassign(c, name, {0: [3, 2]})
        c.until(name, 0, replica_nodes=[3, 2, 1])
        running(c, name)
        c.show(name)
        elect(c, name, 0)
        fetch(c.at(1), name, topic_id, offset=5, rack="c")
        fetch(c.at(3), name, topic_id, offset=4)
        epoch_end(c.at(3), name, 0)
        c.crash(1)
        served(c, name, 2)
        running(c, name, broker=2)
        c.show(name)
        c.produce(name, b"small", broker=2)
        c.start(1)
        c.until(name, 0, isr_nodes={1, 2})
        c.show(name)
    c.until(name, 0, replica_nodes=[3, 2], isr_nodes={2, 3})
    c.show(name)
    running(c, name)
    elect(c, name, 0)
    c.until(name, 0, leader_id=3)
    served(c, name, 3)
    listed(c.at(3), name)


@scenario
def one_of_two_has_caught_up(c: Cluster) -> None:
    """REASN-3, REASN-4: cancelled, replaced by the one that has caught up, and begun anew while the
    other has copied a part."""
    with throttled(c):
        name = large_topic(c, "t", [1])
        reassign(c, name, {0: [2, 3]})
        c.until(name, 0, isr_nodes={1, 2})
        running(c, name)
        c.show(name)
        c.produce(name, b"small", broker=1)
        elect(c, name, 0)
        c.until(name, 0, leader_id=2)
        c.show(name)
        reassign(c, name, {0: None})
        c.until(name, 0, replica_nodes=[1], isr_nodes={1})
        c.show(name)
        running(c, name)
        reassign(c, name, {0: [3, 2, 1]})
        c.until(name, 0, isr_nodes={1, 2})
        c.show(name)
        reassign(c, name, {0: [2]})
        running(c, name)
        c.show(name)
        reassign(c, name, {0: [2, 3]})
        running(c, name)
        c.show(name)
    c.until(name, 0, replica_nodes=[2, 3], isr_nodes={2, 3})
    c.show(name)


@scenario
def records_deleted_while_a_replica_is_added(c: Cluster) -> None:
    """DeleteRecords waits for a replica that has not caught up; a leader's shutdown and another
    topic's end do not."""
    with throttled(c):
        name, other = large_topic(c, "t", [1, 2]), large_topic(c, "other", [1, 2])
        reassign(c, name, {0: [1, 2, 3]})
        reassign(c, other, {0: [1, 2, 3]})
        c.until(name, 0, replica_nodes=[1, 2, 3])
        c.until(other, 0, replica_nodes=[1, 2, 3])
        deleted = {"name": name, "partitions": [{"partition_index": 0, "offset": 4}]}
        answer = c.quietly("DeleteRecords", 2, 1, topics=[deleted], timeout_ms=1_000)
        c.s.say(
            "deleted", answer["topics"][0]["partitions"][0]["error_code"]
        )  # whether the replica has ever fetched is chance
        listed(c.at(1), name, -2)
        c.stop(1)
        served(c, name, 2)
        listed(c.at(2), name, -2)
        running(c, name, other, broker=2)
        c.at(2).ask("DeleteTopics", 4, topic_names=[other], timeout_ms=10_000)
        c.s.until(lambda: not any(c.partition(other, 0, broker) for broker in c.alive), "it stayed")
        running(c, name, other, broker=2)
    c.until(name, 0, isr_nodes={2, 3})
    c.show(name)
    c.lead(name, 0, 3)
    served(c, name, 3)
    listed(c.at(3), name, -2)
    listed(c.at(3), name)
