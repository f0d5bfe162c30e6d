"""Requests whose answer depends on who asks, or that every broker refuses alike before it looks for
the leader or the coordinator."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.coordinators import Transactor
from integration_tests.cluster.scenarios.open_transactions import known_producers, stable, written
from integration_tests.cluster.scenarios.positions import served
from integration_tests.cluster.scenarios.refusals import listed
from integration_tests.cluster.stage import OFFSETS, TRANSACTIONS, Cluster
from integration_tests.wire.batches import Producer
from integration_tests.wire.raw import Plain

CONSUMER, DEBUGGING_CONSUMER = -1, -2
SOMEBODY = 987654321
"""A producer id that scenarios make up; it stays as it is."""


@scenario
def offsets_for_replicas_and_debugging_consumers(c: Cluster) -> None:
    """ListOffsets: replicas are told of what is not committed; a debugging consumer as well, and by
    followers, too."""
    name = c.topic("t", [1, 2, 3], min_insync_replicas="3")
    c.produce(name, b"a", broker=1)
    c.stop(3)
    c.until(name, 0, isr_nodes={1, 2})
    c.produce(name, b"b", broker=1, acks=1)
    c.produce(name, b"c", broker=1, acks=1, producer=Producer(SOMEBODY, 0, 0))

    def copied() -> bool:
        found = c.quietly(
            "OffsetForLeaderEpoch",
            4,
            1,
            replica_id=-1,
            topics=[
                {
                    "topic": name,
                    "partitions": [{"partition": 0, "current_leader_epoch": -1, "leader_epoch": 0}],
                }
            ],
        )
        return bool(found["topics"][0]["partitions"][0]["end_offset"] == 3)

    c.s.until(copied, "it was never written")
    for version in (1, 7, 11):
        for replica in (CONSUMER, DEBUGGING_CONSUMER, 1, 2, 9):
            for timestamp in (-1, -2, -3, -4, -5, 0, 1 << 60):
                for broker in (1, 2) if replica != DEBUGGING_CONSUMER else (1,):
                    fields: Plain = {"replica_id": replica} | (
                        {"isolation_level": 1} if version > 1 else {}
                    )
                    topics = [
                        {
                            "name": name,
                            "partitions": [{"partition_index": 0, "timestamp": timestamp}],
                        }
                    ]
                    c.at(broker).ask("ListOffsets", version, **fields, topics=topics)
    c.start(3)
    c.until(name, 0, isr_nodes={1, 2, 3})
    c.committed_at(name, 2, 3)
    for version in (1, 7, 11):
        for timestamp in (-1, -2, -3, 0):
            entries = [{"partition_index": 0, "timestamp": timestamp}]
            c.at(2).ask(
                "ListOffsets",
                version,
                replica_id=DEBUGGING_CONSUMER,
                topics=[{"name": name, "partitions": entries}],
            )


@scenario
def timeouts_of_ids_at_another_coordinator(c: Cluster) -> None:
    """INVALID_TRANSACTION_TIMEOUT and INVALID_REQUEST at any broker, before NOT_COORDINATOR."""
    tx = c.name("tx", 2)
    for version in range(6):
        for timeout_ms in (1_000, 0, -1, 900_000, 900_001, (1 << 31) - 1):
            c.at(1).ask(
                "InitProducerId", version, transactional_id=tx, transaction_timeout_ms=timeout_ms
            )
        c.at(1).ask("InitProducerId", version, transactional_id="", transaction_timeout_ms=0)
    named: list[Plain] = [
        {"producer_id": 5},
        {"producer_epoch": 5},
        {"producer_id": 5, "producer_epoch": 5},
    ]
    for ids in named:
        c.at(1).ask("InitProducerId", 4, transactional_id=tx, transaction_timeout_ms=0, **ids)


@scenario
def internal_topics_in_transactions(c: Cluster) -> None:
    """AddPartitionsToTxn: TOPIC_AUTHORIZATION_FAILED for clients (v0-3) at any broker; brokers' own
    versions take them."""
    name, nope = c.topic("t", [1, 2]), c.s.name("nope")
    one = Transactor(c, "one")
    one.init()
    old: Plain = {f"v3_and_below_{key}": value for key, value in one.who.items()}
    for version in range(4):
        for topics in (
            [OFFSETS],
            [TRANSACTIONS],
            ["__share_group_state"],
            [name, OFFSETS],
            [nope, OFFSETS],
        ):
            for index in (0, 99):
                for broker in (3, 1):
                    rows = [{"name": topic, "partitions": [index]} for topic in topics]
                    c.at(broker).ask(
                        "AddPartitionsToTxn",
                        version,
                        **old,
                        v3_and_below_topics=rows,
                        shuffled="results_by_topic_v3_and_below",
                    )
    for version in (4, 5):
        for broker in (1, 3):
            rows = [{"name": OFFSETS, "partitions": [0]}]
            c.at(broker).ask(
                "AddPartitionsToTxn",
                version,
                transactions=[{**one.who, "verify_only": False, "topics": rows}],
            )
    odd: list[list[tuple[str, list[int]]]] = [
        [(name, [])],
        [(nope, []), (name, [0])],
        [(name, [0, 0])],
        [(name, [0]), (name, [0])],
        [(OFFSETS, [])],
    ]
    for request in odd:
        rows = [{"name": topic, "partitions": indexes} for topic, indexes in request]
        c.at(3).ask("AddPartitionsToTxn", 3, **old, v3_and_below_topics=rows)
        c.at(1).ask("AddPartitionsToTxn", 3, **old, v3_and_below_topics=rows)
    one.describe(3)


def mark(
    c: Cluster,
    name: str,
    *markers: tuple[int, int, int, int],
    broker: int = 1,
    indexes: tuple[int, ...] = (0,),
) -> None:
    """WriteTxnMarkers v2, a marker for each (producer, epoch, coordinator epoch, transaction
    version), and the ends of partition 0."""
    rows = [
        {
            "producer_id": producer,
            "producer_epoch": epoch,
            "coordinator_epoch": coordinator,
            "transaction_result": False,
            "transaction_version": version,
            "topics": [{"name": name, "partition_indexes": list(indexes)}],
        }
        for producer, epoch, coordinator, version in markers
    ]
    c.at(broker).ask("WriteTxnMarkers", 2, markers=rows, shuffled="markers")


@scenario
def markers_that_come_again(c: Cluster) -> None:
    """TXN-8, KIP-890: under version 2 a marker's epoch must have risen where it ends something;
    once more it is taken as it was."""
    name = c.topic("t", [1])
    for version in (0, 1, 2):
        for epoch, coordinator in ((3, 0), (3, 0), (2, 0), (3, -1)):
            mark(c, name, (SOMEBODY, epoch, coordinator, version))
            served(c, name, 1)
            listed(c.at(1), name)
    one = Transactor(c, "one")
    one.init()
    one.add(name, 3)
    written(c, one, name, 1)
    who = one.who["producer_id"]
    for epoch, version in ((0, 2), (1, 2), (1, 2), (0, 2), (0, 1), (1, 1)):
        mark(c, name, (who, epoch, 0, version))
        stable(c, name, 1)
    known_producers(c, name, 1)


@scenario
def markers_that_cannot_be(c: Cluster) -> None:
    """WriteTxnMarkers: no producer or no epoch fails the request where a partition is here, a
    transaction version below 0 the partition."""
    name, other, nope = c.topic("t", [1, 2]), c.topic("other", [1, 2]), c.s.name("nope")
    for bad in (
        (-1, 0, 0, 0),
        (SOMEBODY, -1, 0, 0),
        (SOMEBODY, 0, 0, -1),
        (SOMEBODY, 0, 0, 3),
        (-2, 0, 0, 0),
        (SOMEBODY, -2, 0, 0),
    ):
        mark(c, nope, bad)
        mark(c, name, bad, indexes=(5,))
        mark(c, name, bad, indexes=())
        mark(c, name, bad, indexes=(0, 5))
        for broker in (2, 3):
            mark(c, name, bad, broker=broker)
        mark(c, nope, bad, (SOMEBODY, 20, 0, 0))
        mark(c, other, (SOMEBODY, 20, 0, 0), bad, (SOMEBODY, 20, 0, 0), indexes=(7,))
    served(c, name, 1)
    known_producers(c, name, 1)


@scenario
def voters_of_a_quorum(c: Cluster) -> None:
    """AddRaftVoter and RemoveRaftVoter at each broker: the voters are what they are; an endpoint
    for controllers is asked for before."""
    for broker in (1, 2, 3):
        for version in (0, 1):
            for listeners in (
                [],
                [("OTHER", 9)],
                [("controller", 9)],
                [("OTHER", 9), ("CONTROLLER", 9)],
            ):
                rows = [{"name": name, "host": "h", "port": port} for name, port in listeners]
                voter: Plain = {
                    "cluster_id": None,
                    "timeout_ms": 1_000,
                    "voter_id": 9,
                    "voter_directory_id": "ab" * 16,
                }
                c.at(broker).ask("AddRaftVoter", version, **voter, listeners=rows)
        for voter_id in (1, 9):
            c.at(broker).ask(
                "RemoveRaftVoter",
                0,
                cluster_id=None,
                voter_id=voter_id,
                voter_directory_id="ab" * 16,
            )


@scenario
def names_that_no_topic_has(c: Cluster) -> None:
    """DescribeProducers: INVALID_TOPIC_EXCEPTION; AlterReplicaLogDirs: where the name of a copy's
    folder would be too long."""
    for broker in (1, 2):
        for name in ("", ".", "..", "a b", "x" * 250, "ok"):
            c.at(broker).ask(
                "DescribeProducers", 0, topics=[{"name": name, "partition_indexes": [0, 1]}]
            )
        for length in (213, 214, 215, 250):
            topics = [{"name": "x" * length, "partitions": [0, 10]}]
            c.at(broker).ask("AlterReplicaLogDirs", 2, dirs=[{"path": "/nope", "topics": topics}])


@scenario
def sessions_out_of_bounds(c: Cluster) -> None:
    """Fetch: session ids that belong into none of Kafka's eight shards fail the request, with any
    epoch, at leader and follower."""
    name = c.topic("t", [1, 2])
    topic_id = c.topic_id(name)
    for broker in (1, 2, 3):
        for version in (7, 12, 13, 18):
            for session in (-268_435_455, 2_147_483_640, 2_147_483_647):
                for epoch in (-1, 0, 1):
                    named: Plain = {"topic": name} if version <= 12 else {"topic_id": topic_id}
                    partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}
                    limits: Plain = {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1 << 20}
                    c.at(broker).ask(
                        "Fetch",
                        version,
                        **limits,
                        session_id=session,
                        session_epoch=epoch,
                        topics=[named | {"partitions": [partition]}],
                    )
