"""Transactions that are open while their partitions move, are deleted, or their brokers all start
again."""

from __future__ import annotations

import time
from typing import Any

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.coordinators import TRANSACTIONAL, Transactor
from integration_tests.cluster.scenarios.logs import committed_only
from integration_tests.cluster.scenarios.moved_transactions import described, ends
from integration_tests.cluster.scenarios.positions import served
from integration_tests.cluster.scenarios.reassignments import reassign
from integration_tests.cluster.scenarios.second_version import Newer, _moved
from integration_tests.cluster.scenarios.standstills import commit, coordinated, fetched
from integration_tests.cluster.stage import TRANSACTIONS, Cluster
from integration_tests.wire.batches import Producer, batch, read
from integration_tests.wire.raw import Plain


def written(
    c: Cluster, one: Transactor, name: str, broker: int, sequence: int = 0, version: int = 9
) -> Plain:
    """Produce a record of a transaction, dated now."""
    of = Producer(one.who["producer_id"], one.who["producer_epoch"], sequence)
    records = batch(
        b"t", producer=of, attributes=TRANSACTIONAL, timestamp_ms=int(time.time() * 1000)
    )
    topics: list[Any] = [{"name": name, "partition_data": [{"index": 0, "records": records}]}]
    return c.at(broker).ask(
        "Produce", version, transactional_id=one.name, acks=-1, timeout_ms=10_000, topic_data=topics
    )


def stable(c: Cluster, name: str, broker: int, version: int = 7) -> None:
    """The end of partition 0, and its last stable offset."""
    for isolation in (0, 1):
        entries = [{"partition_index": 0, "timestamp": -1}]
        c.at(broker).ask(
            "ListOffsets",
            version,
            replica_id=-1,
            isolation_level=isolation,
            topics=[{"name": name, "partitions": entries}],
        )


def known_producers(c: Cluster, name: str, broker: int) -> None:
    """DescribeProducers of partition 0, without the coordinator's epoch: it counts what earlier
    scenarios did."""
    found = c.quietly(
        "DescribeProducers", 0, broker, topics=[{"name": name, "partition_indexes": [0]}]
    )["topics"][0]["partitions"][0]
    for producer in found["active_producers"]:
        del producer["coordinator_epoch"]
    found["active_producers"].sort(key=lambda producer: int(producer["producer_id"]))
    c.s.say(f"producers at {broker}", found)


@scenario
def a_partition_of_a_transaction_moves(c: Cluster) -> None:
    """Markers find the leader that comes after a reassignment; the replica that was added knows the
    transaction, and who was aborted."""
    name, other = c.topic("t", [2]), c.topic("other", [2])
    topic_id = c.topic_id(name)
    gone, one, two = Transactor(c, "gone"), Transactor(c, "one"), Newer(c, "two")
    for each in (gone, one, two):
        each.init()
    gone.write(name, 2)
    gone.end(3, committed=False)
    ends(c, gone, 3, "CompleteAbort")
    one.write(name, 2)
    two.produce(name, 2)
    two.produce(other, 2)
    for topic in (name, other):
        reassign(c, topic, {0: [1]})
        c.until(topic, 0, replica_nodes=[1], isr_nodes={1})
        served(c, topic, 1)
        stable(c, topic, 1)
        known_producers(c, topic, 1)
    two.produce(name, 2, 1)
    two.produce(name, 1, 1)
    one.end(3, committed=False)
    ends(c, one, 3, "CompleteAbort")
    stable(c, name, 1)
    two.finish(3)
    ends(c, two, 3)
    stable(c, name, 1)
    committed_only(c, 1, topic_id)
    reassign(c, name, {0: [3, 1]})
    c.until(name, 0, replica_nodes=[3, 1], isr_nodes={1, 3})
    c.lead(name, 0, 3)
    served(c, name, 3)
    committed_only(c, 3, topic_id)


@scenario
def a_topic_of_a_transaction_is_deleted(c: Cluster) -> None:
    """TXN-11: the transaction ends without it; made anew under the same name it has nothing of the
    transaction."""
    name, other = c.topic("t", [1, 2]), c.topic("other", [2, 1])
    one, two = Transactor(c, "one"), Newer(c, "two")
    one.init()
    two.init()
    one.write(name, 1)
    one.write(other, 2)
    two.produce(name, 1)
    two.produce(other, 2)
    c.at(1).ask("DeleteTopics", 4, topic_names=[name], timeout_ms=10_000)
    c.s.until(lambda: not any(c.partition(name, 0, broker) for broker in c.alive), "it stayed")
    one.add(name, 3)
    one.end(3)
    ends(c, one, 3)
    assert c.topic("t", [1, 2]) == name
    described(c, two, 3)
    two.produce(name, 1, 1)
    two.produce(other, 2, 1)
    two.finish(3, committed=False)
    ends(c, two, 3, "CompleteAbort")
    for topic, broker in ((name, 1), (other, 2)):
        stable(c, topic, broker)
        known_producers(c, topic, broker)
    two.produce(name, 1)
    two.finish(3)
    ends(c, two, 3)
    stable(c, name, 1)


