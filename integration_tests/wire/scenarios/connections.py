"""Connections: order of answers, parked requests, hanging up, and how little members have to do
with their connections."""

from __future__ import annotations

from integration_tests.wire.batches import batch
from integration_tests.wire.people import (
    Member,
    describe,
    protocols,
    stable,
    subscription,
    topic,
    until,
)
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.offsets import at, commit, committed
from integration_tests.wire.scenarios.produce import request


@scenario()
def a_parked_join_holds_up_its_connection_only(s: Session) -> None:
    """META-4: what is sent behind a parked JoinGroup waits for it; others, the same member's second
    connection too, are served."""
    group = s.name("g")
    a, b = stable(s, group, "a", "b")
    b.send_join(protocols=protocols("range", metadata="01"))
    until(s, group, "PreparingRebalance")
    b.link.send("Heartbeat", 4, **b.identity(), generation_id=b.generation)
    b.link.send("ListGroups", 0)
    b.link.silent(100)
    s.connect("second").ask("Heartbeat", 4, **b.identity(), generation_id=b.generation)
    a.send_join()
    a.take_join()
    b.take_join()
    b.link.expect()
    b.link.expect(only="groups")


@scenario()
def a_parked_sync_holds_up_its_connection_only(s: Session) -> None:
    """META-4, SYNC-4: the same for SyncGroup; a heartbeat behind it finds the group Stable."""
    group = s.name("g")
    a, b = stable(s, group, "a", "b")
    a.send_join()
    until(s, group, "PreparingRebalance")
    b.send_join()
    a.take_join()
    b.take_join()
    b.send_sync()
    b.link.send("Heartbeat", 4, **b.identity(), generation_id=b.generation)
    b.link.silent(100)
    a.sync({b.member_id: "0b"})
    b.link.expect()
    b.link.expect()


@scenario()
def many_requests_in_one_go(s: Session) -> None:
    """META-1, META-2: a pipeline of different requests is answered in order, each seeing what the
    one before it did."""
    a, name, group = s.connect(), topic(s, "t"), s.name("g")
    topics = [{"name": name, "partitions": [at(0, 5)]}]
    a.send(
        "OffsetCommit",
        8,
        group_id=group,
        generation_id_or_member_epoch=-1,
        member_id="",
        topics=topics,
    )
    a.send("OffsetFetch", 7, group_id=group, topics=None)
    a.send("Produce", 9, **request(name, batch(b"x")))
    end = [{"partition_index": 0, "timestamp": -1}]
    a.send(
        "ListOffsets",
        4,
        replica_id=-1,
        isolation_level=0,
        topics=[{"name": name, "partitions": end}],
    )
    a.send("DeleteGroups", 2, groups_names=[group])
    a.send("DescribeGroups", 6, groups=[group])
    a.send("FindCoordinator", 3, key=group, key_type=0)
    for _ in range(7):
        a.expect()


@scenario()
def a_whole_membership_in_one_go(s: Session) -> None:
    """META-1, META-4: join, sync, heartbeat and leave sent without waiting; each is read when the
    one before it is answered."""
    group = s.name("g")
    a = Member(s, "a", group, version=3)
    a.join()
    a.sync({})
    a.send_join()
    a.link.send(
        "SyncGroup",
        0,
        group_id=group,
        generation_id=a.generation + 1,
        member_id=a.member_id,
        assignments=[{"member_id": a.member_id, "assignment": "01"}],
    )
    a.link.send(
        "Heartbeat", 0, group_id=group, generation_id=a.generation + 1, member_id=a.member_id
    )
    a.link.send("LeaveGroup", 0, group_id=group, member_id=a.member_id)
    a.link.send(
        "Heartbeat", 0, group_id=group, generation_id=a.generation + 1, member_id=a.member_id
    )
    for _ in range(5):
        a.link.expect()


