"""What is left when coordinators and leaders were paused, restarted and moved in turn: groups,
offsets, producers and topics."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.consumers import (
    Consumer,
    _await_same,
    _described,
    _topic,
    describe,
)
from integration_tests.cluster.scenarios.coordinators import Transactor, _settled, _state
from integration_tests.cluster.scenarios.moved_transactions import described, ends, offsets
from integration_tests.cluster.scenarios.positions import served
from integration_tests.cluster.scenarios.refusals import listed
from integration_tests.cluster.scenarios.second_version import Newer, _moved
from integration_tests.cluster.scenarios.standstills import commit, fetched
from integration_tests.cluster.stage import OFFSETS, TRANSACTIONS, Cluster, rows


@scenario
def a_coordinator_restarts_and_gets_its_groups_back(c: Cluster) -> None:
    """There and back over a controlled shutdown: members beat at each, commit at each, and nothing
    is forgotten or told twice."""
    name, classic, consumer = _topic(c, 2), c.name("classic", 3), c.name("consumer", 3)
    one, two = _settled(c, classic, "one", 3), Consumer(c, "two", consumer)
    two.join(3, name)
    two.ack(3)
    commit(c, classic, name, 1, 3, member_id=one.member_id, generation_id_or_member_epoch=1)
    two.commit(3, name, 2)
    before = _described(c, 3, consumer)
    c.stop(3)
    c.until(OFFSETS, 2, leader_id=1)
    _await_same(c, consumer, before)
    c.s.until(
        lambda: _state(c, classic, 1)["group_state"] == "Stable", "1 never had the classic group"
    )
    one.heartbeat(1)
    two.beat(1)
    commit(c, classic, name, 3, 1, member_id=one.member_id, generation_id_or_member_epoch=1)
    two.commit(1, name, 4)
    c.start(3)
    c.until(OFFSETS, 2, isr_nodes={1, 2, 3})
    one.heartbeat(3)
    two.beat(3)
    c.lead(OFFSETS, 2, 3)
    c.s.until(lambda: _described(c, 3, consumer) == before, "3 never had the consumer group again")

    def told() -> bool:
        groups = [{"group_id": group, "topics": None} for group in (classic, consumer)]
        found = rows(
            c.quietly("OffsetFetch", 9, 3, groups=groups), "groups", "topics", "partitions"
        )
        return sorted(one["committed_offset"] for one in found) == [3, 4]

    c.s.until(told, "3 never had the offsets")
    one.heartbeat(3)
    one.heartbeat(1)
    two.beat(3)
    two.beat(1)
    fetched(c, classic, 3)
    two.fetch(3, name)
    c.at(3).ask("DescribeGroups", 6, groups=[classic])
    describe(c, 3, consumer)


@scenario
def transactions_over_two_coordinators(c: Cluster) -> None:
    """Offsets and records of one transaction, begun at one coordinator, gone on with at the next,
    ended back at the first."""
    name, other, group = c.topic("t", [1, 2]), c.topic("other", [2, 1]), c.name("g", 2)
    one, two = Transactor(c, "one"), Newer(c, "two")
    one.init()
    two.init()
    one.write(name, 1)
    two.produce(name, 1)
    c.lead(TRANSACTIONS, 2, 1)
    _moved(c, one, 1)
    one.add(other, 3)
    one.add(other, 1)
    two.produce(other, 2)
    c.at(1).ask("AddOffsetsToTxn", 3, **one.who, group_id=group)
    offsets(c, one, group, name, 5, 2)
    c.at(2).ask(
        "TxnOffsetCommit",
        5,
        **two.who,
        group_id=group,
        generation_id_or_member_epoch=-1,
        member_id="",
        topics=[{"name": other, "partitions": [{"partition_index": 0, "committed_offset": 6}]}],
    )
    described(c, one, 1)
    c.lead(TRANSACTIONS, 2, 3)
    _moved(c, one, 3)
    fetched(c, group, 2)
    one.end(1)
    one.end(3)
    ends(c, one, 3)
    two.finish(1, committed=False)
    two.finish(3, committed=False)
    ends(c, two, 3, "CompleteAbort")
    c.s.until(
        lambda: bool(
            c.quietly("OffsetFetch", 9, 2, groups=[{"group_id": group, "topics": None}])["groups"][
                0
            ]["topics"]
        ),
        "no offsets were told",
    )
    fetched(c, group, 2)
    for topic, broker in ((name, 1), (other, 2)):
        entries = [{"partition_index": 0, "timestamp": -1}]
        c.at(broker).ask(
            "ListOffsets",
            7,
            replica_id=-1,
            isolation_level=1,
            topics=[{"name": topic, "partitions": entries}],
        )
    for each in (one, two):
        described(c, each, 3)


@scenario
def a_paused_leader_of_producers(c: Cluster) -> None:
    """While a leader stands still another goes on with its producers' sequences and transactions;
    the old one learns of it."""
    name = c.topic("t", [3, 1])
    one = Newer(c, "tx")
    one.name = c.name("tx", 2)
    c.at(2).ask("FindCoordinator", 4, key_type=1, coordinator_keys=[one.name])
    one.init(2)
    one.produce(name, 3)
    one.produce(name, 3, 1)
    c.committed_at(name, 1, 2)
    c.pause(3)
    served(c, name, 1)
    one.produce(name, 1, 1)
    one.produce(name, 1, 2)
    one.finish(2)
    ends(c, one, 2)
    one.produce(name, 1)
    c.resume(3)
    c.until(name, 0, isr_nodes={1, 3})
    c.committed_at(name, 3, 5)
    one.produce(name, 3, 1)
    c.lead(name, 0, 3)
    served(c, name, 3)
    one.produce(name, 3, 0)
    one.produce(name, 3, 1)
    one.produce(name, 3, 2, epoch=0)
    one.finish(2, committed=False)
    ends(c, one, 2, "CompleteAbort")
    listed(c.at(3), name)


@scenario
def a_group_without_its_topics(c: Cluster) -> None:
    """Subscriptions to topics that are not there, and come to be after the coordinator has moved;
    partitions that are added there."""
    group = c.name("g", 3)
    name = c.s.name("late")
    one = Consumer(c, "one", group)
    one.join(3, name)
    one.beat(3)
    before = _described(c, 3, group)
    c.lead(OFFSETS, 2, 1)
    _await_same(c, group, before)
    one.beat(1)
    assert c.topic("late", [1, 2]) == name
    c.s.names.topic_id(c.topic_id(name))
    one.beat_until_given(1)
    one.ack(1)
    describe(c, 1, group)
    c.quietly(
        "CreatePartitions",
        3,
        topics=[{"name": name, "count": 2, "assignments": None}],
        timeout_ms=10_000,
        validate_only=False,
    )
    one.given.clear()
    one.beat_until_given(1)
    before = _described(c, 1, group)
    c.lead(OFFSETS, 2, 3)
    c.s.until(lambda: _described(c, 3, group) == before, "3 never had it")
    one.ack(3)
    describe(c, 3, group)
