"""Static members (KIP-345, KIP-814): replacement in every state, fencing, leaving by instance
id."""

from __future__ import annotations

from typing import Any

from integration_tests.wire.people import (
    Member,
    describe,
    protocols,
    stable,
    state,
    until,
    until_members,
)
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario


def _pair(s: Session, group: str, version: int = 9, **join: Any) -> tuple[Member, Member]:
    """A Stable group of two static members; "a" leads."""
    a, b = (
        Member(s, "a", group, version=version, instance="ia", **join),
        Member(s, "b", group, version=version, instance="ib", **join),
    )
    a.join()
    a.sync({a.member_id: "61"})
    b.enter()
    until(s, group, "PreparingRebalance")
    a.send_join()
    a.take_join()
    b.take_join()
    a.send_sync({a.member_id: "0a", b.member_id: "0b"})
    b.send_sync()
    a.link.expect()
    b.link.expect()
    return a, b


def _restarted(s: Session, member: Member, **join: Any) -> Member:
    """The same instance, come back without its member id."""
    twin = Member(
        s, member.link.name + "2", member.group, version=member.version, instance=member.instance
    )
    twin.join_fields = member.join_fields | join
    return twin


@scenario()
def a_static_join_takes_one_step(s: Session) -> None:
    """STA-1, MID-1, MID-4: no 79; the id carries the instance id; unknown instance with an id is
    25."""
    for version in (5, 6, 7, 8, 9):
        Member(s, "a", s.name(f"g{version}"), version=version, instance="i1").join()
    a = Member(s, "a", s.name("g9"), instance="i2")
    a.member_id = "ghost"
    a.join()
    empty = Member(s, "a", s.name("empty"), instance="")
    empty.join()
    describe(empty.link, s.name("empty"))


@scenario()
def a_restarted_leader(s: Session) -> None:
    """STA-3, STA-4, TR-6: Stable, same protocol: no rebalance; version 9 learns of its leadership,
    8 does not."""
    for version in (5, 8, 9):
        a, b = _pair(s, s.name(f"g{version}"), version)
        twin = _restarted(s, a)
        twin.join()
        twin.sync({twin.member_id: "99"})
        describe(twin.link, a.group)
        b.heartbeat()
        twin.heartbeat()
        a.heartbeat()


@scenario()
def a_restarted_follower(s: Session) -> None:
    """STA-4, STA-8, STA-9: the follower's place and assignment are kept under a new id."""
    for version in (5, 8, 9):
        a, b = _pair(s, s.name(f"g{version}"), version)
        twin = _restarted(s, b)
        twin.join()
        twin.sync()
        a.heartbeat()
        third = _restarted(s, b)
        third.join()
        twin.heartbeat()
        describe(third.link, a.group)


@scenario()
def the_old_process_is_fenced(s: Session) -> None:
    """STA-6: 82 with the instance id, 25 without, in every request."""
    a, b = _pair(s, s.name("g"))
    _restarted(s, b).join()
    b.heartbeat()
    b.heartbeat(group_instance_id=None)
    b.heartbeat(generation_id=99)
    b.sync()
    b.sync(group_instance_id=None)
    b.commit(s.name("t"), 1)
    b.send_join()
    b.take_join()
    b.leave()
    b.leave(members=[{"member_id": b.member_id, "group_instance_id": None}])
    b.heartbeat(group_instance_id="other")
    b.heartbeat(group_instance_id="ia")
    a.heartbeat(group_instance_id=None)
    a.heartbeat()


@scenario()
def a_restart_with_other_protocols(s: Session) -> None:
    """STA-3: only the selected name counts: another subscription does not rebalance, another
    assignor does."""
    group = s.name("g")
    a, b = _pair(s, group, protocols=protocols("range", "roundrobin"))
    twin = _restarted(s, b, protocols=protocols("range", "roundrobin", metadata="77"))
    twin.join()
    describe(twin.link, group)
    third = _restarted(s, b, protocols=protocols("roundrobin"))
    third.enter()
    until(s, group, "PreparingRebalance")
    a.heartbeat()
    a.send_join()
    a.take_join()
    third.take_join()
    fourth = _restarted(s, b, protocols=protocols("sticky"))
    fourth.join()


@scenario()
def a_restart_during_the_join_phase(s: Session) -> None:
    """STA-2: the old one's parked JoinGroup is answered 82; the new one is parked in its place."""
    group = s.name("g")
    a, b = _pair(s, group)
    b.send_join(protocols=protocols("range", metadata="01"))
    until(s, group, "PreparingRebalance")
    twin = _restarted(s, b)
    twin.send_join()
    b.take_join()
    twin.link.silent(60)
    a.send_join()
    a.take_join()
    twin.take_join()


