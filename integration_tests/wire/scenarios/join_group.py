"""JoinGroup, versions 0-9: shapes, refusals, the two-step join, votes and ties, the leader's list
of members."""

from __future__ import annotations

from typing import Any

from integration_tests.wire.people import Member, describe, protocols, stable, subscription, until
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario

JOIN_VERSIONS = range(10)


def _fields(version: int, group: str, **other: Any) -> Plain:
    fields: Plain = {
        "group_id": group,
        "session_timeout_ms": 30_000,
        "member_id": "",
        "protocol_type": "consumer",
    }
    fields["protocols"] = protocols("range")
    if version >= 1:
        fields["rebalance_timeout_ms"] = 60_000
    return fields | other


@scenario()
def first_join_in_every_version(s: Session) -> None:
    """JOIN-6, JOIN-9, LEAD-1, MID-3: versions 0-3 join at once, 4-9 are given an id and come back
    with it."""
    for version in JOIN_VERSIONS:
        Member(s, f"v{version}", s.name(f"group{version}"), version=version).join()


@scenario()
def a_whole_life_in_every_version(s: Session) -> None:
    """ST-2, ST-4, VER-1 to VER-4: join, sync, heartbeat, describe, leave with the versions that
    belong together."""
    versions = [
        (0, 0, 0, 0, 0),
        (2, 1, 1, 1, 1),
        (4, 2, 2, 2, 3),
        (5, 3, 3, 3, 4),
        (6, 4, 4, 4, 5),
        (9, 5, 4, 5, 6),
    ]
    for join, sync, heartbeat, leave, describing in versions:
        group = s.name(f"group{join}")
        member = Member(s, f"v{join}", group, version=join)
        member.join()
        describe(member.link, group, describing)
        member.sync({member.member_id: "abcd"}, sync)
        describe(member.link, group, describing)
        member.heartbeat(heartbeat)
        member.leave(leave)
        describe(member.link, group, describing)
        member.heartbeat(heartbeat)


@scenario()
def refusals_before_the_group(s: Session) -> None:
    """ENT-3, VER-19: group id, then session timeout; the answers echo the request's member id."""
    a = s.connect()
    for version in (0, 3, 6, 7, 9):
        a.ask("JoinGroup", version, **_fields(version, "", member_id="me"))
        a.ask("JoinGroup", version, **_fields(version, "", member_id="me", session_timeout_ms=1))
        a.ask(
            "JoinGroup",
            version,
            **_fields(version, s.name("g"), member_id="me", session_timeout_ms=5_999),
        )
        a.ask(
            "JoinGroup",
            version,
            **_fields(version, s.name("g"), member_id="me", session_timeout_ms=1_800_001),
        )
        a.ask(
            "JoinGroup",
            version,
            **_fields(version, s.name("g"), member_id="me", session_timeout_ms=-1),
        )
        a.ask("JoinGroup", version, **_fields(version, s.name("g"), member_id="me"))
    for session in (6_000, 1_800_000):
        a.ask("JoinGroup", 9, **_fields(9, s.name("g"), session_timeout_ms=session))


@scenario()
def unsupported_protocols_on_an_unknown_group(s: Session) -> None:
    """PROTO-1, JOIN-2: 23 for no protocols or no type; the group is then there, Empty."""
    a = s.connect()
    for version in (0, 4, 7, 9):
        a.ask("JoinGroup", version, **_fields(version, s.name("none"), protocols=[]))
        a.ask("JoinGroup", version, **_fields(version, s.name("typeless"), protocol_type=""))
    until(s, s.name("none"), "Empty")
    until(s, s.name("typeless"), "Empty")
    for version in (0, 5, 6):
        describe(a, s.name("none"), version)
    a.ask("ListGroups", 5, only="groups")
    a.ask("JoinGroup", 9, **_fields(9, s.name("none"), member_id="ghost"))
    a.ask("JoinGroup", 9, **_fields(9, s.name("none"), member_id="ghost", protocols=[]))


@scenario()
def unsupported_protocols_on_a_group_with_members(s: Session) -> None:
    """PROTO-1: another type, no common assignor; a refusal changes nothing."""
    group = s.name("g")
    a, _ = stable(s, group, "a", "b")
    x = Member(s, "x", group)
    x.join(protocol_type="connect")
    x.join(protocol_type="")
    x.join(protocols=[])
    x.join(protocols=protocols("roundrobin"))
    a.join(protocols=protocols("roundrobin"))
    a.join(protocol_type="connect")
    a.join(protocols=[])
    a.heartbeat()
    describe(a.link, group)


@scenario()
def the_type_of_an_emptied_group_may_change(s: Session) -> None:
    """PROTO-6, ST-3: an Empty group takes any type."""
    group = s.name("g")
    (a,) = stable(s, group, "a")
    a.leave()
    describe(a.link, group)
    b = Member(s, "b", group, protocol_type="connect", protocols=protocols("eager", "compatible"))
    b.join()
    b.sync({b.member_id: "01"}, protocol_type="connect", protocol_name="eager")
    describe(b.link, group)


