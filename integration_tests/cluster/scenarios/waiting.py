"""Requests that wait at a leader while leaders, replicas in sync and topics change, and what is
told to those who come to the old one."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.refusals import epoch_end, fetch, listed
from integration_tests.cluster.stage import Cluster
from integration_tests.wire.batches import Producer
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link

VERSIONS = (10, 12, 17)


def _fetch_that_waits(
    c: Cluster, label: str, name: str, version: int, offset: int, epoch: int = -1
) -> Link:
    """A fetch of partition 0 at broker 3 that waits for records."""
    partition = {
        "partition": 0,
        "current_leader_epoch": epoch,
        "fetch_offset": offset,
        "partition_max_bytes": 1 << 20,
    }
    named: Plain = {"topic": name} if version <= 12 else {"topic_id": c.topic_id(name)}
    limits: Plain = {
        "max_wait_ms": 120_000,
        "min_bytes": 1,
        "max_bytes": 1 << 20,
        "session_epoch": -1,
    }
    link = c.connect(label, 3)
    link.send("Fetch", version, **limits, topics=[named | {"partitions": [partition]}])
    link.silent()
    return link


@scenario
def fetches_wait_while_another_comes_to_lead(c: Cluster) -> None:
    """Versions that only a leader serves are refused; others, of a replica that follows now, are
    answered or wait on."""
    name = c.topic("t", [3, 1, 2])
    c.produce(name, b"a", broker=3)
    c.committed_at(name, 1, 1)
    links = [_fetch_that_waits(c, f"v{version}", name, version, 1) for version in VERSIONS]
    fenced = _fetch_that_waits(c, "epoch", name, 17, 1, int(c.partition(name)["leader_epoch"]))
    c.lead(name, 0, 1)
    c.produce(name, b"b", broker=1)
    for link in (*links, fenced):
        link.expect()


@scenario
def fetches_wait_while_their_replica_goes(c: Cluster) -> None:
    """A replica that is moved away, and a topic that is deleted: who waits is told at once."""
    moved, deleted = c.topic("moved", [3, 1]), c.topic("deleted", [3, 1])
    of_moved = [
        _fetch_that_waits(c, f"moved-v{version}", moved, version, 0) for version in VERSIONS
    ]
    entry = {"partition_index": 0, "replicas": [1, 2]}
    c.quietly(
        "AlterPartitionReassignments",
        0,
        topics=[{"name": moved, "partitions": [entry]}],
        timeout_ms=10_000,
    )
    c.until(moved, 0, replica_nodes=[1, 2], isr_nodes={1, 2})
    for link in of_moved:
        link.expect()
    of_deleted = [
        _fetch_that_waits(c, f"deleted-v{version}", deleted, version, 0) for version in VERSIONS
    ]
    c.at(1).ask("DeleteTopics", 4, topic_names=[deleted], timeout_ms=10_000)
    for link in of_deleted:
        link.expect()


@scenario
def records_wait_while_too_few_stay_in_sync(c: Cluster) -> None:
    """acks=all: NOT_ENOUGH_REPLICAS_AFTER_APPEND once the follower is out; NOT_ENOUGH_REPLICAS from
    then on."""
    name = c.topic("t", [3, 1], min_insync_replicas="2")
    identity = c.at(2).ask("InitProducerId", 4, transactional_id=None, transaction_timeout_ms=1_000)
    first, second = (Producer(identity["producer_id"], 0, sequence) for sequence in (0, 1))
    c.produce(name, b"a", broker=3, producer=first)
    c.committed_at(name, 1, 1)
    c.pause(1)
    c.until(name, 0, isr_nodes={3})
    c.produce(name, b"b", broker=3, producer=second)
    c.produce(name, b"c", broker=3, acks=1)
    listed(c.at(3), name)
    c.show(name)
    c.resume(1)
    c.until(name, 0, isr_nodes={1, 3})
    c.produce(name, b"b", broker=3, producer=second)
    listed(c.at(3), name)


@scenario
def more_in_sync_than_there_are(c: Cluster) -> None:
    """min.insync.replicas above the number of replicas counts as that number."""
    one, two = (
        c.topic("one", [3], min_insync_replicas="3"),
        c.topic("two", [3, 1], min_insync_replicas="3"),
    )
    c.produce(one, b"a", broker=3)
    c.produce(two, b"a", broker=3)
    c.crash(1)
    c.until(two, 0, isr_nodes={3})
    c.produce(one, b"b", broker=3)
    c.produce(two, b"b", broker=3)
    c.show(one, two)


@scenario
def hints_after_a_failover(c: Cluster) -> None:
    """KIP-951: who led says who leads now, and where; a leader that is gone is named without an
    address by nobody."""
    name, alone = c.topic("t", [3, 1, 2]), c.topic("alone", [2])
    topic_id, of_alone = c.topic_id(name), c.topic_id(alone)
    c.produce(name, b"a", broker=3)
    epoch = int(c.partition(name)["leader_epoch"])
    c.lead(name, 0, 1)
    for version in (9, 10, 12):
        c.produce(name, b"b", broker=3, version=version)
    for version in (12, 16, 17):
        fetch(c.at(3), name, topic_id, version=version, epoch=epoch)
        fetch(c.at(3), name, topic_id, version=version, epoch=epoch + 1)
        fetch(c.at(3), alone, of_alone, version=version)
    c.crash(2)
    c.until(alone, 0, leader_id=-1)
    for version in (12, 16, 17):
        fetch(c.at(3), alone, of_alone, version=version)
    c.produce(alone, b"b", broker=3)
    for broker in (1, 3):
        for current in (-1, epoch, epoch + 1, epoch + 2):
            epoch_end(c.at(broker), name, epoch, current)
    listed(c.at(3), alone)
    epoch_end(c.at(3), alone, 0)