@scenario()
def hanging_up_is_not_leaving(s: Session) -> None:
    """SES-1, HB-1: a member whose connection is gone stays one, and goes on from another
    connection."""
    group = s.name("g")
    a, b = stable(s, group, "a", "b")
    b.reconnect()
    a.heartbeat()
    describe(a.link, group)
    b.heartbeat()
    b.join()


@scenario()
def hanging_up_while_parked(s: Session) -> None:
    """JOIN-7, REB-6: the join is counted though nobody waits for its answer; the next request finds
    the new generation."""
    group = s.name("g")
    a, b = stable(s, group, "a", "b")
    b.send_join(protocols=protocols("range", metadata="01"))
    until(s, group, "PreparingRebalance")
    b.reconnect()
    a.send_join()
    a.take_join()
    describe(a.link, group)
    b.heartbeat()
    b.heartbeat(generation_id=a.generation)
    b.send_join(protocols=protocols("range", metadata="01"))
    b.take_join()


@scenario()
def hanging_up_while_a_sync_is_parked(s: Session) -> None:
    """SYNC-2, SYNC-3: the follower asks again and is given what the leader said meanwhile."""
    group = s.name("g")
    a, b = stable(s, group, "a", "b")
    a.send_join()
    until(s, group, "PreparingRebalance")
    b.send_join()
    a.take_join()
    b.take_join()
    b.send_sync()
    b.link.silent(60)
    b.reconnect()
    a.sync({a.member_id: "0a", b.member_id: "0b"})
    b.sync()


@scenario()
def saying_that_nothing_more_comes(s: Session) -> None:
    """A half-closed connection is closed by the broker, what is parked on it unanswered."""
    group = s.name("g")
    a, b = stable(s, group, "a", "b")
    b.send_join(protocols=protocols("range", metadata="01"))
    until(s, group, "PreparingRebalance")
    idle = s.connect("idle")
    idle.connection.half_close()
    idle.ends()
    a.send_join()
    a.take_join()
    b.take_join()


@scenario()
def two_groups_on_one_connection(s: Session) -> None:
    """Member ids belong to their group, not to a connection: one connection serves two memberships,
    ids are not good elsewhere."""
    one, two = s.name("one"), s.name("two")
    a, b = Member(s, "a", one, version=3), Member(s, "b", two, version=3)
    b.link = a.link
    a.join()
    b.join()
    a.sync({a.member_id: "01"})
    b.sync({b.member_id: "02"})
    a.heartbeat(group_id=two)
    b.heartbeat(group_id=one)
    a.leave()
    b.heartbeat()


@scenario()
def nothing_but_the_member_id_counts(s: Session) -> None:
    """VAL-1: any client, under any client id, may speak in a member's name."""
    group = s.name("g")
    (a,) = stable(s, group, "a")
    for label, client in (("stranger", "stranger"), ("nameless", None)):
        other = s.connect(label, client)
        other.ask("Heartbeat", 4, **a.identity(), generation_id=a.generation)
    describe(a.link, group)


@scenario()
def every_join_mints_another_id(s: Session) -> None:
    """MID-2, MID-3, MID-6, DLY-5: each request without an id is given a fresh one, pending until it
    joins or leaves.

    The first phase of an Empty group ends by its timer all the same; the next one waits for the
    pending ids.
    """
    group = s.name("g")
    a = s.connect("a", "a")
    fields: Plain = {
        "group_id": group,
        "session_timeout_ms": 30_000,
        "rebalance_timeout_ms": 60_000,
        "member_id": "",
        "protocol_type": "consumer",
        "protocols": protocols("range"),
    }
    ids = [a.ask("JoinGroup", 9, **fields)["member_id"] for _ in range(3)]
    a.ask("JoinGroup", 9, **(fields | {"member_id": ids[1]}))
    a.send(
        "JoinGroup",
        9,
        **(fields | {"member_id": ids[1], "protocols": protocols("range", "sticky")}),
    )
    a.silent(100)
    gone = [{"member_id": m, "group_instance_id": None} for m in (ids[0], ids[2], ids[2])]
    s.connect("other").ask("LeaveGroup", 5, group_id=group, members=gone)
    a.expect()


