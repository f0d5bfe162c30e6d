"""Consumers that name their rack, and are sent to a follower in it (KIP-392)."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.phases import large_topic, throttled
from integration_tests.cluster.scenarios.reassignments import reassign
from integration_tests.cluster.scenarios.refusals import fetch
from integration_tests.cluster.stage import Cluster
from integration_tests.wire.raw import Plain

LIMITS: Plain = {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1 << 20}


@scenario
def a_replica_in_the_consumers_rack(c: Cluster) -> None:
    """The leader names it, with no records; it serves. In the leader's own rack, in none and in an
    unknown one the leader does."""
    name = c.topic("t", [1, 2, 3])
    topic_id = c.topic_id(name)
    c.produce(name, b"a", b"b", broker=1)
    for broker in (2, 3):
        c.committed_at(name, broker, 2)
    for version in (11, 12, 13, 17):
        for rack in ("b", "a", "z"):
            fetch(c.at(1), name, topic_id, version=version, rack=rack)
    for rack in ("b", "c", ""):
        fetch(c.at(2), name, topic_id, rack=rack)
    fetch(c.at(1), name, topic_id, rack="b", epoch=0)
    fetch(c.at(1), name, topic_id, rack="b", offset=2)
    fetch(c.at(1), name, topic_id, rack="b", offset=9)
    fetch(c.at(1), name, topic_id, rack="b", offset=-1)
    fetch(c.at(2), name, topic_id, rack="b", offset=9)
    fetch(c.at(1), name, topic_id, version=10)


@scenario
def no_replica_in_the_consumers_rack(c: Cluster) -> None:
    """A rack without a replica of the partition, and one whose broker is gone: the leader
    serves."""
    two, three = c.topic("two", [1, 2]), c.topic("three", [1, 2, 3])
    for name in (two, three):
        c.produce(name, b"a", broker=1)
        c.committed_at(name, 2, 1)
    c.committed_at(three, 3, 1)
    for name in (two, three):
        fetch(c.at(1), name, c.topic_id(name), rack="c")
    c.crash(3)
    c.until(three, 0, isr_nodes={1, 2})
    fetch(c.at(1), three, c.topic_id(three), rack="c")
    fetch(c.at(1), three, c.topic_id(three), rack="b")


@scenario
def a_session_of_a_consumer_with_a_rack(c: Cluster) -> None:
    """The follower is named again in each answer of the leader's session; the follower's own
    session serves."""
    name = c.topic("t", [1, 2])
    topic_id = c.topic_id(name)
    c.produce(name, b"a", broker=1)
    c.committed_at(name, 2, 1)
    partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}
    topics = [{"topic_id": topic_id, "partitions": [partition]}]
    for broker in (1, 2):
        begun = c.at(broker).ask(
            "Fetch", 17, **LIMITS, session_id=0, session_epoch=0, rack_id="b", topics=topics
        )
        for epoch in (1, 2):
            c.at(broker).ask(
                "Fetch",
                17,
                **LIMITS,
                session_id=begun["session_id"],
                session_epoch=epoch,
                rack_id="b",
                topics=[],
            )


@scenario
def a_replica_that_is_not_in_sync(c: Cluster) -> None:
    """A follower outside the ISR is not named, though it has the offset (KAFKA-14372); once it is
    in sync it is."""
    with throttled(c):
        name = large_topic(c, "t", [1, 2])
        topic_id = c.topic_id(name)
        reassign(c, name, {0: [1, 2, 3]})
        c.until(name, 0, replica_nodes=[1, 2, 3])

        def has_a_record() -> bool:
            topics = [{"topic": name, "partitions": [0]}]
            answer = c.quietly("DescribeLogDirs", 4, 3, topics=topics)
            found = answer["results"][0]["topics"]
            return bool(found and found[0]["partitions"][0]["partition_size"])

        c.s.until(has_a_record, "3 never copied a record")
        for offset in (0, 5):
            fetch(c.at(1), name, topic_id, offset=offset, rack="c")
        fetch(c.at(1), name, topic_id, offset=5, rack="b")
    c.until(name, 0, isr_nodes={1, 2, 3})
    c.committed_at(name, 3, 5)
    fetch(c.at(1), name, topic_id, offset=0, rack="c")
