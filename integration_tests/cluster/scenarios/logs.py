"""What logs tell at one leader after another: epochs, offsets by time, transactions, and topics
that were made anew meanwhile."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.coordinators import Transactor
from integration_tests.cluster.scenarios.refusals import epoch_end, fetch, listed
from integration_tests.cluster.stage import Cluster
from integration_tests.wire.batches import TIMESTAMP_MS, read
from integration_tests.wire.raw import Plain


def committed_only(c: Cluster, broker: int, topic_id: str) -> None:
    """What a fetch of committed records brings from the first marker on: Kafka begins another
    segment there, whose record is years older.

    Of the batches offset and attributes are shown: markers hold the coordinator's epoch, which
    depends on the scenarios before.
    """
    partition = {"partition": 0, "fetch_offset": 1, "partition_max_bytes": 1 << 20}
    limits: Plain = {
        "max_wait_ms": 0,
        "min_bytes": 0,
        "max_bytes": 1 << 20,
        "session_epoch": -1,
        "isolation_level": 1,
    }
    found = c.quietly(
        "Fetch", 17, broker, **limits, topics=[{"topic_id": topic_id, "partitions": [partition]}]
    )
    row = dict(found["responses"][0]["partitions"][0])
    row["records"] = [[one["base_offset"], one["attributes"]] for one in read(row["records"]) or []]
    c.s.steps.append(
        {
            f"committed at {broker}": c.s.names.value(
                "", {key: value for key, value in row.items() if key != "records"}
            )
            | {"batches": row["records"]}
        }
    )


@scenario
def epochs_of_offsets(c: Cluster) -> None:
    """ListOffsets by time, earliest, latest and the largest time stamp: with the epoch of the
    record that is found."""
    name = c.topic("t", [3, 1, 2])
    for number, broker in enumerate((3, 1, 1, 2)):
        c.lead(name, 0, broker)
        c.produce(name, b"a", broker=broker, timestamp_ms=TIMESTAMP_MS + 100 * number)
    for version in (1, 3, 4, 7, 8, 9, 10):
        for timestamp in (
            -1,
            -2,
            TIMESTAMP_MS + 150,
            *((-3,) if version >= 7 else ()),
            *((-4,) if version >= 8 else ()),
        ):
            listed(c.at(2), name, timestamp, version)
    listed(c.at(2), name, TIMESTAMP_MS + 1_000_000)
    for epoch in range(7):
        epoch_end(c.at(2), name, epoch)
    for current in (0, 9):
        entries = [{"partition_index": 0, "current_leader_epoch": current, "timestamp": -1}]
        c.at(2).ask("ListOffsets", 7, replica_id=-1, topics=[{"name": name, "partitions": entries}])


@scenario
def a_transaction_at_another_leader(c: Cluster) -> None:
    """An open transaction is open at the next leader, and what was aborted before is told by every
    replica."""
    name = c.topic("t", [2, 1, 3])
    topic_id = c.topic_id(name)
    gone, kept = Transactor(c, "gone"), Transactor(c, "kept")
    gone.init()
    gone.write(name, 2)
    gone.end(3, committed=False)
    c.s.until(
        lambda: gone.state(3)["transaction_state"] == "CompleteAbort", "the transaction never ended"
    )
    kept.init()
    kept.write(name, 2)
    c.produce(name, b"plain", broker=2)
    c.committed_at(name, 1, 4)
    committed_only(c, 2, topic_id)
    c.crash(2)
    c.until(name, 0, leader_id=1)
    committed_only(c, 1, topic_id)
    described = c.quietly(
        "DescribeProducers", 0, 1, topics=[{"name": name, "partition_indexes": [0]}]
    )["topics"][0]["partitions"][0]
    for producer in described["active_producers"]:
        del producer["coordinator_epoch"]
    c.s.say("producers", described)
    kept.end(3)
    c.s.until(
        lambda: kept.state(3)["transaction_state"] == "CompleteCommit",
        "the transaction never ended",
    )
    committed_only(c, 1, topic_id)
    c.committed_at(name, 3, 5)
    committed_only(c, 3, topic_id)
    c.start(2)
    c.until(name, 0, isr_nodes={1, 2, 3})
    c.lead(name, 0, 2)
    committed_only(c, 2, topic_id)


@scenario
def a_topic_made_anew_while_a_broker_is_gone(c: Cluster) -> None:
    """The broker that comes back keeps nothing of the old one, and knows the new id."""
    name = c.topic("t", [3, 1])
    old = c.topic_id(name)
    c.produce(name, b"old", broker=3)
    c.committed_at(name, 1, 1)
    c.crash(3)
    c.at(1).ask("DeleteTopics", 4, topic_names=[name], timeout_ms=10_000)
    c.s.until(
        lambda: not any(c._patient.partitions(broker, name) for broker in c.alive), "it stayed"
    )
    assert c.topic("t", [3, 1]) == name
    c.show(name)
    c.produce(name, b"new", broker=1)
    fetch(c.at(1), name, old)
    c.start(3)
    c.until(name, 0, isr_nodes={1, 3})
    c.lead(name, 0, 3)
    c.show(name)
    for broker in (1, 3):
        fetch(c.at(broker), name, old)
    fetch(c.at(3), name, c.topic_id(name))
    for epoch in range(3):
        epoch_end(c.at(3), name, epoch)
