"""Requests for partitions whose leader or replicas are gone, in each version, and what waits when
they come back."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.positions import served
from integration_tests.cluster.scenarios.refusals import epoch_end, fetch, listed
from integration_tests.cluster.stage import Cluster
from integration_tests.wire.batches import batch
from integration_tests.wire.raw import Plain


@scenario
def several_partitions_in_one_request(c: Cluster) -> None:
    """Produce, Fetch, ListOffsets, OffsetForLeaderEpoch, DeleteRecords of partitions led here,
    elsewhere, by nobody, and unknown ones."""
    name = c.topic("t", [1, 2], [2, 1], [3, 2], [3, 1])
    alone = c.topic("alone", [3])
    c.produce(name, b"a", broker=1)
    c.crash(3)
    c.until(alone, 0, leader_id=-1)
    c.until(name, 2, leader_id=2)
    c.until(name, 3, leader_id=1)
    topic_id = c.topic_id(name)
    for version in (7, 9, 12):
        for acks in (1, -1):
            data = [{"index": index, "records": batch(b"v")} for index in (0, 1, 2, 3, 4)]
            c.at(1).ask(
                "Produce",
                version,
                acks=acks,
                timeout_ms=10_000,
                topic_data=[
                    {"name": name, "partition_data": data},
                    {"name": alone, "partition_data": data[:1]},
                ],
                shuffled="responses",
            )
    for version in (2, 4, 7, 10):
        entries: list[Plain] = [
            {"partition_index": index, "timestamp": -1} for index in (0, 1, 2, 3, 4)
        ]
        c.at(1).ask(
            "ListOffsets",
            version,
            replica_id=-1,
            topics=[
                {"name": name, "partitions": entries},
                {"name": alone, "partitions": entries[:1]},
            ],
            shuffled="topics",
        )
    for version in (2, 3, 4):
        epochs: list[Plain] = [
            {"partition": index, "current_leader_epoch": -1, "leader_epoch": 0}
            for index in (0, 1, 2, 3, 4)
        ]
        fields: Plain = {"replica_id": -1} if version >= 3 else {}
        c.at(1).ask(
            "OffsetForLeaderEpoch",
            version,
            **fields,
            topics=[
                {"topic": name, "partitions": epochs},
                {"topic": alone, "partitions": epochs[:1]},
            ],
            shuffled="topics",
        )
    deleted = [{"partition_index": index, "offset": 0} for index in (0, 1, 2, 3, 4)]
    for version in (0, 2):
        c.at(1).ask(
            "DeleteRecords",
            version,
            timeout_ms=3_000,
            topics=[
                {"name": name, "partitions": deleted},
                {"name": alone, "partitions": deleted[:1]},
            ],
            shuffled="topics",
        )
    for version in (10, 12, 16, 17):
        parts = [
            {"partition": index, "fetch_offset": 0, "partition_max_bytes": 1 << 20}
            for index in (0, 1, 2, 3, 4)
        ]
        named: Plain = {"topic": name} if version <= 12 else {"topic_id": topic_id}
        c.at(1).ask(
            "Fetch",
            version,
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=1 << 20,
            session_epoch=-1,
            topics=[named | {"partitions": parts}],
        )


@scenario
def how_much_is_fetched(c: Cluster) -> None:
    """Limits of bytes of a request and of each partition, over partitions and in a session, at the
    leader and at a follower."""
    name = c.topic("t", [1, 2], [1, 2], [1, 2])
    topic_id = c.topic_id(name)
    for index in range(3):
        for value in (b"a" * 100, b"b" * 100):
            c.produce(name, value, broker=1, index=index)
    for index in range(3):
        c.s.until(lambda index=index: _knows(c, topic_id, index), "2 never knew")  # type: ignore[misc]
    for broker in (1, 2):
        for whole, each in (
            (1 << 20, 1),
            (1 << 20, 200),
            (1, 1 << 20),
            (200, 1 << 20),
            (400, 1 << 20),
            (400, 200),
            (0, 0),
            (1 << 20, 0),
        ):
            parts = [
                {"partition": index, "fetch_offset": index % 2, "partition_max_bytes": each}
                for index in (2, 0, 1)
            ]
            c.at(broker).ask(
                "Fetch",
                17,
                max_wait_ms=0,
                min_bytes=0,
                max_bytes=whole,
                session_epoch=-1,
                topics=[{"topic_id": topic_id, "partitions": parts}],
            )


def _knows(c: Cluster, topic_id: str, index: int) -> bool:
    """Has the follower both records of a partition, and knows that they are committed?"""
    topics = [
        {
            "topic_id": topic_id,
            "partitions": [{"partition": index, "fetch_offset": 0, "partition_max_bytes": 1 << 20}],
        }
    ]
    found = c.quietly(
        "Fetch",
        17,
        2,
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=1 << 20,
        session_epoch=-1,
        topics=topics,
    )
    return bool(found["responses"][0]["partitions"][0]["high_watermark"] == 2)


@scenario
def a_leader_that_is_alone_comes_back(c: Cluster) -> None:
    """The only replica crashes and returns, again and again: epochs rise, offsets stay; a fetch
    that waits elsewhere is told at once."""
    name = c.topic("t", [3])
    topic_id = c.topic_id(name)
    c.produce(name, b"a", broker=3)
    for how in (c.crash, c.stop):
        how(3)
        c.until(name, 0, leader_id=-1)
        c.show(name)
        for version in (10, 12, 17):
            fetch(c.at(1), name, topic_id, version=version)
        listed(c.at(1), name)
        c.start(3)
        served(c, name, 3)
        c.show(name)
        listed(c.at(3), name)
        c.produce(name, b"b", broker=3)
        for epoch in range(6):
            epoch_end(c.at(3), name, epoch)


@scenario
def followers_of_a_new_leader(c: Cluster) -> None:
    """Records that one follower has and the other lacks: the next leader's log counts, and acks=all
    waits for who is in sync only."""
    name = c.topic("t", [3, 1, 2], min_insync_replicas="1")
    c.produce(name, b"a", broker=3)
    for broker in (1, 2):
        c.committed_at(name, broker, 1)
    c.pause(2)
    c.until(name, 0, isr_nodes={1, 3})
    c.produce(name, b"b", broker=3)
    c.produce(name, b"c", broker=3)
    c.committed_at(name, 1, 3)
    c.resume(2)
    c.until(name, 0, isr_nodes={1, 2, 3})
    c.committed_at(name, 2, 3)
    c.pause(1)
    c.until(name, 0, isr_nodes={2, 3})
    c.produce(name, b"d", broker=3)
    c.committed_at(name, 2, 4)
    c.resume(1)
    c.until(name, 0, isr_nodes={1, 2, 3})
    c.crash(3)
    served(c, name, 1)
    listed(c.at(1), name)
    c.show(name)
    for epoch in range(3):
        epoch_end(c.at(1), name, epoch)
