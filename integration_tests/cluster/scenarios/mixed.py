"""Groups with members of both protocols whose coordinator moves in the midst of a revocation, or
before a static member comes back."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.consumers import (
    Consumer,
    _await_same,
    _described,
    _topic,
    describe,
)
from integration_tests.cluster.scenarios.coordinators import _state
from integration_tests.cluster.scenarios.migrations import Classic
from integration_tests.cluster.scenarios.standstills import commit
from integration_tests.cluster.stage import OFFSETS, Cluster


def mixed(c: Cluster, group: str, name: str) -> tuple[Classic, Consumer]:
    """A classic member that has all partitions, and a consumer that has just come."""
    old, new = Classic(c, "old", group, name), Consumer(c, "new", group)
    old.join(3)
    old.sync(3, 0, 1)
    new.join(3, name)
    return old, new


def over_to_1(c: Cluster, group: str) -> None:
    """The group's coordinator moves from 3 to 1, which has it as it was."""
    before = _described(c, 3, group)
    c.lead(OFFSETS, 2, 1)
    _await_same(c, group, before)


@scenario
def a_classic_member_revokes_at_the_next_coordinator(c: Cluster) -> None:
    """It is told of the rebalance there, joins, gives up what it must, and the consumer gets it."""
    name, group = _topic(c, 2), c.name("g", 3)
    old, new = mixed(c, group, name)
    over_to_1(c, group)
    new.beat(1)
    old.beat(1)
    commit(
        c,
        group,
        name,
        5,
        1,
        member_id=old.member_id,
        generation_id_or_member_epoch=1,
        group_instance_id="old",
    )
    old.join(1)
    old.sync(1)
    describe(c, 1, group)
    new.beat(1)
    old.beat(1)
    old.join(1)
    old.sync(1)
    new.beat(1)
    new.ack(1)
    old.beat(1)
    describe(c, 1, group)


@scenario
def a_classic_member_has_joined_and_not_synced(c: Cluster) -> None:
    """The coordinator moves between its JoinGroup and its SyncGroup: it syncs, beats and commits at
    the next one."""
    name, group = _topic(c, 2), c.name("g", 3)
    old, new = mixed(c, group, name)
    old.beat(3)
    old.join(3)
    over_to_1(c, group)
    old.beat(1)
    old.sync(1)
    old.beat(1)
    commit(
        c,
        group,
        name,
        5,
        1,
        member_id=old.member_id,
        generation_id_or_member_epoch=old.generation,
        group_instance_id="old",
    )
    new.beat(1)
    describe(c, 1, group)
    old.leave(1)
    new.beat(1)
    new.ack(1)
    describe(c, 1, group)


@scenario
def a_static_classic_member_comes_back_as_a_consumer(c: Cluster) -> None:
    """At the next coordinator its instance is taken over by a consumer, and back by a classic one;
    the old ids are fenced."""
    name, group = _topic(c, 2), c.name("g", 3)
    old, new = mixed(c, group, name)
    old.join(3)
    old.sync(3)
    over_to_1(c, group)
    heir = Consumer(c, "heir", group, instance="old")
    heir.join(1, name)
    old.beat(1)
    old.leave(1)
    heir.join(1, name)
    new.beat(1)
    new.ack(1)
    heir.beat(1)
    heir.ack(1)
    old.beat(1)
    heir.beat(1, member_epoch=-2)
    back = Classic(c, "old", group, name)
    back.join(1)
    back.sync(1)
    back.beat(1)
    describe(c, 1, group)


@scenario
def the_last_consumer_leaves_at_the_next_coordinator(c: Cluster) -> None:
    """The group is downgraded there, in the midst of a rebalance or not; then the coordinator moves
    back to a classic group."""
    name, group = _topic(c, 2), c.name("g", 3)
    old, new = mixed(c, group, name)
    over_to_1(c, group)
    new.beat(1, member_epoch=-1)
    c.at(1).ask("DescribeGroups", 6, groups=[group])
    old.beat(1)
    old.join(1)
    old.sync(1, 0, 1)
    c.at(1).ask("DescribeGroups", 6, groups=[group])
    before = _state(c, group, 1)
    c.lead(OFFSETS, 2, 3)
    c.s.until(lambda: _state(c, group, 3) == before, "3 never had it as it was")
    old.beat(3)
    old.leave(3)
    c.at(3).ask("DescribeGroups", 6, groups=[group])
    new.join(3, name)
    describe(c, 3, group)
