"""Reassignments of partitions and elections of leaders: what is asked, what is refused, and each
way in which one may be interrupted."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.stage import Cluster
from integration_tests.wire.raw import Plain

PREFERRED, UNCLEAN = 0, 1


def reassign(
    c: Cluster,
    name: str,
    targets: dict[int, list[int] | None],
    *,
    broker: int = 1,
    version: int = 0,
    **options: bool,
) -> Plain:
    """AlterPartitionReassignments of one topic, and its answer."""
    entries = [
        {"partition_index": index, "replicas": replicas} for index, replicas in targets.items()
    ]
    fields: Plain = {
        "timeout_ms": 10_000,
        "topics": [{"name": name, "partitions": entries}],
        **options,
    }
    return c.at(broker).ask("AlterPartitionReassignments", version, **fields)


def running(c: Cluster, *names: str, broker: int = 1) -> None:
    """ListPartitionReassignments of partition 0 of each."""
    topics = [{"name": name, "partition_indexes": [0]} for name in names]
    c.at(broker).ask(
        "ListPartitionReassignments", 0, timeout_ms=10_000, topics=topics, shuffled="topics"
    )


def elect(
    c: Cluster, name: str, *partitions: int, kind: int = PREFERRED, version: int = 2
) -> Plain:
    """ElectLeaders of one topic's partitions, and its answer."""
    fields: Plain = {
        "topic_partitions": [{"topic": name, "partitions": list(partitions)}],
        "timeout_ms": 10_000,
    }
    return c.at(1).ask(
        "ElectLeaders", version, **fields | ({"election_type": kind} if version else {})
    )


@scenario
def reassignments_that_are_refused(c: Cluster) -> None:
    """REASN-1: unknown brokers, replicas twice or none, unknown partitions, nothing to cancel,
    another factor where it may not change."""
    name, nope = c.topic("t", [1, 2]), c.s.name("nope")
    for replicas in ([1, 9], [-1, 1], [1, 1], []):
        reassign(c, name, {0: replicas})
    reassign(c, name, {7: [1, 2]})
    reassign(c, nope, {0: [1, 2]})
    reassign(c, name, {0: None})
    reassign(c, nope, {0: None})
    reassign(c, name, {0: [1, 2, 3]}, version=1, allow_replication_factor_change=False)
    c.at(1).ask("AlterPartitionReassignments", 0, timeout_ms=10_000, topics=[])
    reassign(c, name, {0: [1, 2]})
    running(c, name, nope)
    c.at(1).ask(
        "ListPartitionReassignments",
        0,
        timeout_ms=10_000,
        topics=[{"name": name, "partition_indexes": [0, 9]}],
    )
    c.show(name)


@scenario
def replicas_in_another_order(c: Cluster) -> None:
    """REASN-1: done at once; the leader stays until an election."""
    name = c.topic("t", [1, 2, 3])
    reassign(c, name, {0: [2, 1, 3]}, broker=3)
    c.until(name, 0, replica_nodes=[2, 1, 3])
    c.show(name)
    elect(c, name, 0)
    c.until(name, 0, leader_id=2)
    c.show(name)


@scenario
def replicas_come_and_go(c: Cluster) -> None:
    """REASN-2: added; one for another; the leader off; down to one. The leader's epoch goes up when
    a replica goes."""
    name = c.topic("t", [1, 2])
    c.produce(name, b"a", b"b", broker=1)
    for replicas in ([1, 2, 3], [1, 3], [3, 2], [2]):
        reassign(c, name, {0: replicas})
        c.until(name, 0, replica_nodes=replicas, isr_nodes=set(replicas))
        c.show(name)
    running(c, name)
    c.produce(name, b"c", broker=2)


@scenario
def one_partition_twice_in_a_request(c: Cluster) -> None:
    """The second counts."""
    name = c.topic("t", [1, 2])
    entries = [
        {"partition_index": 0, "replicas": [1, 3]},
        {"partition_index": 0, "replicas": [2, 3]},
    ]
    c.at(1).ask(
        "AlterPartitionReassignments",
        0,
        timeout_ms=10_000,
        topics=[{"name": name, "partitions": entries}],
    )
    c.until(name, 0, replica_nodes=[2, 3], isr_nodes={2, 3})
    c.s.say("replicas", c.partition(name)["replica_nodes"])


