"""LeaveGroup 0-5, the limit of a group's size, the initial delay."""

from __future__ import annotations

import time

from integration_tests.wire.people import Member, describe, protocols, stable, until, until_members
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario


@scenario()
def leave_in_every_version(s: Session) -> None:
    """LV-1, LV-6, ENT-5, VER-4: unknown group and member, "" group, then the member itself,
    twice."""
    for version in range(6):
        (a,) = stable(s, s.name(f"g{version}"), "a")
        a.leave(version, group_id="")
        a.leave(version, group_id=s.name("nowhere"))
        a.leave(
            version,
            **(
                {"member_id": "ghost"}
                if version < 3
                else {"members": [{"member_id": "ghost", "group_instance_id": None}]}
            ),
        )
        a.leave(version)
        a.leave(version)
        describe(a.link, a.group)


@scenario()
def leaving_a_stable_group(s: Session) -> None:
    """LV-4, LEAD-2: the others are told 27; the leader that left is replaced."""
    group = s.name("g")
    a, b = stable(s, group, "a", "b")
    a.leave()
    b.heartbeat()
    describe(b.link, group)
    b.join()
    b.sync({b.member_id: "0b"})
    describe(b.link, group)


@scenario()
def leaving_during_the_join_phase(s: Session) -> None:
    """LV-3, LV-4: the parked join of one removed is answered 25; the last missing one's leaving
    ends the phase."""
    group = s.name("g")
    a, b, c = stable(s, group, "a", "b", "c")
    b.send_join(protocols=protocols("range", metadata="01"))
    until(s, group, "PreparingRebalance")
    s.connect("other").ask(
        "LeaveGroup",
        5,
        group_id=group,
        members=[{"member_id": b.member_id, "group_instance_id": None}],
    )
    b.take_join()
    a.send_join()
    a.link.silent(60)
    c.leave()
    a.take_join()


@scenario()
def a_pending_member_leaves_a_stable_group(s: Session) -> None:
    """LV-4: even that rebalances the group."""
    group = s.name("g")
    (a,) = stable(s, group, "a")
    b = Member(s, "b", group)
    b.send_join()
    b.take_join()
    b.leave()
    a.heartbeat()
    describe(a.link, group)


@scenario()
def a_pending_member_holds_up_the_join_phase(s: Session) -> None:
    """MID-6, REB-2: nobody is answered before the pending one comes or goes."""
    group = s.name("g")
    a, b = stable(s, group, "a", "b")
    pending = Member(s, "p", group)
    pending.send_join()
    pending.take_join()
    b.send_join(protocols=protocols("range", metadata="01"))
    until(s, group, "PreparingRebalance")
    a.send_join()
    a.link.silent(100)
    pending.leave()
    a.take_join()
    b.take_join()


@scenario("limits")
def a_full_group(s: Session) -> None:
    """SIZE-1, SIZE-2, REB-8: ids are handed out beyond the limit; who comes back with one to a full
    group gets 81 and loses it."""
    group = s.name("g")
    members = [Member(s, f"m{i}", group) for i in range(3)]
    for member in members:
        member.send_join()
        member.take_join()
    for count, member in enumerate(members[:2], start=1):
        member.send_join()
        until_members(s, group, count)
    members[2].send_join()
    members[2].take_join()
    for member in members[:2]:
        member.take_join()
    late = Member(s, "late", group)
    late.send_join()
    late.take_join()
    for version in (0, 3, 8):
        Member(s, f"old{version}", group, version=version).join()
    leader = next(m for m in members[:2] if m.leader)
    follower = next(m for m in members[:2] if m is not leader)
    follower.send_sync()
    leader.sync({})
    follower.link.expect()
    late.send_join()
    late.take_join()
    Member(s, "static", group, instance="i1").join()
    members[0].heartbeat()
    leader.send_join()
    until(s, group, "PreparingRebalance")
    Member(s, "x", group, version=3).enter()
    until_members(s, group, 3)
    describe(s.connect("admin"), group)
    members[2].send_join()
    members[2].take_join()


@scenario("limits")
def the_initial_delay(s: Session) -> None:
    """DLY-1, DLY-2, DLY-3, DLY-6, TR-1, TR-7: the first waits for company, each newcomer gives one
    window more; so in a refilled group."""
    group = s.name("g")
    a, b = Member(s, "a", group), Member(s, "b", group)
    began = time.monotonic()
    a.enter()
    until_members(s, group, 1)
    b.enter()
    a.take_join()
    b.take_join()
    s.say("waited two windows", time.monotonic() - began > 1.9)
    a.leave()
    b.leave()
    until(s, group, "Empty")
    began = time.monotonic()
    a.member_id = ""
    a.join()
    s.say("waited a window", time.monotonic() - began > 0.95)
    b.member_id = ""
    b.enter()
    until(s, group, "PreparingRebalance")
    a.send_join()
    a.take_join()
    b.take_join()


@scenario("limits")
def the_delay_and_a_short_rebalance_timeout(s: Session) -> None:
    """DLY-1: no more than the first member's rebalance timeout in all."""
    group = s.name("g")
    began = time.monotonic()
    a, b = (
        Member(s, "a", group, rebalance_timeout_ms=100),
        Member(s, "b", group, rebalance_timeout_ms=5_000),
    )
    a.enter()
    b.enter()
    a.take_join()
    b.take_join()
    s.say("waited a window", time.monotonic() - began > 0.95)


@scenario("limits")
def leaving_during_the_initial_delay(s: Session) -> None:
    """DLY-4: leaving answers the parked join but does not end the wait; an emptied wait ends
    Empty."""
    group = s.name("g")
    a = Member(s, "a", group)
    a.enter()
    until_members(s, group, 1)
    s.connect("other").ask(
        "LeaveGroup",
        5,
        group_id=group,
        members=[{"member_id": a.member_id, "group_instance_id": None}],
    )
    a.take_join()
    describe(a.link, group)
    until(s, group, "Empty")
    describe(a.link, group)