@scenario()
def a_restart_during_the_sync_phase(s: Session) -> None:
    """STA-2, STA-3: the old one's parked SyncGroup is answered 82, the others' 27: always a
    rebalance."""
    group = s.name("g")
    a, b = _pair(s, group)
    c = Member(s, "c", group, instance="ic")
    c.enter()
    until(s, group, "PreparingRebalance")
    a.send_join()
    b.send_join()
    for member in (a, b, c):
        member.take_join()
    b.send_sync()
    c.send_sync()
    b.link.silent(60)
    c.link.silent(30)
    twin = _restarted(s, b)
    twin.send_join()
    b.link.expect()
    c.link.expect()
    a.heartbeat()
    a.send_join()
    c.send_join()
    for member in (a, twin, c):
        member.take_join()


@scenario()
def rejoining_with_the_right_id(s: Session) -> None:
    """STA-7: a follower unchanged is answered at once, the leader rebalances."""
    group = s.name("g")
    a, b = _pair(s, group)
    b.join()
    a.send_join()
    until(s, group, "PreparingRebalance")
    b.send_join()
    a.take_join()
    b.take_join()


@scenario()
def static_members_survive_a_rebalance_they_miss(s: Session) -> None:
    """STA-11, REB-4, LEAD-3: the missing leader stays a member, another leads; its sync is due all
    the same."""
    group = s.name("g")
    a, b = _pair(s, group, rebalance_timeout_ms=3_000)
    b.send_join(protocols=protocols("range", metadata="01"))
    b.take_join()
    b.send_sync({a.member_id: "aa", b.member_id: "bb"})
    b.link.expect()
    a.heartbeat()
    a.heartbeat(generation_id=b.generation)
    until_members(s, group, 1)
    a.heartbeat(generation_id=b.generation)
    s.say("state", state(s, group))


@scenario()
def leaving_by_instance_id(s: Session) -> None:
    """LV-2: an instance id alone will do; with an id it must be the right one."""
    group = s.name("g")
    a, _ = _pair(s, group)
    admin = s.connect("admin")

    def leave(version: int, *members: tuple[str, str | None]) -> None:
        admin.ask(
            "LeaveGroup",
            version,
            group_id=group,
            members=[{"member_id": m, "group_instance_id": i} for m, i in members],
        )

    leave(3, ("", "nobody"), ("", None), ("ghost", None), ("ghost", "ia"), (a.member_id, "ib"))
    a.heartbeat()
    leave(4, ("", "ib"))
    a.heartbeat()
    leave(5, (a.member_id, None))
    describe(admin, group)


@scenario()
def a_batch_that_leaves(s: Session) -> None:
    """LV-4, LV-7, LV-8: each has its own answer, the group rebalances once."""
    group = s.name("g")
    a, b = _pair(s, group)
    admin = s.connect("admin")
    admin.ask("LeaveGroup", 5, group_id=group, members=[])
    a.heartbeat()
    admin.ask(
        "LeaveGroup",
        5,
        group_id=group,
        members=[
            {"member_id": "", "group_instance_id": "ia", "reason": "scaled in"},
            {"member_id": "ghost", "group_instance_id": None},
            {"member_id": b.member_id, "group_instance_id": "ib"},
            {"member_id": b.member_id, "group_instance_id": "ib"},
        ],
    )
    describe(admin, group)


@scenario()
def a_member_with_an_instance_id_of_a_dynamic_one(s: Session) -> None:
    """VAL-1: an instance id nobody registered is 25, whatever the member id."""
    (a,) = stable(s, s.name("g"), "a")
    a.heartbeat(group_instance_id="ia")
    a.commit(s.name("t"), 1, group_instance_id="ia")
    a.leave(members=[{"member_id": a.member_id, "group_instance_id": "ia"}])
    a.heartbeat()


@scenario("limits")
def a_full_group_and_a_restart(s: Session) -> None:
    """SIZE-3: a full Stable group answers 81 to a restarted static member."""
    group = s.name("g")
    a, b = Member(s, "a", group, instance="ia"), Member(s, "b", group, instance="ib")
    a.send_join()
    until_members(s, group, 1)
    b.send_join()
    a.take_join()
    b.take_join()
    b.send_sync()
    a.sync({})
    b.link.expect()
    _restarted(s, a).join()
    a.heartbeat()
