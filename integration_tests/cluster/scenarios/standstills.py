"""Groups whose coordinator stands still and goes on, static members midway in a rebalance, dead
groups, and offsets that are lost."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.consumers import Consumer, _await_same, describe
from integration_tests.cluster.scenarios.coordinators import Member, _groups, _state
from integration_tests.cluster.scenarios.reassignments import UNCLEAN, elect
from integration_tests.cluster.stage import OFFSETS, Cluster
from integration_tests.wire.people import protocols, subscription
from integration_tests.wire.raw import Plain


def coordinated(c: Cluster, group: str, broker: int) -> None:
    """Wait until a broker serves a group, that it knows or not."""
    c.s.until(
        lambda: _state(c, group, broker)["error_code"] in (0, 69),
        f"{broker} never coordinated {c.s.names.text(group)}",
    )


def commit(c: Cluster, group: str, name: str, offset: int, broker: int, **member: object) -> Plain:
    """OffsetCommit of partition 0."""
    topics = [{"name": name, "partitions": [{"partition_index": 0, "committed_offset": offset}]}]
    fields: Plain = {
        "generation_id_or_member_epoch": -1,
        "member_id": "",
        "topics": topics,
    } | member
    return c.at(broker).ask("OffsetCommit", 9, group_id=group, **fields)


def fetched(c: Cluster, group: str, broker: int) -> Plain:
    """OffsetFetch of all that a group has."""
    return c.at(broker).ask("OffsetFetch", 9, groups=[{"group_id": group, "topics": None}])


@scenario
def a_coordinator_stands_still(c: Cluster) -> None:
    """ERR-7: while it is paused another one coordinates; when it goes on, requests that were parked
    there are told NOT_COORDINATOR."""
    name = c.topic("t", [1, 2])
    groups = _groups(c, name)
    named = {
        state: members[0].group if members else c.name(state, 3)
        for state, members in groups.items()
    }
    c.pause(3)
    c.until(OFFSETS, 2, leader_id=1)
    for group in named.values():
        coordinated(c, group, 1)
    stable = groups["stable"][0]
    stable.heartbeat(1)
    commit(c, stable.group, name, 9, 1, member_id=stable.member_id, generation_id_or_member_epoch=1)
    c.resume(3)
    for state in ("preparing", "completing"):
        groups[state][1].ended()
    stable.heartbeat(3)
    commit(
        c, stable.group, name, 10, 3, member_id=stable.member_id, generation_id_or_member_epoch=1
    )
    c.until(OFFSETS, 2, isr_nodes={1, 2, 3})
    for state, group in named.items():
        c.at(1).ask("DescribeGroups", 6, groups=[group])
        for member in groups[state]:
            member.heartbeat(1)
    c.lead(OFFSETS, 2, 3)
    coordinated(c, stable.group, 3)
    stable.heartbeat(3)
    stable.heartbeat(1)
    fetched(c, stable.group, 3)


@scenario
def static_members_lose_their_coordinator_midway(c: Cluster) -> None:
    """STA-2, ERR-7: a rebalance that was under way is forgotten; its last generation is there, and
    static members come back to it."""
    group = c.name("g", 3)
    join: Plain = {
        "group_id": group,
        "session_timeout_ms": 60_000,
        "rebalance_timeout_ms": 120_000,
        "member_id": "",
        "protocol_type": "consumer",
        "protocols": protocols("range"),
    }
    sync: Plain = {"group_id": group, "protocol_type": "consumer", "protocol_name": "range"}
    first = c.at(3).ask("JoinGroup", 9, **join, group_instance_id="one")["member_id"]
    given = [{"member_id": first, "assignment": "0a"}]
    c.at(3).ask(
        "SyncGroup",
        5,
        **sync,
        generation_id=1,
        member_id=first,
        group_instance_id="one",
        assignments=given,
    )
    second = c.connect("second", 3)
    second.send("JoinGroup", 9, **join, group_instance_id="two")
    c.s.until(
        lambda: _state(c, group, 3)["group_state"] == "PreparingRebalance", "no rebalance began"
    )
    c.crash(3)
    second.ends()
    c.until(OFFSETS, 2, leader_id=1)
    c.s.until(lambda: _state(c, group, 1)["group_state"] == "Stable", "1 never told of the group")
    c.at(1).ask("DescribeGroups", 6, groups=[group])
    beat: Plain = {"group_id": group, "generation_id": 1, "group_instance_id": "one"}
    c.at(1).ask("Heartbeat", 4, **beat, member_id=first)
    c.at(1).ask("JoinGroup", 9, **join | {"member_id": "stranger"}, group_instance_id="two")
    c.at(1).ask(
        "LeaveGroup", 5, group_id=group, members=[{"member_id": "", "group_instance_id": "two"}]
    )
    third = c.connect("third", 1)
    third.send("JoinGroup", 9, **join, group_instance_id="two")
    c.s.until(
        lambda: _state(c, group, 1)["group_state"] == "PreparingRebalance", "no rebalance began"
    )
    c.at(1).ask("Heartbeat", 4, **beat, member_id=first)
    back = c.at(1).ask("JoinGroup", 9, **join, group_instance_id="one")["member_id"]
    told = third.expect()
    given = [
        {"member_id": back, "assignment": "0b"},
        {"member_id": told["member_id"], "assignment": "0c"},
    ]
    c.at(1).ask("Heartbeat", 4, **beat, member_id=first)
    c.at(1).ask(
        "SyncGroup",
        5,
        **sync,
        generation_id=2,
        member_id=back,
        group_instance_id="one",
        assignments=given,
    )
    third.ask(
        "SyncGroup",
        5,
        **sync,
        generation_id=2,
        member_id=told["member_id"],
        group_instance_id="two",
        assignments=given,
    )
    c.at(1).ask("DescribeGroups", 6, groups=[group])


@scenario
def groups_that_are_dead_or_emptied(c: Cluster) -> None:
    """A deleted group is Dead at the next coordinator; one whose members left keeps its offsets and
    its generation."""
    name, dead, left, dying = (
        c.topic("t", [1, 2]),
        c.name("dead", 3),
        c.name("left", 3),
        c.name("dying", 3),
    )
    commit(c, dead, name, 1, 3)
    c.at(3).ask("DeleteGroups", 2, groups_names=[dead])
    member, other = Member(c, "left", left), Member(c, "dying", dying)
    for one in (member, other):
        one.enter()
        one.take_join()
        one.send_sync({one.member_id: "0a"})
        one.link.expect()
        commit(c, one.group, name, 2, 3, member_id=one.member_id, generation_id_or_member_epoch=1)
    c.at(3).ask("DeleteGroups", 2, groups_names=[dying])
    c.at(3).ask(
        "LeaveGroup",
        5,
        group_id=left,
        members=[{"member_id": member.member_id, "group_instance_id": None}],
    )
    c.stop(3)
    c.until(OFFSETS, 2, leader_id=1)
    for group in (dead, left, dying):
        coordinated(c, group, 1)
        for version in (5, 6):
            c.at(1).ask("DescribeGroups", version, groups=[group])
        fetched(c, group, 1)
    c.at(1).ask("DeleteGroups", 2, groups_names=[dying])
    c.at(2).ask("DeleteGroups", 2, groups_names=[left])
    c.at(1).ask(
        "OffsetDelete",
        0,
        group_id=left,
        topics=[{"name": name, "partitions": [{"partition_index": 0}]}],
    )
    member.heartbeat(1)
    commit(c, left, name, 3, 1, member_id=member.member_id, generation_id_or_member_epoch=1)
    c.at(1).ask("ListGroups", 5, only="groups")
    c.at(1).ask("ListGroups", 5, states_filter=["Empty"], types_filter=["classic"], only="groups")
    c.at(1).ask("DeleteGroups", 2, groups_names=[left])
    c.start(3)
    c.until(OFFSETS, 2, isr_nodes={1, 2, 3})
    c.lead(OFFSETS, 2, 3)
    coordinated(c, left, 3)
    for group in (dead, left, dying):
        c.at(3).ask("DescribeGroups", 6, groups=[group])
    c.at(3).ask("ListGroups", 5, only="groups")


@scenario
def consumers_whose_coordinator_stands_still(c: Cluster) -> None:
    """ERR-7, PST-4: a revocation goes on at another broker while the coordinator is paused, and
    back at the old one afterwards."""
    name = c.topic("t", *[[1, 2]] * 4)
    c.s.names.topic_id(c.topic_id(name))
    group, mixed = c.name("revoking", 3), c.name("mixed", 3)
    has, wants, late = (Consumer(c, label, group) for label in ("has", "wants", "late"))
    has.join(3, name)
    has.ack(3)
    wants.join(3, name)
    has.beat(3)
    one = Consumer(c, "one", mixed)
    one.join(3, name)
    one.ack(3)
    old: Plain = {
        "group_id": mixed,
        "session_timeout_ms": 45_000,
        "rebalance_timeout_ms": 60_000,
        "protocol_type": "consumer",
        "group_instance_id": "classic",
        "protocols": protocols("range", metadata=subscription(name)),
    }
    joined = c.at(3).ask("JoinGroup", 9, **old, member_id="")
    classic: Plain = {
        "group_id": mixed,
        "generation_id": joined["generation_id"],
        "member_id": joined["member_id"],
        "group_instance_id": "classic",
    }
    before = {known: dict(describe(c, 3, known)["groups"][0]) for known in (group, mixed)}
    c.pause(3)
    c.until(OFFSETS, 2, leader_id=1)
    coordinated(c, group, 1)
    for known, of_three in before.items():
        _await_same(c, known, of_three)
        describe(c, 1, known)
    has.ack(1)
    wants.beat(1)
    c.at(1).ask("Heartbeat", 4, **classic)
    one.beat(1)
    one.ack(1)
    c.at(1).ask(
        "SyncGroup", 5, **classic, protocol_type="consumer", protocol_name="range", assignments=[]
    )
    late.join(1, name)
    c.resume(3)
    c.s.until(
        lambda: _state(c, group, 3)["error_code"] == 16,
        "3 never learned that it coordinates no more",
    )
    has.beat(3)
    c.at(3).ask("Heartbeat", 4, **classic)
    describe(c, 3, group, mixed)
    c.until(OFFSETS, 2, isr_nodes={1, 2, 3})
    wants.ack(1)
    c.lead(OFFSETS, 2, 3)
    coordinated(c, group, 3)
    has.beat(3)
    has.ack(3)
    late.beat(3)
    c.at(3).ask("Heartbeat", 4, **classic)
    wants.beat(1)


@scenario
def offsets_lost_in_an_unclean_election(c: Cluster) -> None:
    """The only replica in sync of a group's partition is gone, and one that was not takes over:
    later commits are lost."""
    name, group, founded = c.topic("t", [2, 1], [2, 1]), c.name("g", 3), c.name("founded", 3)
    entry = {"partition_index": 2, "replicas": [3, 1]}
    c.quietly(
        "AlterPartitionReassignments",
        0,
        topics=[{"name": OFFSETS, "partitions": [entry]}],
        timeout_ms=10_000,
    )
    c.until(OFFSETS, 2, replica_nodes=[3, 1], isr_nodes={1, 3})
    commit(c, group, name, 1, 3)
    c.stop(1)
    c.until(OFFSETS, 2, isr_nodes={3})
    commit(c, group, name, 2, 3)
    commit(c, founded, name, 3, 3)
    c.crash(3, noticed=False)
    c.start(1)
    c.until(OFFSETS, 2, leader_id=-1)
    for broker in (1, 2):
        c.at(broker).ask("FindCoordinator", 4, key_type=0, coordinator_keys=[group])
    c.at(1).ask("DescribeGroups", 6, groups=[group])
    fetched(c, group, 1)
    commit(c, group, name, 4, 1)
    elect(c, OFFSETS, 2, kind=UNCLEAN)
    c.until(OFFSETS, 2, leader_id=1)
    coordinated(c, group, 1)
    for one in (group, founded):
        fetched(c, one, 1)
        c.at(1).ask("DescribeGroups", 6, groups=[one])
    commit(c, founded, name, 5, 1)
    c.start(3)
    c.until(OFFSETS, 2, isr_nodes={1, 3})
    c.lead(OFFSETS, 2, 3)
    coordinated(c, founded, 3)
    for one in (group, founded):
        fetched(c, one, 3)
