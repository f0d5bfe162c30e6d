"""SyncGroup 0-5 and Heartbeat 0-4 in every state of a group."""

from __future__ import annotations

from integration_tests.wire.people import Member, describe, protocols, stable, until
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario


@scenario()
def sync_in_every_version(s: Session) -> None:
    """SYNC-5, VER-2: shapes of success and of refusal; type and name come back from version 5
    on."""
    for version in range(6):
        member = Member(s, f"v{version}", s.name(f"g{version}"))
        member.join()
        member.sync({member.member_id: "0a0b"}, version)
        member.sync({member.member_id: "ffff"}, version)
        member.sync(None, version, generation_id=7)
        member.sync(None, version, member_id="ghost")
        member.sync(None, version, group_id="")
        member.sync(None, version, group_id=s.name("nowhere"))


@scenario()
def sync_refusals(s: Session) -> None:
    """ENT-2, ENT-5, SYNC-1: in order group, mandatory names, membership, generation, type, name."""
    (a,) = stable(s, s.name("g"), "a")
    a.sync(protocol_type=None)
    a.sync(protocol_name=None)
    a.sync(protocol_type=None, group_id=s.name("nowhere"))
    a.sync(protocol_type=None, group_id="")
    a.sync(protocol_type="connect")
    a.sync(protocol_type="")
    a.sync(protocol_name="roundrobin")
    a.sync(protocol_name="")
    a.sync(protocol_name="roundrobin", generation_id=9)
    a.sync(generation_id=9, member_id="ghost")
    a.sync(generation_id=0)
    a.sync(generation_id=-1)
    a.sync(group_instance_id="i1")
    a.sync(group_instance_id="i1", generation_id=9)
    a.sync(member_id="")
    a.sync()


@scenario()
def sync_between_join_and_assignment(s: Session) -> None:
    """SYNC-2, SYNC-3, SYNC-4: followers wait for the leader, whose word counts; whoever is not
    named gets nothing."""
    group = s.name("g")
    a, b, c = stable(s, group, "a", "b", "c")
    a.send_join()
    until(s, group, "PreparingRebalance")
    b.send_join()
    c.send_join()
    for member in (a, b, c):
        member.take_join()
    b.send_sync({a.member_id: "66", b.member_id: "66"})
    b.link.silent(100)
    a.heartbeat()
    c.heartbeat()
    a.send_sync({a.member_id: "0a", b.member_id: "0b", "ghost": "0c"})
    a.link.expect()
    b.link.expect()
    c.sync({c.member_id: "66"})
    describe(s.connect("admin"), group)
    a.sync({a.member_id: "77"})
    describe(s.connect("admin"), group)


@scenario()
def two_assignments_for_one_member(s: Session) -> None:
    """SYNC-3: the last one wins."""
    a = Member(s, "a", s.name("g"))
    a.join()
    twice = [
        {"member_id": a.member_id, "assignment": "01"},
        {"member_id": a.member_id, "assignment": "02"},
    ]
    named = {"protocol_type": "consumer", "protocol_name": "range", "assignments": twice}
    a.link.ask("SyncGroup", 5, **(a.identity() | named | {"generation_id": a.generation}))


@scenario()
def a_second_sync_while_the_first_is_parked(s: Session) -> None:
    """JOIN-7: the superseded SyncGroup is never answered."""
    group = s.name("g")
    a, b = stable(s, group, "a", "b")
    a.send_join()
    until(s, group, "PreparingRebalance")
    b.send_join()
    a.take_join()
    b.take_join()
    b.send_sync()
    b.link.silent(60)
    twin = s.connect("twin", client_id="b")
    named = {"protocol_type": "consumer", "protocol_name": "range", "assignments": []}
    twin.send("SyncGroup", 5, **(b.identity() | named | {"generation_id": b.generation}))
    twin.silent(60)
    a.sync({b.member_id: "0b"})
    twin.expect()
    b.link.silent(60)