@scenario()
def the_id_handed_out_is_pending(s: Session) -> None:
    """MID-3, MID-6, HB-2, LV-2: the pending id is no member, may leave, and is then unknown."""
    group = s.name("g")
    a = Member(s, "a", group)
    a.send_join()
    a.take_join()
    until(s, group, "Empty")
    describe(a.link, group)
    a.link.ask("ListGroups", 5, only="groups")
    a.heartbeat(generation_id=0)
    a.heartbeat(generation_id=-1)
    a.sync({})
    a.commit(s.name("t"), 1)
    a.leave()
    a.leave()
    a.send_join()
    a.take_join()


@scenario()
def a_pending_id_with_an_instance_id(s: Session) -> None:
    """MID-7: an id handed out without an instance cannot come back with one."""
    a = Member(s, "a", s.name("g"))
    a.send_join()
    a.take_join()
    a.send_join(group_instance_id="i1")
    a.take_join()


@scenario()
def the_second_request_of_a_two_step_join_counts(s: Session) -> None:
    """JOIN-12: protocols come from the request that carries the id; a connection of another client
    name may send it."""
    group = s.name("g")
    a = Member(s, "a", group)
    a.send_join(protocols=protocols("range", metadata="aa"))
    a.take_join()
    other = s.connect("other", client_id="other")
    other.ask(
        "JoinGroup",
        9,
        **_fields(
            9, group, member_id=a.member_id, protocols=protocols("roundrobin", metadata="bb")
        ),
    )
    describe(other, group)


@scenario()
def an_id_nobody_was_given(s: Session) -> None:
    """JOIN-1, VAL-1: unknown member ids, in an unknown, an emptied and a living group, with and
    without an instance."""
    a = s.connect()
    for version in (0, 5, 9):
        a.ask("JoinGroup", version, **_fields(version, s.name("nowhere"), member_id="ghost"))
    a.ask(
        "JoinGroup", 9, **_fields(9, s.name("nowhere"), member_id="ghost", group_instance_id="i1")
    )
    describe(a, s.name("nowhere"))
    group = s.name("g")
    (b,) = stable(s, group, "b")
    a.ask("JoinGroup", 9, **_fields(9, group, member_id="ghost"))
    a.ask("JoinGroup", 9, **_fields(9, group, member_id="ghost", group_instance_id="i1"))
    a.ask("JoinGroup", 9, **_fields(9, group, member_id=b.member_id, group_instance_id="i1"))
    b.leave()
    b.join()


@scenario()
def client_ids_in_member_ids(s: Session) -> None:
    """MID-1, ENT-8: client id, a dash, a uuid; null is the empty string."""
    for label, client in (("null", None), ("empty", ""), ("spaces", "a b/ü")):
        link = s.connect(label, client_id=client)
        answer = link.ask("JoinGroup", 9, **_fields(9, s.name(label)))
        link.ask("JoinGroup", 9, **_fields(9, s.name(label), member_id=answer["member_id"]))
        describe(link, s.name(label))


@scenario()
def rejoining_in_a_stable_group(s: Session) -> None:
    """JOIN-4, Stable: an unchanged follower is answered at once, the leader always rebalances, so
    does changed metadata."""
    group = s.name("g")
    a, b = stable(s, group, "a", "b")
    b.join()
    b.join(session_timeout_ms=20_000, rebalance_timeout_ms=1_000)
    describe(b.link, group)
    b.send_join(protocols=protocols("range", metadata="01"))
    until(s, group, "PreparingRebalance")
    a.heartbeat()
    a.send_join()
    a.take_join()
    b.take_join()
    a.send_sync({})
    b.send_sync()
    a.link.expect()
    b.link.expect()
    a.send_join()
    until(s, group, "PreparingRebalance")
    b.heartbeat()
    b.send_join(protocols=protocols("range", metadata="01"))
    b.take_join()
    a.take_join()


@scenario()
def rejoining_between_join_and_sync(s: Session) -> None:
    """JOIN-4, CompletingRebalance: the same protocols are answered at once, changed ones rebalance,
    parked syncs get 27."""
    group = s.name("g")
    a, b = stable(s, group, "a", "b")
    a.send_join()
    until(s, group, "PreparingRebalance")
    b.send_join()
    a.take_join()
    b.take_join()
    a.join()
    b.join()
    describe(a.link, group)
    b.send_sync()
    b.link.silent()
    a.send_join(protocols=protocols("range", "roundrobin"))
    b.link.expect()
    a.link.silent(60)
    describe(s.connect("admin"), group)
    b.send_join()
    a.take_join()
    b.take_join()


