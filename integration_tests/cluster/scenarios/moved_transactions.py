"""Transactions whose coordinator, group or partitions move: fenced producers, markers nobody can
write, offsets at another coordinator."""

from __future__ import annotations

from typing import Any

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.coordinators import TRANSACTIONAL, Transactor
from integration_tests.cluster.scenarios.positions import served
from integration_tests.cluster.scenarios.refusals import listed
from integration_tests.cluster.stage import OFFSETS, TRANSACTIONS, Cluster
from integration_tests.wire.batches import Producer, batch
from integration_tests.wire.raw import Plain


def write(c: Cluster, one: Transactor, name: str, broker: int, sequence: int = 0) -> Plain:
    """Produce a record of a transaction without adding its partition."""
    records = batch(
        b"t",
        producer=Producer(one.who["producer_id"], one.who["producer_epoch"], sequence),
        attributes=TRANSACTIONAL,
    )
    topics: list[Any] = [{"name": name, "partition_data": [{"index": 0, "records": records}]}]
    return c.at(broker).ask(
        "Produce", 9, transactional_id=one.name, acks=-1, timeout_ms=10_000, topic_data=topics
    )


def ends(c: Cluster, one: Transactor, broker: int, state: str = "CompleteCommit") -> None:
    """Wait until a transaction is over."""
    c.s.until(lambda: one.state(broker)["transaction_state"] == state, f"it never came to {state}")


def offsets(
    c: Cluster, one: Transactor, group: str, name: str, offset: int, broker: int, **member: Any
) -> Plain:
    """TxnOffsetCommit of partition 0."""
    topics = [{"name": name, "partitions": [{"partition_index": 0, "committed_offset": offset}]}]
    fields: Plain = (
        one.who
        | {
            "group_id": group,
            "generation_id_or_member_epoch": -1,
            "member_id": "",
            "topics": topics,
        }
        | member
    )
    return c.at(broker).ask("TxnOffsetCommit", 3, **fields)


def described(c: Cluster, one: Transactor, broker: int) -> None:
    """DescribeTransactions, its topics in order: a broker tells them as they are hashed."""
    c.at(broker).ask(
        "DescribeTransactions", 0, transactional_ids=[one.name], shuffled="transaction_states"
    )


@scenario
def a_fenced_producer_at_the_next_coordinator(c: Cluster) -> None:
    """KIP-360: who was replaced before its coordinator crashed is fenced by the next one, too, and
    by the partition's leader."""
    name = c.topic("t", [1, 2])
    old, new = Transactor(c, "tx"), Transactor(c, "tx")
    old.init()
    old.write(name, 1)
    old.end(3)
    ends(c, old, 3)
    new.init()
    new.write(name, 1)
    c.crash(3)
    c.until(TRANSACTIONS, 2, isr_nodes={1, 2}, leader_id=1)
    c.s.until(lambda: not new.state(1)["error_code"], "1 never coordinated it")
    old.add(name, 1)
    old.end(1)
    write(c, old, name, 1, 1)
    c.at(1).ask("AddOffsetsToTxn", 3, **old.who, group_id=c.name("g", 1))
    new.describe(1)
    write(c, new, name, 1, 1)
    new.end(1)
    ends(c, new, 1)
    c.at(1).ask("InitProducerId", 4, **old.who, transaction_timeout_ms=600_000)
    c.at(1).ask("InitProducerId", 4, **new.who, transaction_timeout_ms=600_000)
    new.end(1)
    listed(c.at(1), name)


def _known_of(c: Cluster, name: str, broker: int) -> None:
    """The end of partition 0, the last stable offset, and the transaction that is open there."""
    entries = [{"partition_index": 0, "timestamp": -1}]
    listed(c.at(broker), name)
    c.at(broker).ask(
        "ListOffsets",
        7,
        replica_id=-1,
        isolation_level=1,
        topics=[{"name": name, "partitions": entries}],
    )
    found = c.quietly(
        "DescribeProducers", 0, broker, topics=[{"name": name, "partition_indexes": [0]}]
    )
    producers = found["topics"][0]["partitions"][0]["active_producers"]
    c.s.say("open since", [one["current_txn_start_offset"] for one in producers])


