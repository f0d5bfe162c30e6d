"""Replicas in sync, acknowledgements, high watermarks and epochs, as brokers come and go."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.positions import served
from integration_tests.cluster.scenarios.refusals import epoch_end, fetch, listed
from integration_tests.cluster.stage import Cluster


@scenario
def too_few_replicas_in_sync(c: Cluster) -> None:
    """acks=all: NOT_ENOUGH_REPLICAS; acks=1 appends, but the high watermark stands; who is gone is
    eligible to lead."""
    name = c.topic("t", [3, 2], min_insync_replicas="2")
    c.produce(name, b"a", broker=3)
    c.committed_at(name, 2, 1)
    c.crash(3)
    c.until(name, 0, leader_id=2)
    c.show(name)
    c.produce(name, b"b", broker=2)
    c.produce(name, b"b", broker=2, version=8)
    c.produce(name, b"c", broker=2, acks=1)
    fetch(c.at(2), name, c.topic_id(name))
    c.start(3)
    c.until(name, 0, isr_nodes={2, 3})
    c.show(name)
    c.produce(name, b"e", broker=2)
    listed(c.at(2), name)


@scenario
def enough_replicas_in_sync(c: Cluster) -> None:
    """acks=all with one of three gone."""
    name = c.topic("t", [2, 3, 1], min_insync_replicas="2")
    c.produce(name, b"a", broker=2)
    c.crash(3)
    c.until(name, 0, isr_nodes={1, 2})
    c.produce(name, b"b", broker=2)
    c.show(name)
    c.start(3)
    c.until(name, 0, isr_nodes={1, 2, 3})
    c.show(name)


@scenario
def the_last_replica_is_gone(c: Cluster) -> None:
    """LEADER_NOT_AVAILABLE in Metadata, NOT_LEADER_OR_FOLLOWER elsewhere, hints that name nobody,
    until its broker is back."""
    name = c.topic("t", [3])
    topic_id = c.topic_id(name)
    c.produce(name, b"a", broker=3)
    c.crash(3)
    c.until(name, 0, leader_id=-1)
    c.show(name)
    c.at(1).ask("Metadata", 12, topics=[{"name": name}], allow_auto_topic_creation=False)
    c.produce(name, b"b", broker=1)
    fetch(c.at(1), name, topic_id)
    listed(c.at(1), name)
    epoch_end(c.at(1), name, 0)
    c.start(3)
    c.until(name, 0, leader_id=3)
    c.show(name)
    listed(c.at(3), name)


@scenario
def who_was_eligible_leads(c: Cluster) -> None:
    """ELR: the one in sync falls after the other has come back; a new leader below
    min.insync.replicas has no new high watermark yet."""
    name = c.topic("t", [2, 3], min_insync_replicas="2")
    c.produce(name, b"a", broker=2)
    c.stop(3)
    c.until(name, 0, isr_nodes={2})
    c.show(name)
    c.produce(name, b"b", broker=2, acks=1)
    c.start(3)
    c.until(name, 0, isr_nodes={2, 3})
    c.crash(2)
    c.until(name, 0, leader_id=3)
    c.show(name)
    c.start(2)
    c.until(name, 0, isr_nodes={2, 3})
    listed(c.at(3), name)
    for epoch in range(3):
        epoch_end(c.at(3), name, epoch)


@scenario
def epochs_after_failover(c: Cluster) -> None:
    """OffsetForLeaderEpoch: ends of known epochs, of unknown ones nothing. By an old or a future
    epoch requests are refused."""
    name = c.topic("t", [3, 1, 2])
    topic_id = c.topic_id(name)
    c.produce(name, b"a", b"b", broker=3)
    c.committed_at(name, 1, 2)
    c.crash(3)
    served(c, name, 1)
    for epoch in (-1, 0, 1, 2):
        epoch_end(c.at(1), name, epoch)
    c.produce(name, b"c", broker=1)
    for epoch in (0, 1, 2):
        epoch_end(c.at(1), name, epoch)
    for current in (0, 1, 2):
        fetch(c.at(1), name, topic_id, epoch=current)
        fetch(c.at(1), name, topic_id, epoch=current, version=12)
        epoch_end(c.at(1), name, 0, current)
    c.produce(name, b"d", broker=2)
    listed(c.at(1), name, timestamp=-1)
    c.start(3)
    c.until(name, 0, isr_nodes={1, 2, 3})
    c.show(name)


@scenario
def a_leader_that_stood_still(c: Cluster) -> None:
    """Another leads meanwhile; when the old one goes on, it follows, and its log is the new
    leader's."""
    name = c.topic("t", [3, 1])
    c.produce(name, b"a", broker=3)
    c.committed_at(name, 1, 1)
    c.pause(3)
    c.until(name, 0, leader_id=1)
    c.show(name)
    c.produce(name, b"b", broker=1)
    c.resume(3)
    c.until(name, 0, isr_nodes={1, 3})
    c.show(name)
    c.lead(name, 0, 3)
    c.show(name)
    fetch(c.at(3), name, c.topic_id(name))
    for epoch in range(4):
        epoch_end(c.at(3), name, epoch)


@scenario
def followers_serve_what_is_committed(c: Cluster) -> None:
    """KIP-392: a follower's records and its high watermark, once it has caught up."""
    name = c.topic("t", [1, 2, 3])
    topic_id = c.topic_id(name)
    c.produce(name, b"a", b"b", broker=1)
    c.committed_at(name, 2, 2)
    for offset in (0, 1, 2, 3):
        fetch(c.at(2), name, topic_id, offset)
    c.produce(name, b"c", broker=1, acks=1)
    c.crash(2)
    fetch(c.at(1), name, topic_id, 2)