@scenario
def a_reassignment_that_waits_for_a_broker(c: Cluster) -> None:
    """REASN-1, REASN-5: registered at once, with targets first; done when the missing broker is
    back and has caught up (REASN-2)."""
    labels = {"moves": [2, 3], "grows": [1, 2, 3], "leaves": [3]}
    names = {label: c.topic(label, [1, 2]) for label in labels}
    c.crash(3)
    for label, replicas in labels.items():
        reassign(c, names[label], {0: replicas})
    running(c, *names.values())
    c.show(*names.values())
    reassign(c, names["moves"], {0: [2, 3]})
    running(c, names["moves"])
    c.produce(names["moves"], b"a", broker=1)
    c.start(3)
    for label, replicas in labels.items():
        c.until(names[label], 0, replica_nodes=replicas, isr_nodes=set(replicas))
    c.show(*names.values())
    running(c, *names.values())


@scenario
def a_reassignment_cancelled(c: Cluster) -> None:
    """REASN-3: what was to be added goes, what was to be removed stays; the targets' order is
    kept."""
    name, grows = c.topic("moves", [1, 2]), c.topic("grows", [1, 2])
    c.crash(3)
    reassign(c, name, {0: [2, 3]})
    reassign(c, grows, {0: [1, 2, 3]})
    reassign(c, name, {0: None})
    reassign(c, grows, {0: None})
    c.until(name, 0, replica_nodes=[2, 1])
    c.until(grows, 0, replica_nodes=[1, 2])
    c.show(name, grows)
    running(c, name, grows)
    reassign(c, name, {0: None})
    elect(c, name, 0)
    c.until(name, 0, leader_id=2)
    c.show(name)


@scenario
def a_reassignment_replaced_midway(c: Cluster) -> None:
    """REASN-4: the new targets are set against all replicas there are by then; one that is added
    and removed keeps it from ending."""
    name = c.topic("t", [1, 2])
    c.crash(3)
    reassign(c, name, {0: [2, 3]})
    reassign(c, name, {0: [1, 3]})
    c.until(name, 0, replica_nodes=[1, 3, 2])
    running(c, name)
    c.show(name)
    reassign(c, name, {0: [2, 1]})
    c.until(name, 0, replica_nodes=[2, 1, 3])
    running(c, name)
    c.show(name)


@scenario
def a_topic_deleted_while_it_is_reassigned(c: Cluster) -> None:
    """It goes, and its reassignment with it."""
    name = c.topic("t", [1, 2])
    c.crash(3)
    reassign(c, name, {0: [2, 3]})
    c.at(1).ask("DeleteTopics", 4, topic_names=[name], timeout_ms=10_000)
    c.s.until(lambda: not c.partition(name), "it stayed")
    running(c, name)
    reassign(c, name, {0: None})


@scenario
def a_target_dies_while_it_is_added(c: Cluster) -> None:
    """The reassignment waits; a leader among the old replicas goes on."""
    name = c.topic("t", [1, 2])
    c.produce(name, b"a", broker=1)
    c.pause(3)
    reassign(c, name, {0: [3, 2]})
    running(c, name)
    c.show(name)
    c.produce(name, b"b", broker=1)
    c.resume(3)
    c.until(name, 0, replica_nodes=[3, 2], isr_nodes={2, 3})
    c.show(name)


@scenario
def elections(c: Cluster) -> None:
    """Not needed, unknown, of no known kind; of all partitions; with a preferred leader that is
    gone; without any leader."""
    name, nope = c.topic("t", [1, 2], [2, 1]), c.s.name("nope")
    for version in (0, 1, 2):
        elect(c, name, 0, version=version)
    elect(c, name, 0, kind=UNCLEAN)
    elect(c, nope, 0)
    elect(c, name, 0, 9)
    elect(c, name, 0, kind=2)
    elect(c, name)
    alone, led = c.topic("alone", [3]), c.topic("led", [3, 2])
    c.crash(3)
    c.until(alone, 0, leader_id=-1)
    for kind in (PREFERRED, UNCLEAN):
        elect(c, alone, 0, kind=kind)
        elect(c, led, 0, kind=kind)
    c.show(alone, led)
    c.start(3)
    c.until(led, 0, isr_nodes={2, 3})
    elect(c, led, 0)
    c.until(led, 0, leader_id=3)
    c.show(alone, led)