@scenario
def a_leader_restarts_in_a_transaction(c: Cluster) -> None:
    """The only replica starts again, cleanly and after a crash: the transaction goes on where it
    was, and old batches are unknown."""
    name, old = c.topic("t", [2]), c.topic("old", [2])
    one, two, gone = Transactor(c, "one"), Newer(c, "two"), Transactor(c, "gone")
    for each in (one, two, gone):
        each.init()
    gone.write(name, 2)
    gone.end(3, committed=False)
    ends(c, gone, 3, "CompleteAbort")
    for topic in (name, old):
        one.add(topic, 3)
    for sequence in range(3):
        written(c, one, name, 2, sequence)
    one.write(old, 2)
    written(c, two, name, 2, version=12)
    for end in (c.stop, c.crash):
        end(2)
        c.start(2)
        for topic in (name, old):
            served(c, topic, 2)
            stable(c, topic, 2)
            known_producers(c, topic, 2)
        written(c, one, name, 2, 1)
        written(c, one, name, 2, 2)
    written(c, one, name, 2, 3)
    written(c, two, name, 2, 1, version=12)
    one.end(3)
    ends(c, one, 3)
    stable(c, name, 2)
    two.finish(3, committed=False)
    ends(c, two, 3, "CompleteAbort")
    for topic in (name, old):
        stable(c, topic, 2)
        known_producers(c, topic, 2)
    committed_only(c, 2, c.topic_id(name))


@scenario
def all_brokers_crash(c: Cluster) -> None:
    """What was acknowledged is there when they are back: records, offsets, an open transaction, the
    epochs of its producer."""
    name, group = c.topic("t", [1, 2, 3]), c.name("g", 3)
    one, idle = Transactor(c, "one"), Transactor(c, "idle")
    one.init()
    idle.init()
    c.produce(name, b"plain", broker=1)
    one.add(name, 3)
    written(c, one, name, 1)
    commit(c, group, name, 5, 3)
    for broker in (1, 2, 3):
        c.crash(broker, noticed=False)
    for broker in (1, 2, 3):
        c.hosts.start_broker(broker)
        c.s.steps.append({"started": broker})
    c.down.clear()
    c._known_alive()
    c.until(name, 0, isr_nodes={1, 2, 3})
    c.until(TRANSACTIONS, 2, isr_nodes={1, 2, 3})
    c.lead(name, 0, 1)
    served(c, name, 1)
    c.lead(TRANSACTIONS, 2, 3)
    _moved(c, one, 3)
    c.s.until(
        lambda: c.partition("__consumer_offsets", 2)["leader_id"] > 0,
        "nobody led the group's partition",
    )
    c.lead("__consumer_offsets", 2, 3)
    coordinated(c, group, 3)
    stable(c, name, 1, version=3)
    described(c, one, 3)
    fetched(c, group, 3)
    written(c, one, name, 1, 1)
    one.end(3)
    ends(c, one, 3)
    stable(c, name, 1, version=3)
    idle.add(name, 3)
    written(c, idle, name, 1)
    idle.end(3, committed=False)
    ends(c, idle, 3, "CompleteAbort")
    committed_only(c, 1, c.topic_id(name))


@scenario
def readers_of_committed_records_at_each_replica(c: Cluster) -> None:
    """Who is aborted, from each offset on, where transactions overlap: at leader and follower, at
    the next leader, and after restarts."""
    name = c.topic("t", [2, 1])
    topic_id = c.topic_id(name)
    a, b, d = (Transactor(c, label) for label in "abd")
    for each in (a, b, d):
        each.init()
        each.add(name, 3)
    order = (a, b, a, d, b)
    for number, each in enumerate(order):
        written(c, each, name, 2, sequence=order[:number].count(each))
    a.end(3, committed=False)
    ends(c, a, 3, "CompleteAbort")
    written(c, b, name, 2, 2)
    b.end(3)
    ends(c, b, 3)

    def readable(broker: int, versions: tuple[int, ...] = (17,)) -> None:
        for version in versions:
            named: Plain = {"topic": name} if version <= 12 else {"topic_id": topic_id}
            for offset in range(11):
                for isolation in (0, 1):
                    partition = {
                        "partition": 0,
                        "fetch_offset": offset,
                        "partition_max_bytes": 1 << 20,
                    }
                    limits: Plain = {
                        "max_wait_ms": 0,
                        "min_bytes": 0,
                        "max_bytes": 1 << 20,
                        "isolation_level": isolation,
                    }
                    found = c.quietly(
                        "Fetch",
                        version,
                        broker,
                        **limits,
                        topics=[named | {"partitions": [partition]}],
                    )
                    row = dict(found["responses"][0]["partitions"][0])
                    row["records"] = [one["base_offset"] for one in read(row["records"]) or []]
                    c.s.say(f"v{version} at {broker} from {offset}, isolation {isolation}", row)

    c.committed_at(name, 1, 8)
    readable(2, (4, 11, 17))
    readable(1, (11, 17))
    c.crash(2)
    served(c, name, 1)
    readable(1)
    d.end(3, committed=False)
    ends(c, d, 3, "CompleteAbort")
    readable(1)
    c.start(2)
    c.until(name, 0, isr_nodes={1, 2})
    c.committed_at(name, 2, 9)
    readable(2)
    c.lead(name, 0, 2)
    c.stop(1)
    c.start(1)
    c.until(name, 0, isr_nodes={1, 2})
    c.lead(name, 0, 1)
    served(c, name, 1)
    readable(1)