@scenario()
def a_member_leaves_while_its_sync_is_parked(s: Session) -> None:
    """SYNC-7: the parked SyncGroup of the one who left is never answered; the others' are, with
    27."""
    group = s.name("g")
    a, b, c = stable(s, group, "a", "b", "c")
    a.send_join()
    until(s, group, "PreparingRebalance")
    b.send_join()
    c.send_join()
    for member in (a, b, c):
        member.take_join()
    b.send_sync()
    c.send_sync()
    b.link.silent(60)
    c.link.silent(30)
    s.connect("other").ask(
        "LeaveGroup",
        5,
        group_id=group,
        members=[{"member_id": b.member_id, "group_instance_id": None}],
    )
    c.link.expect()
    b.link.silent(60)


@scenario()
def heartbeat_in_every_version_and_state(s: Session) -> None:
    """HB-1, ENT-5, VER-3: unknown group, Empty, PreparingRebalance, CompletingRebalance, Stable;
    wrong ids and generations."""
    group = s.name("g")
    for version in range(5):
        ghost = Member(s, "ghost", s.name("nowhere"))
        ghost.heartbeat(version)
        ghost.heartbeat(version, group_id="")
    a, b = stable(s, group, "a", "b")
    for version in range(5):
        a.heartbeat(version)
        a.heartbeat(version, generation_id=1)
        a.heartbeat(version, generation_id=99)
        a.heartbeat(version, member_id="ghost")
        a.heartbeat(version, member_id="")
    a.heartbeat(group_instance_id="i1")
    b.send_join(protocols=protocols("range", metadata="01"))
    until(s, group, "PreparingRebalance")
    for version in range(5):
        a.heartbeat(version)
    a.heartbeat(generation_id=99)
    a.heartbeat(member_id="ghost")
    a.send_join()
    a.take_join()
    b.take_join()
    for version in range(5):
        a.heartbeat(version)
    a.heartbeat(generation_id=2)
    a.leave()
    b.leave()
    b.heartbeat()


@scenario()
def heartbeat_of_one_who_has_rejoined(s: Session) -> None:
    """HB-3: a member whose join is parked is told 27 as well."""
    group = s.name("g")
    a, b = stable(s, group, "a", "b")
    a.send_join()
    until(s, group, "PreparingRebalance")
    s.connect("other").ask("Heartbeat", 4, **(a.identity() | {"generation_id": a.generation}))
    b.send_join()
    a.take_join()
    b.take_join()


@scenario("limits")
def a_session_runs_out(s: Session) -> None:
    """SES-1, SES-2: silence removes the member and rebalances; the other's heartbeat keeps it."""
    group = s.name("g")
    a = Member(s, "a", group, session_timeout_ms=20_000)
    b = Member(s, "b", group, session_timeout_ms=3_000)
    a.enter()
    b.enter()
    a.take_join()
    b.take_join()
    a.send_sync({})
    b.sync()
    a.link.expect()
    until(s, group, "PreparingRebalance")
    a.heartbeat()
    b.heartbeat()
    b.join()
    a.join()
    describe(a.link, group)


@scenario("limits")
def a_pending_id_runs_out(s: Session) -> None:
    """MID-5: the id handed out is forgotten after the session timeout of the request that asked for
    it."""
    a = Member(s, "a", s.name("g"), session_timeout_ms=200)
    a.send_join()
    a.take_join()
    s.wait(450)
    a.send_join()
    a.take_join()


@scenario("limits")
def the_last_session_runs_out(s: Session) -> None:
    """SES-2, REB-4: an emptied group keeps its name and type."""
    group = s.name("g")
    a = Member(s, "a", group, session_timeout_ms=2_000)
    a.join()
    a.sync({a.member_id: "01"})
    until(s, group, "Empty")
    describe(a.link, group)
    a.heartbeat()
    a.send_join()
    a.take_join()
