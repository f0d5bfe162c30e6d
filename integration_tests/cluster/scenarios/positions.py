"""Positions in a log while leaders move and replicas go: offsets by leader epoch, epochs that
diverge, offsets out of range."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.acknowledgements import delete_before
from integration_tests.cluster.scenarios.reassignments import UNCLEAN, elect
from integration_tests.cluster.scenarios.refusals import epoch_end, fetch, listed
from integration_tests.cluster.scenarios.sessions import Fetcher
from integration_tests.cluster.stage import Cluster
from integration_tests.wire.batches import TIMESTAMP_MS, Producer
from integration_tests.wire.raw import Plain


def served(c: Cluster, name: str, broker: int) -> None:
    """Wait until a broker leads partition 0 and serves it, which it may do later than its metadata
    says so."""
    topics = [{"name": name, "partitions": [{"partition_index": 0, "timestamp": -1}]}]

    def serves() -> bool:
        answer = c.quietly("ListOffsets", 7, broker, replica_id=-1, topics=topics)
        return bool(answer["topics"][0]["partitions"][0]["error_code"] == 0)

    c.until(name, 0, leader_id=broker)
    c.s.until(serves, f"{c.s.names.text(name)} was never served by {broker}")


def listed_by(
    c: Cluster,
    broker: int,
    name: str,
    current: int,
    timestamp: int,
    version: int = 10,
    isolation: int = 0,
) -> Plain:
    """ListOffsets of partition 0 under the leader epoch that a client knows."""
    entries = [{"partition_index": 0, "current_leader_epoch": current, "timestamp": timestamp}]
    topics = [{"name": name, "partitions": entries}]
    return c.at(broker).ask(
        "ListOffsets", version, replica_id=-1, isolation_level=isolation, topics=topics
    )


def diverging(
    c: Cluster,
    broker: int,
    name: str,
    topic_id: str,
    offset: int,
    last: int,
    current: int = -1,
    version: int = 17,
) -> Plain:
    """A fetch that says of which epoch its last record was (KIP-595)."""
    partition = {
        "partition": 0,
        "current_leader_epoch": current,
        "fetch_offset": offset,
        "last_fetched_epoch": last,
        "partition_max_bytes": 1 << 20,
    }
    named: Plain = {"topic": name} if version <= 12 else {"topic_id": topic_id}
    limits: Plain = {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1 << 20, "session_epoch": -1}
    return c.at(broker).ask(
        "Fetch", version, **limits, topics=[named | {"partitions": [partition]}]
    )


@scenario
def offsets_under_old_and_future_epochs(c: Cluster) -> None:
    """FENCED_LEADER_EPOCH and UNKNOWN_LEADER_EPOCH for every kind of position, at the leader, at a
    follower and at who has come back."""
    name = c.topic("t", [3, 1, 2])
    c.produce(name, b"a", broker=3)
    c.lead(name, 0, 1)
    c.produce(name, b"b", broker=1, timestamp_ms=TIMESTAMP_MS + 500)
    c.committed_at(name, 3, 2)
    c.crash(1)
    served(c, name, 3)
    epoch = int(c.partition(name)["leader_epoch"])
    c.produce(name, b"c", broker=3, timestamp_ms=TIMESTAMP_MS + 100)
    c.committed_at(name, 2, 3)
    for timestamp in (
        -1,
        -2,
        -3,
        -4,
        -5,
        TIMESTAMP_MS + 50,
        TIMESTAMP_MS + 200,
        TIMESTAMP_MS + 9_000,
        -6,
        -7,
    ):
        for current in (-1, epoch - 1, epoch, epoch + 1):
            listed_by(c, 3, name, current, timestamp)
        listed_by(c, 3, name, epoch, timestamp, isolation=1)
    for current in (epoch - 1, epoch, epoch + 1):
        for version in (4, 10):
            listed_by(c, 2, name, current, -1, version)
        epoch_end(c.at(2), name, 0, current)
    c.start(1)
    c.until(name, 0, isr_nodes={1, 2, 3})
    for current in (epoch - 1, epoch, epoch + 1):
        listed_by(c, 1, name, current, -2)
        epoch_end(c.at(3), name, epoch, current)


@scenario
def epochs_that_diverge_after_an_unclean_election(c: Cluster) -> None:
    """OFFSET_OUT_OF_RANGE beyond what was lost; who names the epoch of its last record is told
    where it diverges."""
    name = c.topic("t", [3, 2])
    topic_id = c.topic_id(name)
    c.produce(name, b"first", broker=3)
    c.committed_at(name, 2, 1)
    c.stop(2)
    c.until(name, 0, isr_nodes={3})
    c.produce(name, b"second", broker=3)
    c.produce(name, b"third", broker=3)
    c.crash(3, noticed=False)
    c.start(2)
    c.until(name, 0, leader_id=-1)
    fetch(c.at(2), name, topic_id)
    listed(c.at(2), name)
    epoch_end(c.at(2), name, 0)
    elect(c, name, 0, kind=UNCLEAN)
    served(c, name, 2)
    epoch = int(c.partition(name)["leader_epoch"])
    c.produce(name, b"new", broker=2)
    for version in (12, 17):
        for offset in (0, 1, 2, 3, 9):
            fetch(c.at(2), name, topic_id, offset=offset, version=version)
        for offset, last in (
            (1, 0),
            (2, 0),
            (3, 0),
            (2, 1),
            (3, 1),
            (2, epoch),
            (3, epoch),
            (2, epoch + 1),
        ):
            diverging(c, 2, name, topic_id, offset, last, version=version)
    diverging(c, 2, name, topic_id, 3, 0, current=epoch - 1)
    diverging(c, 2, name, topic_id, 3, 0, current=epoch + 1)
    c.start(3)
    c.until(name, 0, isr_nodes={2, 3})
    c.committed_at(name, 3, 2)
    for offset in (1, 2, 3):
        fetch(c.at(3), name, topic_id, offset=offset)
    diverging(c, 3, name, topic_id, 3, 0)
    c.lead(name, 0, 3)
    served(c, name, 3)
    for asked in range(epoch + 3):
        epoch_end(c.at(3), name, asked)


@scenario
def out_of_range_at_followers(c: Cluster) -> None:
    """KIP-392: below the start and beyond the end of a follower's log, with and without a rack, and
    in a session."""
    name = c.topic("t", [1, 2, 3])
    topic_id = c.topic_id(name)
    c.produce(name, b"a", broker=1)
    c.produce(name, b"b", b"c", broker=1)
    c.produce(name, b"d", broker=1)
    delete_before(c, name, 2, 1)
    for broker in (2, 3):
        c.committed_at(name, broker, 4, start=2)
    for broker in (1, 2):
        for offset in (0, 1, 2, 3, 4, 5):
            for rack in ("", "b"):
                fetch(c.at(broker), name, topic_id, offset=offset, rack=rack)
    one = Fetcher(c, 2)
    one.fetch((name, 0))
    one.fetch()
    one.fetch((name, 4))
    one.fetch((name, 9))
    one.fetch()


@scenario
def a_preferred_replica_goes(c: Cluster) -> None:
    """KIP-392: once it is out of the replicas in sync and fenced nobody is sent to it; it is named
    again when it has come back."""
    name = c.topic("t", [1, 2, 3])
    topic_id = c.topic_id(name)
    c.produce(name, b"a", broker=1)
    for broker in (2, 3):
        c.committed_at(name, broker, 1)
    fetch(c.at(1), name, topic_id, rack="b")
    c.pause(2)
    c.until(name, 0, isr_nodes={1, 3})
    fetch(c.at(1), name, topic_id, rack="b")
    fetch(c.at(1), name, topic_id, rack="c")
    c.produce(name, b"b", broker=1)
    c.resume(2)
    c.until(name, 0, isr_nodes={1, 2, 3})
    c.committed_at(name, 2, 2)
    fetch(c.at(1), name, topic_id, offset=1, rack="b")
    fetch(c.at(2), name, topic_id, offset=1, rack="b")
    c.stop(1)
    served(c, name, 2)
    fetch(c.at(2), name, topic_id, rack="b")
    fetch(c.at(2), name, topic_id, rack="a")
    fetch(c.at(3), name, topic_id, rack="b")


@scenario
def sessions_across_restarts(c: Cluster) -> None:
    """A session's broker crashes and returns: its id is unknown; the session at another broker is
    told once who leads."""
    led, other = c.topic("led", [3, 1]), c.topic("other", [1, 3])
    for name, broker in ((led, 3), (other, 1)):
        c.produce(name, b"a", broker=broker)
    c.committed_at(led, 1, 1)
    c.committed_at(other, 3, 1)
    lost, kept, early = Fetcher(c, 3), Fetcher(c, 1), Fetcher(c, 1, 12)
    lost.fetch((led, 0), (other, 0))
    kept.fetch((led, 0), (other, 1))
    early.fetch((led, 0), (other, 1))
    c.crash(3)
    served(c, led, 1)
    for one in (kept, early):
        one.fetch()
        one.fetch((led, 1))
        one.fetch()
    c.produce(led, b"b", broker=1)
    for one in (kept, early):
        one.fetch()
    c.start(3)
    c.until(led, 0, isr_nodes={1, 3})
    c.committed_at(led, 3, 2)
    lost.fetch()
    lost.fetch((led, 1), epoch=0)
    lost.fetch(epoch=-1)
    c.lead(led, 0, 3)
    for one in (kept, early):
        one.fetch()
        one.fetch((led, 1), current=0)
        one.fetch()


@scenario
def records_deleted_while_a_replica_is_away(c: Cluster) -> None:
    """DeleteRecords does not wait for a replica whose broker is gone; its log begins where the
    leader's does once it is back."""
    name, alone = c.topic("t", [1, 3]), c.topic("alone", [3])
    topic_id = c.topic_id(name)
    c.produce(name, b"a", broker=1)
    c.produce(name, b"b", b"c", broker=1)
    c.committed_at(name, 3, 3)
    c.crash(3)
    c.until(name, 0, isr_nodes={1})
    c.until(alone, 0, leader_id=-1)
    delete_before(c, name, 2, 1)
    delete_before(c, alone, 0, 1)
    delete_before(c, name, 0, 2)
    delete_before(c, name, 4, 1)
    listed(c.at(1), name, -2)
    c.start(3)
    c.until(name, 0, isr_nodes={1, 3})
    c.committed_at(name, 3, 3, start=2)
    for offset in (0, 1, 2, 3):
        fetch(c.at(3), name, topic_id, offset=offset)
    c.lead(name, 0, 3)
    served(c, name, 3)
    listed(c.at(3), name, -2)
    listed(c.at(3), name, -4, version=9)
    delete_before(c, name, -1, 3)
    listed(c.at(3), name, -2)


@scenario
def brokers_restart_in_turn(c: Cluster) -> None:
    """Controlled shutdowns of all, one after the other, under acks=all and an idempotent producer:
    nothing is lost or written twice."""
    name = c.topic("t", [1, 2, 3], min_insync_replicas="2")
    identity = c.at(2).ask("InitProducerId", 4, transactional_id=None, transaction_timeout_ms=1_000)
    sequence = 0

    def write(broker: int, at: int) -> None:
        c.produce(name, b"v", broker=broker, producer=Producer(identity["producer_id"], 0, at))

    leader = 1
    write(leader, sequence)
    for broker in (1, 2, 3):
        c.stop(broker)
        c.until(name, 0, isr_nodes={1, 2, 3} - {broker})
        leader = int(c.partition(name)["leader_id"])
        served(c, name, leader)
        write(leader, sequence)
        sequence += 1
        write(leader, sequence)
        write(leader, sequence + 2)
        c.show(name)
        c.start(broker)
        c.until(name, 0, isr_nodes={1, 2, 3})
        c.show(name)
        listed(c.at(leader), name)
    for epoch in range(5):
        epoch_end(c.at(leader), name, epoch)
