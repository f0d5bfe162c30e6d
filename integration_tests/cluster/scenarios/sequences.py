"""What leaders remember of idempotent producers: the last batches of each, over crashes, clean
restarts, moves and truncation."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.acknowledgements import delete_before
from integration_tests.cluster.scenarios.positions import served
from integration_tests.cluster.scenarios.reassignments import UNCLEAN, elect, reassign
from integration_tests.cluster.scenarios.refusals import listed
from integration_tests.cluster.stage import Cluster
from integration_tests.wire.batches import Producer

Write = Callable[..., None]


def producing(c: Cluster, name: str) -> Write:
    """A new idempotent producer: what writes its records to partition 0, under a sequence number,
    at a broker."""
    identity = c.at(1).ask("InitProducerId", 4, transactional_id=None, transaction_timeout_ms=1_000)

    def write(broker: int, sequence: int, *values: bytes, epoch: int = 0, **batch: Any) -> None:
        c.produce(
            name,
            *(values or (b"v",)),
            broker=broker,
            producer=Producer(identity["producer_id"], epoch, sequence),
            **batch,
        )

    return write


def producers(c: Cluster, name: str, broker: int) -> None:
    """DescribeProducers of partition 0, by producer id: a broker tells them as they are hashed."""
    found = c.quietly(
        "DescribeProducers", 0, broker, topics=[{"name": name, "partition_indexes": [0]}]
    )["topics"][0]["partitions"][0]
    found["active_producers"].sort(key=lambda producer: int(producer["producer_id"]))
    c.s.say(f"producers at {broker}", found)


@scenario
def the_last_five_batches_at_the_next_leader(c: Cluster) -> None:
    """A follower remembers as many batches of a producer as its leader: the last five are told
    again, older ones are refused."""
    name = c.topic("t", [3, 1, 2])
    write = producing(c, name)
    for sequence in range(7):
        write(3, sequence)
    write(3, 1)
    write(3, 2)
    c.committed_at(name, 1, 7)
    c.crash(3)
    served(c, name, 1)
    for sequence in range(8):
        write(1, sequence)
    write(1, 6, b"v", b"w")
    write(1, 5, b"v", b"w")
    write(1, 9)
    producers(c, name, 1)
    c.start(3)
    c.until(name, 0, isr_nodes={1, 2, 3})
    c.committed_at(name, 3, 8)
    c.lead(name, 0, 3)
    served(c, name, 3)
    for sequence in (2, 3, 4, 5, 7, 8):
        write(3, sequence)
    producers(c, name, 3)


@scenario
def the_last_batches_after_a_clean_restart(c: Cluster) -> None:
    """A broker that shut down in good order has written what it knows of producers; who had the
    only replica goes on with that."""
    name = c.topic("t", [3])
    write, other = producing(c, name), producing(c, name)
    for sequence in range(4):
        write(3, sequence)
    other(3, 0, b"a", b"b", b"c")
    c.stop(3)
    c.start(3)
    served(c, name, 3)
    producers(c, name, 3)
    for sequence in (3, 2, 1, 0, 4):
        write(3, sequence)
    other(3, 0, b"a", b"b", b"c")
    other(3, 0, b"a", b"b")
    other(3, 2, b"c")
    other(3, 3)
    write(3, 3)
    producers(c, name, 3)


@scenario
def the_last_batches_after_a_crash(c: Cluster) -> None:
    """A broker that was killed reads its log again, with every batch in it."""
    name = c.topic("t", [3])
    write = producing(c, name)
    for sequence in range(7):
        write(3, sequence)
    write(3, 0, epoch=1)
    write(3, 1, epoch=1)
    c.crash(3)
    c.start(3)
    served(c, name, 3)
    producers(c, name, 3)
    for sequence in (6, 1, 0, 2):
        write(3, sequence)
        write(3, sequence, epoch=1)
    listed(c.at(3), name)


@scenario
def sequences_lost_in_an_unclean_election(c: Cluster) -> None:
    """The new leader knows what it had; who had more forgets it when it truncates, and leads
    without it."""
    name = c.topic("t", [3, 2])
    write, late = producing(c, name), producing(c, name)
    write(3, 0)
    write(3, 1)
    c.committed_at(name, 2, 2)
    c.stop(2)
    c.until(name, 0, isr_nodes={3})
    write(3, 2)
    write(3, 3)
    late(3, 0)
    c.crash(3, noticed=False)
    c.start(2)
    c.until(name, 0, leader_id=-1)
    elect(c, name, 0, kind=UNCLEAN)
    served(c, name, 2)
    write(2, 4)
    late(2, 1)
    write(2, 1)
    write(2, 2)
    producers(c, name, 2)
    c.start(3)
    c.until(name, 0, isr_nodes={2, 3})
    c.lead(name, 0, 3)
    served(c, name, 3)
    producers(c, name, 3)
    late(3, 5)
    write(3, 3)
    write(3, 2)
    listed(c.at(3), name)


@scenario
def producers_whose_records_were_deleted(c: Cluster) -> None:
    """Records deleted do not make a leader forget their producer; a replica that is added after
    that has never heard of it."""
    name = c.topic("t", [1, 2])
    write = producing(c, name)
    for sequence in range(3):
        write(1, sequence)
    delete_before(c, name, -1, 1)
    write(1, 2)
    write(1, 1)
    producers(c, name, 1)
    reassign(c, name, {0: [3]})
    c.until(name, 0, replica_nodes=[3], isr_nodes={3})
    served(c, name, 3)
    producers(c, name, 3)
    write(3, 2)
    write(3, 3)
    listed(c.at(3), name, -2)
    listed(c.at(3), name)


@scenario
def sequences_that_go_round(c: Cluster) -> None:
    """After 2,147,483,647 comes 0, also at the next leader and within a batch."""
    name = c.topic("t", [3, 1])
    write, other = producing(c, name), producing(c, name)
    last = (1 << 31) - 1
    write(3, last)
    write(3, 0)
    other(3, last - 1, b"a", b"b", b"c")
    other(3, 0)
    other(3, 1)
    c.committed_at(name, 1, 6)
    c.crash(3)
    served(c, name, 1)
    producers(c, name, 1)
    write(1, 1)
    write(1, last)
    other(1, last - 1, b"a", b"b", b"c")
    other(1, 1, b"d")
    other(1, 2, b"d")
    listed(c.at(1), name)


@scenario
def producers_of_today_after_a_restart(c: Cluster) -> None:
    """A broker that starts knows of each producer the newest batch, after a crash, too; and all
    that it copies from then on."""
    name, alone = c.topic("t", [3, 1]), c.topic("alone", [3])
    write, once = producing(c, name), producing(c, alone)
    now_ms = int(time.time() * 1000)
    for sequence in range(4):
        write(3, sequence, timestamp_ms=now_ms)
        once(3, sequence, timestamp_ms=now_ms)
    once(3, 0, b"a", b"b", epoch=1, timestamp_ms=now_ms)
    c.committed_at(name, 1, 4)
    c.crash(3)
    served(c, name, 1)
    write(1, 4, timestamp_ms=now_ms)
    write(1, 0)
    c.start(3)
    c.until(name, 0, isr_nodes={1, 3})
    c.committed_at(name, 3, 5)
    c.lead(name, 0, 3)
    for topic in (name, alone):
        served(c, topic, 3)
        producers(c, topic, 3)
    for sequence in (0, 2, 3, 4, 5):
        write(3, sequence)
    for sequence in (3, 0, 1, 2):
        once(3, sequence)
        once(3, sequence, epoch=1)
    once(3, 0, b"a", b"b", epoch=1)
    c.stop(3)
    c.start(3)
    for topic in (name, alone):
        c.until(topic, 0, leader_id=3 if topic == alone else 1)
    served(c, alone, 3)
    producers(c, alone, 3)
    write(1, 4)
    write(1, 5)
    once(3, 0, b"a", b"b", epoch=1)
    once(3, 2, epoch=1)
