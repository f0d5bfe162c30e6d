"""JoinGroup: whose assignor is voted for, who leads, and who is removed because it does not come
back."""

from __future__ import annotations

from integration_tests.wire.people import (
    Member,
    describe,
    java_order,
    protocols,
    stable,
    until,
    until_members,
)
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario


@scenario()
def the_leaders_list_is_in_javas_order(s: Session) -> None:
    """JOIN-9, HM-1: members come in the order of a Java HashMap of their ids."""
    group = s.name("g")
    members = [Member(s, f"m{i:02}", group, version=9) for i in range(14)]
    members[0].join()
    for count, newcomer in enumerate(members[1:], start=2):
        newcomer.enter()
        until_members(s, group, count)
    members[0].send_join()
    leader = None
    for member in members:
        answer = member.take_join()
        if member.leader:
            leader = answer
    s.say("one generation for all", len({m.generation for m in members}))
    assert leader is not None
    listed = [m["member_id"] for m in leader["members"]]
    s.say("listed in Java's order", listed == java_order([m.member_id for m in members]))
    described = s.connect("admin").connection
    described.send("DescribeGroups", 6, {"groups": [group]})
    seen = [m["member_id"] for m in described.receive()[1]["groups"][0]["members"]]
    s.say("described in Java's order", seen == java_order([m.member_id for m in members]))


@scenario()
def the_next_leader_is_javas_first(s: Session) -> None:
    """LEAD-2, HM-1: when the leader leaves, the first of the others in the order of a Java HashMap
    of their ids leads."""
    for attempt in range(4):
        group = s.name(f"g{attempt}")
        members = [Member(s, f"m{attempt}{i}", group) for i in range(5)]
        members[0].join()
        for count, newcomer in enumerate(members[1:], start=2):
            newcomer.enter()
            until_members(s, group, count)
        members[0].send_join()
        for member in members:
            member.take_join()
        s.say("the first leads", members[0].leader)
        gone = {"member_id": members[0].member_id, "group_instance_id": None}
        members[0].link.ask_quietly("LeaveGroup", 3, group_id=group, members=[gone])
        rest = members[1:]
        for member in rest:
            member.link.connection.send("JoinGroup", 9, member.identity() | member.join_fields)
        answers = [member.link.connection.receive()[1] for member in rest]
        first = java_order([m.member_id for m in members])
        first.remove(members[0].member_id)
        s.say("Java's first leads", [a["leader"] == first[0] for a in answers])
        led = next(a for a in answers if a["leader"] == a["member_id"])
        s.say("listed in Java's order", [m["member_id"] for m in led["members"]] == first)


def _vote(s: Session, label: str, *ballots: tuple[str, ...]) -> None:
    group = s.name(label)
    members = [
        Member(s, f"{label}{i}", group, protocols=protocols(*names))
        for i, names in enumerate(ballots)
    ]
    members[0].join()
    for newcomer in members[1:]:
        newcomer.enter()
    until(s, group, "PreparingRebalance")
    members[0].send_join()
    for member in members:
        member.take_join()


@scenario()
def votes(s: Session) -> None:
    """PROTO-2, PROTO-3: each votes for the first of its own that all support."""
    _vote(s, "majority", ("range", "roundrobin"), ("roundrobin", "range"), ("roundrobin", "range"))
    _vote(s, "common", ("sticky", "range"), ("roundrobin", "range"), ("x", "range"))
    _vote(s, "first", ("a", "b", "c"), ("z", "b", "c", "a"), ("c", "a", "b"), ("c", "b", "a"))


@scenario()
def tied_votes(s: Session) -> None:
    """PROTO-4: the tie goes to the first in Java's hash order of names."""
    _vote(s, "a", ("range", "roundrobin"), ("roundrobin", "range"))
    _vote(s, "b", ("roundrobin", "range"), ("range", "roundrobin"))
    _vote(s, "c", ("range", "sticky"), ("sticky", "range"))
    _vote(s, "d", ("cooperative-sticky", "range"), ("range", "cooperative-sticky"))
    _vote(s, "e", ("cooperative-sticky", "roundrobin"), ("roundrobin", "cooperative-sticky"))
    _vote(s, "f", ("uniform", "compatible"), ("compatible", "uniform"))
    _vote(s, "g", ("P", "A"), ("A", "P"))
    _vote(s, "h", ("O", "Q"), ("Q", "O"))
    _vote(
        s,
        "i",
        ("range", "assignor-x", "sticky"),
        ("assignor-x", "sticky", "range"),
        ("sticky", "range", "assignor-x"),
    )


@scenario()
def the_leader_stays_though_it_rejoins_last(s: Session) -> None:
    """LEAD-5: being first counts only once."""
    group = s.name("g")
    a, b, c = stable(s, group, "a", "b", "c")
    b.send_join(protocols=protocols("range", metadata="01"))
    until(s, group, "PreparingRebalance")
    c.send_join()
    c.link.silent(60)
    a.send_join()
    for member in (a, b, c):
        member.take_join()


@scenario()
def a_leader_that_does_not_rejoin_is_removed(s: Session) -> None:
    """REB-4, LEAD-2, REB-3: the join phase ends after the largest rebalance timeout, without the
    missing."""
    group = s.name("g")
    a, b = stable(s, group, "a", "b", rebalance_timeout_ms=3_000)
    b.send_join(protocols=protocols("range", metadata="01"))
    b.take_join()
    a.heartbeat()
    b.sync({b.member_id: "0b"})
    describe(b.link, group)


@scenario()
def a_member_that_does_not_sync_is_removed(s: Session) -> None:
    """SYNC-6: the missing leader goes, the parked follower gets 27 and stays."""
    group = s.name("g")
    a, b = stable(s, group, "a", "b", rebalance_timeout_ms=3_000)
    a.send_join()
    until(s, group, "PreparingRebalance")
    b.send_join()
    a.take_join()
    b.take_join()
    b.send_sync()
    b.link.expect()
    a.heartbeat()
    b.heartbeat()
    b.send_join()
    b.take_join()