@scenario
def a_transaction_whose_partition_has_no_leader(c: Cluster) -> None:
    """TXN-11: a partition without a leader gets no marker; its transaction stays open until the
    producer's next one ends."""
    name, other, late = c.topic("t", [2]), c.topic("other", [1]), c.topic("late", [2])
    one, idle = Transactor(c, "tx"), Transactor(c, "idle")
    one.init()
    idle.init()
    one.write(name, 2)
    one.write(other, 1)
    c.crash(2)
    c.until(name, 0, leader_id=-1)
    one.add(late, 3)
    write(c, one, late, 3)
    idle.add(late, 3)
    idle.describe(3)
    one.end(3)
    ends(c, one, 3)
    described(c, one, 3)
    one.end(3)
    one.end(3, committed=False)
    c.lead(TRANSACTIONS, 2, 1)
    c.s.until(lambda: not one.state(1)["error_code"], "1 never coordinated it")
    described(c, one, 3)
    one.add(other, 3)
    described(c, one, 1)
    idle.describe(1)
    c.start(2)
    for led in (name, late):
        served(c, led, 2)
        _known_of(c, led, 2)
    served(c, other, 1)
    _known_of(c, other, 1)
    one.init(1)
    one.add(name, 1)
    write(c, one, name, 2)
    _known_of(c, name, 2)
    one.end(1, committed=False)
    ends(c, one, 1, "CompleteAbort")
    idle.end(1, committed=False)
    ends(c, idle, 1, "CompleteAbort")
    for led in (name, late):
        _known_of(c, led, 2)


@scenario
def offsets_of_a_transaction_whose_group_moves(c: Cluster) -> None:
    """TXN-5: NOT_COORDINATOR at who coordinated the group; markers find the next one, and what was
    pending there counts."""
    name, group = c.topic("t", [1, 2]), c.name("g", 3)
    one = Transactor(c, "tx")
    one.init()
    offsets(c, one, group, name, 1, 3)
    c.at(3).ask("AddOffsetsToTxn", 3, **one.who, group_id=group)
    offsets(c, one, group, name, 2, 3)
    c.lead(OFFSETS, 2, 1)
    c.s.until(
        lambda: c.quietly("DescribeGroups", 5, 1, groups=[group])["groups"][0]["error_code"] == 0,
        "1 never had the group",
    )
    offsets(c, one, group, name, 3, 3)
    offsets(c, one, group, name, 3, 2)
    offsets(c, one, group, name, 4, 1)
    offsets(c, one, group, name, 5, 1, member_id="stranger", generation_id_or_member_epoch=1)
    offsets(
        c,
        one,
        group,
        name,
        5,
        1,
        group_instance_id="stranger",
        member_id="stranger",
        generation_id_or_member_epoch=1,
    )
    offsets(c, one, group, name, 5, 1, producer_epoch=9)
    wanted = [{"group_id": group, "topics": [{"name": name, "partition_indexes": [0]}]}]
    for stable in (True, False):
        c.at(1).ask("OffsetFetch", 9, groups=wanted, require_stable=stable)
    one.end(3)
    ends(c, one, 3)

    def counted() -> bool:
        answer = c.quietly("OffsetFetch", 9, 1, groups=wanted, require_stable=True)
        return bool(answer["groups"][0]["topics"][0]["partitions"][0]["committed_offset"] >= 0)

    c.s.until(counted, "the offset never counted")
    for stable in (True, False):
        c.at(1).ask("OffsetFetch", 9, groups=wanted, require_stable=stable)
    c.at(3).ask("OffsetFetch", 9, groups=wanted)
    c.at(1).ask("DeleteGroups", 2, groups_names=[group])


@scenario
def who_knows_producers_while_leaders_move(c: Cluster) -> None:
    """DescribeProducers, DescribeTransactions and ListTransactions at each broker, and
    DescribeLogDirs, before and after a crash."""
    name = c.topic("t", [2, 1])
    one, done = Transactor(c, "tx"), Transactor(c, "done")
    one.init()
    one.write(name, 2)
    done.init()

    def told(*brokers: int) -> None:
        for broker in brokers:
            found = c.quietly(
                "DescribeProducers", 0, broker, topics=[{"name": name, "partition_indexes": [0, 1]}]
            )
            for partition in found["topics"][0]["partitions"]:
                for producer in partition["active_producers"]:
                    del producer["coordinator_epoch"]
            c.s.say(f"producers at {broker}", found["topics"][0]["partitions"])
            one.describe(broker)
            for states in ([], ["Ongoing"], ["Empty", "Nonsense"]):
                c.at(broker).ask(
                    "ListTransactions",
                    1,
                    state_filters=states,
                    producer_id_filters=[],
                    only="transaction_states",
                )
            logs = c.quietly(
                "DescribeLogDirs", 4, broker, topics=[{"topic": name, "partitions": [0, 1]}]
            )["results"][0]
            c.s.say(f"logs at {broker}", [logs["error_code"], c.s.names.value("", logs["topics"])])

    told(1, 2, 3)
    c.crash(2)
    served(c, name, 1)
    told(1, 3)
    write(c, one, name, 1, 1)
    told(1)
    one.end(3, committed=False)
    ends(c, one, 3, "CompleteAbort")
    c.start(2)
    c.until(name, 0, isr_nodes={1, 2})
    c.committed_at(name, 2, 3)
    told(1, 2, 3)
