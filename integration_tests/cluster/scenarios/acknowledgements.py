"""What producers and others are told who wait for replicas that do not answer; and producers whose
partition's leader is another now."""

from __future__ import annotations

from typing import Any

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.refusals import fetch, listed
from integration_tests.cluster.stage import Cluster
from integration_tests.wire.batches import Producer, batch
from integration_tests.wire.raw import Plain


def delete_before(
    c: Cluster, name: str, offset: int, broker: int, timeout_ms: int = 10_000
) -> Plain:
    """DeleteRecords of partition 0."""
    topics = [{"name": name, "partitions": [{"partition_index": 0, "offset": offset}]}]
    return c.at(broker).ask("DeleteRecords", 2, topics=topics, timeout_ms=timeout_ms)


def produce_soon(
    c: Cluster, name: str, *values: bytes, acks: int = -1, producer: Producer = Producer()
) -> Plain:
    """Produce to partition 0 at broker 3, and wait a second at most for its replicas."""
    data: list[Any] = [{"index": 0, "records": batch(*values, producer=producer)}]
    return c.at(3).ask(
        "Produce",
        12,
        acks=acks,
        timeout_ms=1_000,
        topic_data=[{"name": name, "partition_data": data}],
    )


@scenario
def nobody_copies(c: Cluster) -> None:
    """REQUEST_TIMED_OUT for acks=all, again for the same batch; acks=1 and 0 are answered;
    consumers see none of it until it is copied."""
    name = c.topic("t", [3, 1, 2], min_insync_replicas="2")
    topic_id = c.topic_id(name)
    identity = c.at(3).ask("InitProducerId", 4, transactional_id=None, transaction_timeout_ms=1_000)
    first, second = (
        Producer(identity["producer_id"], identity["producer_epoch"], sequence)
        for sequence in (0, 1)
    )
    c.produce(name, b"a", broker=3, producer=first)
    c.committed_at(name, 1, 1)
    c.pause(1, 2)
    produce_soon(c, name, b"b", producer=second)
    produce_soon(c, name, b"b", producer=second)
    produce_soon(c, name, b"c", acks=1)
    fetch(c.at(3), name, topic_id)
    fetch(c.at(3), name, topic_id, offset=2)
    listed(c.at(3), name)
    delete_before(c, name, 1, 3, timeout_ms=1_000)
    delete_before(c, name, 2, 3, timeout_ms=1_000)
    c.resume(1, 2)
    c.until(name, 0, isr_nodes={1, 2, 3}, leader_id=3)
    c.committed_at(name, 1, 3, start=1)
    produce_soon(c, name, b"b", producer=second)
    fetch(c.at(3), name, topic_id, offset=1)
    listed(c.at(3), name)
    listed(c.at(3), name, timestamp=-2)


@scenario
def idempotent_producers_at_another_leader(c: Cluster) -> None:
    """A new leader knows producers by their batches: what was written before is told again, gaps
    and old epochs are refused."""
    name = c.topic("t", [3, 1, 2])
    identity = c.at(1).ask("InitProducerId", 4, transactional_id=None, transaction_timeout_ms=1_000)

    def write(broker: int, sequence: int, *values: bytes, epoch: int = 0) -> None:
        c.produce(
            name,
            *values,
            broker=broker,
            producer=Producer(identity["producer_id"], epoch, sequence),
        )

    write(3, 0, b"a")
    write(3, 1, b"b", b"c")
    write(3, 5, b"gap")
    c.committed_at(name, 1, 3)
    c.crash(3)
    c.until(name, 0, leader_id=1)
    write(1, 1, b"b", b"c")
    write(1, 0, b"a")
    write(1, 5, b"gap")
    write(1, 3, b"d")
    write(1, 0, b"e", epoch=1)
    write(1, 4, b"f")
    c.at(1).ask("DescribeProducers", 0, topics=[{"name": name, "partition_indexes": [0]}])
    c.committed_at(name, 2, 5)
    c.at(2).ask("DescribeProducers", 0, topics=[{"name": name, "partition_indexes": [0]}])
    c.start(3)
    c.until(name, 0, isr_nodes={1, 2, 3})
    c.lead(name, 0, 3)
    write(3, 0, b"e", epoch=1)
    write(3, 1, b"g", epoch=1)
    listed(c.at(3), name)


@scenario
def records_deleted_before_a_leader_goes(c: Cluster) -> None:
    """Log starts are the same at every replica; what is below is out of range at the next leader,
    too."""
    name = c.topic("t", [3, 1, 2])
    topic_id = c.topic_id(name)
    c.produce(name, b"a", b"b", broker=3)
    c.produce(name, b"c", broker=3)
    delete_before(c, name, 2, 3)
    delete_before(c, name, 1, 3)
    delete_before(c, name, 9, 3)
    c.committed_at(name, 1, 3, start=2)
    fetch(c.at(1), name, topic_id, offset=2)
    c.stop(3)
    c.until(name, 0, leader_id=1)
    listed(c.at(1), name, timestamp=-2)
    listed(c.at(1), name)
    fetch(c.at(1), name, topic_id, offset=0)
    fetch(c.at(1), name, topic_id, offset=2)
    delete_before(c, name, -1, 1)
    listed(c.at(1), name, timestamp=-2)
    c.start(3)
    c.until(name, 0, isr_nodes={1, 2, 3})
    c.lead(name, 0, 3)
    listed(c.at(3), name, timestamp=-2)
    listed(c.at(3), name)
