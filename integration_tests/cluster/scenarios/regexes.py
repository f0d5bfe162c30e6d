"""Consumer groups (KIP-848) at the next coordinator: topics that come and go, patterns, commits in
transactions, limits, and racks."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.consumers import (
    Consumer,
    _await_same,
    _described,
    _topic,
    describe,
)
from integration_tests.cluster.scenarios.coordinators import Transactor
from integration_tests.cluster.scenarios.moved_transactions import ends, offsets
from integration_tests.cluster.scenarios.second_version import _moved
from integration_tests.cluster.scenarios.standstills import fetched
from integration_tests.cluster.stage import OFFSETS, TRANSACTIONS, Cluster


def over_to_1(c: Cluster, group: str) -> None:
    """Broker 3, which coordinated a group, crashes; 1 has it as it was."""
    before = _described(c, 3, group)
    c.crash(3)
    c.until(OFFSETS, 2, leader_id=1)
    _await_same(c, group, before)


@scenario
def a_topic_goes_while_its_consumers_coordinator_is_away(c: Cluster) -> None:
    """K8: the next coordinator takes the deleted topic's partitions away; made anew under its name
    it is another topic."""
    name, other, group = _topic(c, 2), c.topic("other", [1, 2]), c.name("g", 3)
    c.s.names.topic_id(c.topic_id(other))
    one = Consumer(c, "one", group)
    one.join(3, name, other)
    one.ack(3)
    one.commit(3, name, 5)
    over_to_1(c, group)
    c.quietly("DeleteTopics", 4, topic_names=[name], timeout_ms=10_000)
    c.s.until(lambda: not any(c.partition(name, 0, broker) for broker in c.alive), "it stayed")
    one.given.clear()
    one.beat_until_given(1)
    one.ack(1)
    describe(c, 1, group)
    one.fetch(1, name)
    assert c.topic("t", [1, 2]) == name
    c.s.names.topic_id(c.topic_id(name))
    one.given.clear()
    one.beat_until_given(1)
    one.ack(1)
    describe(c, 1, group)


@scenario
def a_pattern_at_the_next_coordinator(c: Cluster) -> None:
    """A pattern goes on there: a member changes it to names and back, another joins with it, and a
    static one replaces itself."""
    name, group = _topic(c, 2), c.name("g", 3)
    pattern = f"{name}|other.*"
    one = Consumer(c, "one", group)
    one.join(3, subscribed_topic_regex=pattern)
    one.beat_until_given(3)
    one.ack(3)
    over_to_1(c, group)
    one.beat(1)
    two = Consumer(c, "two", group, instance="i")
    two.join(1, subscribed_topic_regex=pattern)
    one.beat(1)
    one.ack(1)
    two.beat(1)
    two.ack(1)
    describe(c, 1, group)
    one.beat(1, subscribed_topic_regex="", subscribed_topic_names=[name])
    one.beat(1, subscribed_topic_regex="(")
    two.beat(1, member_epoch=-2)
    again = Consumer(c, "again", group, instance="i")
    again.join(1, subscribed_topic_regex=pattern)
    describe(c, 1, group)


@scenario
def offsets_of_consumers_in_transactions(c: Cluster) -> None:
    """K8-OFF-1 in transactions: by the member's epoch, an old one, one to come, and by strangers,
    at both coordinators."""
    name, group = _topic(c, 1), c.name("g", 3)
    one, tx = Consumer(c, "one", group), Transactor(c, "tx")
    one.join(3, name)
    one.ack(3)
    two = Consumer(c, "two", group)
    two.join(3, name)
    one.beat(3)
    tx.init()
    c.at(3).ask("AddOffsetsToTxn", 3, **tx.who, group_id=group)
    for epoch in (0, 1, 2, 3):
        offsets(
            c,
            tx,
            group,
            name,
            10 + epoch,
            3,
            member_id="member-one",
            generation_id_or_member_epoch=epoch,
        )
    over_to_1(c, group)
    c.until(TRANSACTIONS, 2, leader_id=1)
    _moved(c, tx, 1)
    for epoch in (1, 2, 3):
        offsets(
            c,
            tx,
            group,
            name,
            20 + epoch,
            1,
            member_id="member-one",
            generation_id_or_member_epoch=epoch,
        )
    offsets(c, tx, group, name, 30, 1, member_id="stranger", generation_id_or_member_epoch=2)
    offsets(c, tx, group, name, 31, 1, member_id="", generation_id_or_member_epoch=-1)
    offsets(c, tx, group, name, 32, 1, member_id="member-one", generation_id_or_member_epoch=-1)
    one.fetch(1, name)
    tx.end(1)
    ends(c, tx, 1)
    fetched(c, group, 1)
    one.commit(1, name, 40, epoch=1)
    one.commit(1, name, 41, epoch=2)
    one.commit(1, name, 42, epoch=3)
    one.fetch(1, name)


@scenario
def members_who_change_at_the_next_coordinator(c: Cluster) -> None:
    """K8: another assignor, other topics, a rack, another rebalance time; a member that leaves,
    comes again under its id, and is full."""
    name, other, group = _topic(c, 2), c.topic("other", [1, 2]), c.name("g", 3)
    c.s.names.topic_id(c.topic_id(other))
    one, two = Consumer(c, "one", group), Consumer(c, "two", group)
    one.join(3, name, rack_id="a")
    one.ack(3)
    two.join(3, name)
    one.beat(3)
    one.ack(3)
    two.beat(3)
    two.ack(3)
    over_to_1(c, group)
    one.beat(1, server_assignor="range")
    two.beat(1)
    one.beat(1, rack_id="b")
    one.beat(1, subscribed_topic_names=[name, other])
    two.beat(1, rebalance_timeout_ms=9_000)
    two.beat(1)
    two.ack(1)
    one.beat(1)
    one.ack(1)
    describe(c, 1, group)
    two.beat(1, member_epoch=-1)
    two.beat(1)
    two.join(1, other)
    one.beat(1)
    one.ack(1)
    two.beat(1)
    describe(c, 1, group)
