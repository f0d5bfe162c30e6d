"""Leader epochs that have no records, and time stamps that go backwards, at the leaders that come
after."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.acknowledgements import delete_before
from integration_tests.cluster.scenarios.positions import listed_by, served
from integration_tests.cluster.scenarios.reassignments import UNCLEAN, elect, reassign
from integration_tests.cluster.scenarios.refusals import epoch_end, fetch
from integration_tests.cluster.stage import Cluster
from integration_tests.wire.batches import TIMESTAMP_MS

FIRST, LAST, LARGEST, LOCAL = -2, -1, -3, -4


@scenario
def epochs_without_records(c: Cluster) -> None:
    """OffsetForLeaderEpoch of epochs in which nothing was written, at each leader, after restarts,
    and once the records are deleted."""
    name = c.topic("t", [1, 2, 3])

    def ends(broker: int) -> None:
        epoch = int(c.partition(name)["leader_epoch"])
        for asked in range(-1, epoch + 2):
            epoch_end(c.at(broker), name, asked)
        for time in (FIRST, LAST, LARGEST, LOCAL):
            listed_by(c, broker, name, -1, time)

    ends(1)
    for leader in (2, 3, 1):
        c.lead(name, 0, leader)
        served(c, name, leader)
    ends(1)
    c.produce(name, b"a", b"b", broker=1)
    for leader in (2, 3):
        c.lead(name, 0, leader)
        served(c, name, leader)
        ends(leader)
    c.produce(name, b"c", broker=3)
    c.committed_at(name, 1, 3)
    c.stop(3)
    served(c, name, 2 if c.partition(name)["leader_id"] == 2 else 1)
    leader = int(c.partition(name)["leader_id"])
    ends(leader)
    c.start(3)
    c.until(name, 0, isr_nodes={1, 2, 3})
    c.lead(name, 0, 3)
    served(c, name, 3)
    ends(3)
    delete_before(c, name, 3, 3)
    ends(3)
    c.lead(name, 0, 1)
    served(c, name, 1)
    ends(1)
    c.produce(name, b"d", broker=1)
    ends(1)


@scenario
def times_that_go_back(c: Cluster) -> None:
    """ListOffsets by time where later records are older, within a batch and over batches; at the
    next leader, and after DeleteRecords."""
    name = c.topic("t", [3, 1])
    topic_id = c.topic_id(name)
    c.produce(name, b"a", b"b", b"c", broker=3, step_ms=-100)
    c.produce(name, b"d", broker=3, timestamp_ms=TIMESTAMP_MS - 500)
    c.produce(name, b"e", b"f", broker=3, timestamp_ms=TIMESTAMP_MS + 300, step_ms=100)
    c.produce(name, b"g", b"h", broker=3, timestamp_ms=TIMESTAMP_MS + 400, step_ms=-400)
    c.committed_at(name, 1, 8)

    def asked(broker: int) -> None:
        for time in (
            FIRST,
            LAST,
            LARGEST,
            0,
            TIMESTAMP_MS - 600,
            TIMESTAMP_MS - 150,
            TIMESTAMP_MS,
            TIMESTAMP_MS + 1,
            TIMESTAMP_MS + 350,
            TIMESTAMP_MS + 400,
            TIMESTAMP_MS + 401,
        ):
            listed_by(c, broker, name, -1, time, version=7)

    asked(3)
    c.crash(3)
    served(c, name, 1)
    asked(1)
    delete_before(c, name, 6, 1)
    asked(1)
    c.start(3)
    c.until(name, 0, isr_nodes={1, 3})
    c.committed_at(name, 3, 8, start=6)
    c.lead(name, 0, 3)
    served(c, name, 3)
    asked(3)
    fetch(c.at(3), name, topic_id, offset=6)
    delete_before(c, name, -1, 3)
    asked(3)
    c.stop(3)
    served(c, name, 1)
    asked(1)


@scenario
def the_largest_time_is_lost(c: Cluster) -> None:
    """The record with the largest time stamp is truncated: the largest that is left is told; so it
    is by a replica added later."""
    name = c.topic("t", [3, 2])
    c.produce(name, b"a", b"b", broker=3, timestamp_ms=TIMESTAMP_MS + 50, step_ms=-10)
    c.committed_at(name, 2, 2)
    c.stop(2)
    c.until(name, 0, isr_nodes={3})
    c.produce(name, b"lost", broker=3, timestamp_ms=TIMESTAMP_MS + 900)
    listed_by(c, 3, name, -1, LARGEST)
    c.crash(3, noticed=False)
    c.start(2)
    c.until(name, 0, leader_id=-1)
    elect(c, name, 0, kind=UNCLEAN)
    served(c, name, 2)
    listed_by(c, 2, name, -1, LARGEST)
    c.produce(name, b"c", broker=2, timestamp_ms=TIMESTAMP_MS + 10)
    listed_by(c, 2, name, -1, LARGEST)
    c.start(3)
    c.until(name, 0, isr_nodes={2, 3})
    c.committed_at(name, 3, 3)
    c.lead(name, 0, 3)
    served(c, name, 3)
    for time in (LARGEST, TIMESTAMP_MS + 45, TIMESTAMP_MS + 100):
        listed_by(c, 3, name, -1, time)
    delete_before(c, name, 2, 3)
    listed_by(c, 3, name, -1, LARGEST)
    reassign(c, name, {0: [1]})
    c.until(name, 0, replica_nodes=[1], isr_nodes={1})
    served(c, name, 1)
    for time in (FIRST, LARGEST, TIMESTAMP_MS, TIMESTAMP_MS + 45):
        listed_by(c, 1, name, -1, time)


@scenario
def deleted_records_and_restarts(c: Cluster) -> None:
    """Where a log starts is kept over a shutdown of the only replica; who led and crashed hears of
    it from the next leader."""
    shut, copied = c.topic("shut", [2]), c.topic("copied", [3, 1])
    for topic, broker in ((shut, 2), (copied, 3)):
        c.produce(topic, b"a", broker=broker)
        c.produce(topic, b"b", b"c", broker=broker)
        delete_before(c, topic, 2, broker)
    c.committed_at(copied, 1, 3, start=2)
    c.crash(3)
    served(c, copied, 1)
    c.start(3)
    c.until(copied, 0, isr_nodes={1, 3})
    c.committed_at(copied, 3, 3, start=2)
    for offset in (0, 1, 2):
        fetch(c.at(3), copied, c.topic_id(copied), offset=offset)
    c.lead(copied, 0, 3)
    served(c, copied, 3)
    for time in (FIRST, LAST, LARGEST):
        listed_by(c, 3, copied, -1, time, version=7)
    c.stop(2)
    c.start(2)
    served(c, shut, 2)
    for time in (FIRST, LAST, LARGEST):
        listed_by(c, 2, shut, -1, time, version=7)
    for offset in (0, 1, 2):
        fetch(c.at(2), shut, c.topic_id(shut), offset=offset)