@scenario()
def a_newcomer_while_syncs_are_parked(s: Session) -> None:
    """JOIN-11, REB-1: parked syncs are answered 27 and stored assignments are forgotten."""
    group = s.name("g")
    a, b = stable(s, group, "a", "b")
    a.send_join()
    until(s, group, "PreparingRebalance")
    b.send_join()
    a.take_join()
    b.take_join()
    b.send_sync()
    b.link.silent(60)
    c = Member(s, "c", group)
    c.enter()
    b.link.expect()
    describe(s.connect("admin"), group)
    a.heartbeat()
    a.sync({})
    a.commit(s.name("t"), 1)
    a.send_join()
    b.send_join()
    for member in (a, b, c):
        member.take_join()


@scenario()
def a_newcomer_to_a_stable_group(s: Session) -> None:
    """TR-2, MID-8: the id is handed out without a rebalance; the second request starts one."""
    group = s.name("g")
    a, b = stable(s, group, "a", "b")
    c = Member(s, "c", group)
    c.send_join()
    c.take_join()
    describe(c.link, group)
    a.heartbeat()
    c.send_join()
    until(s, group, "PreparingRebalance")
    c.link.silent(60)
    describe(s.connect("admin"), group)
    a.heartbeat()
    b.heartbeat()
    b.sync({})
    b.heartbeat(generation_id=99)
    a.send_join()
    a.link.silent(60)
    b.send_join()
    for member in (a, b, c):
        member.take_join()
    describe(s.connect("admin"), group)


@scenario()
def a_second_join_while_the_first_is_parked(s: Session) -> None:
    """JOIN-7: the superseded request is never answered; the later one is, on its own connection."""
    group = s.name("g")
    a, b = stable(s, group, "a", "b")
    b.send_join(protocols=protocols("range", metadata="01"))
    until(s, group, "PreparingRebalance")
    twin = s.connect("twin", client_id="b")
    twin.send(
        "JoinGroup",
        9,
        **(b.identity() | b.join_fields | {"protocols": protocols("range", metadata="02")}),
    )
    twin.silent(100)
    a.send_join()
    a.take_join()
    twin.expect()
    b.link.silent(100)


@scenario()
def metadata_of_the_selected_protocol(s: Session) -> None:
    """JOIN-9: the leader is given each member's bytes of the protocol that was chosen, and only
    those."""
    group = s.name("g")
    a = Member(
        s,
        "a",
        group,
        protocols=[{"name": "range", "metadata": "a1"}, {"name": "roundrobin", "metadata": "a2"}],
    )
    b = Member(
        s,
        "b",
        group,
        protocols=[{"name": "roundrobin", "metadata": "b2"}, {"name": "sticky", "metadata": "b3"}],
        instance="ib",
    )
    a.join()
    b.enter()
    until(s, group, "PreparingRebalance")
    a.send_join()
    a.take_join()
    b.take_join()
    a.send_sync({}, protocol_name="roundrobin")
    b.send_sync(protocol_name="roundrobin")
    a.link.expect()
    b.link.expect()
    describe(a.link, group, 4)


@scenario()
def odd_but_accepted(s: Session) -> None:
    """JOIN-10 and others: reasons, odd group ids, negative rebalance timeouts, unreadable empty
    metadata, unknown types."""
    odd_fields: dict[str, Plain] = {
        "reason": {"reason": "because"},
        "long-reason": {"reason": "x" * 300},
        "empty-reason": {"reason": ""},
        "no-time": {"rebalance_timeout_ms": 0},
        "other-type": {"protocol_type": "something else"},
        "no-metadata": {"protocols": [{"name": "range", "metadata": ""}]},
        "nameless": {"protocols": [{"name": "", "metadata": "00"}]},
    }
    for label, fields in odd_fields.items():
        Member(s, "m", s.name(label)).join(**fields)
    for odd in (" ", ".", "ü/\n", "x" * 300):
        Member(s, "m", s.name(odd)).join()
    Member(
        s, "m", s.name("subscribed"), protocols=protocols("range", metadata=subscription("a", "b"))
    ).join()


@scenario()
def versions_mixed_in_one_group(s: Session) -> None:
    """VER-1: each member is answered in its own version."""
    group = s.name("g")
    versions = (0, 2, 4, 5, 6, 7, 8, 9)
    members = [Member(s, f"v{v}", group, version=v) for v in versions]
    members[0].join()
    for member in members[1:]:
        member.enter()
    until(s, group, "PreparingRebalance")
    members[0].send_join()
    for member in members:
        member.take_join()


@scenario()
def generations_never_go_back(s: Session) -> None:
    """REB-7, LV-5, TR-7: emptied at generation g, the group is Empty at g+1 and next completed at
    g+2."""
    group = s.name("g")
    for label in ("a", "b", "c"):
        member = Member(s, label, group)
        member.join()
        member.sync({member.member_id: "01"})
        member.leave()
        member.heartbeat()