@scenario()
def a_cooperative_rebalance_takes_two_generations(s: Session) -> None:
    """TR-8, JOIN-13, LEAD-5: first the leader takes a partition away, then its owner rejoins and it
    is given to the newcomer."""
    name, group = topic(s, "t", 2), s.name("g")
    told = protocols("cooperative-sticky", metadata=subscription(name, version=1) + "00000000")
    a = Member(s, "a", group, version=3, protocols=told)
    a.join()
    a.sync({a.member_id: "a0a1"}, protocol_name="cooperative-sticky")
    b = Member(s, "b", group, version=3, protocols=told)
    b.send_join()
    until(s, group, "PreparingRebalance")
    a.send_join()
    for given in ({a: "a0", b: ""}, {a: "a0", b: "b1"}):
        a.take_join()
        b.take_join()
        b.send_sync(protocol_name="cooperative-sticky")
        a.sync(
            {m.member_id: encoded for m, encoded in given.items()},
            protocol_name="cooperative-sticky",
        )
        b.link.expect()
        if given[b] == "":  # what a has given up can go to b in another generation
            a.send_join()
            until(s, group, "PreparingRebalance")
            b.heartbeat()
            b.send_join()
    describe(s.connect("admin"), group)


@scenario()
def an_admin_removes_static_members(s: Session) -> None:
    """STA-10, LV-2, LV-4: by instance id alone, one after the other; each remaining member is told
    to rejoin."""
    group = s.name("g")
    a, b = Member(s, "a", group, instance="ia"), Member(s, "b", group, instance="ib")
    a.join()
    b.enter()
    until(s, group, "PreparingRebalance")
    a.send_join()
    a.take_join()
    b.take_join()
    a.send_sync({})
    b.send_sync()
    a.link.expect()
    b.link.expect()
    admin = s.connect("admin")
    admin.ask(
        "LeaveGroup", 4, group_id=group, members=[{"member_id": "", "group_instance_id": "ia"}]
    )
    b.heartbeat()
    a.heartbeat()
    b.join()
    b.sync({})
    admin.ask(
        "LeaveGroup",
        5,
        group_id=group,
        members=[{"member_id": "", "group_instance_id": "ib", "reason": "drained"}],
    )
    describe(admin, group)


@scenario()
def a_restarted_static_leader_during_the_sync_phase(s: Session) -> None:
    """LEAD-4, STA-2, STA-3: its replacement leads on under its new id; everybody rejoins."""
    group = s.name("g")
    a, b = Member(s, "a", group, instance="ia"), Member(s, "b", group, instance="ib")
    a.join()
    b.enter()
    until(s, group, "PreparingRebalance")
    a.send_join()
    a.take_join()
    b.take_join()
    b.send_sync()
    b.link.silent(60)
    twin = Member(s, "twin", group, instance="ia")
    twin.send_join()
    b.link.expect()
    b.send_join()
    twin.take_join()
    b.take_join()
    a.heartbeat()


@scenario()
def unknown_members_of_a_simple_group(s: Session) -> None:
    """OC-1, OC-2, HB-1, SYNC-1, LV-1, DSC-1, OD-1: a group that only commits made has no members,
    and takes none of its requests."""
    a, name, group = s.connect(), topic(s, "t"), s.name("g")
    commit(a, group, name, at(0, 5))
    ghost = Member(s, "ghost", group)
    ghost.member_id = "ghost"
    ghost.heartbeat()
    ghost.sync({})
    ghost.leave()
    ghost.leave(0)
    ghost.commit(name, 1, generation_id_or_member_epoch=0)
    ghost.commit(name, 2, generation_id_or_member_epoch=-1)
    ghost.send_join()
    ghost.take_join()
    describe(a, group)
    committed(a, group, name, 0)
    newcomer = Member(s, "n", group, version=3)
    newcomer.join()
    commit(a, group, name, at(0, 6))
    describe(a, group)
    committed(a, group, name, 0)
