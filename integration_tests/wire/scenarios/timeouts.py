"""Sessions, rebalance timeouts and pending ids that run out, seen from outside: what keeps a
member, and what does not."""

from __future__ import annotations

from collections.abc import Callable

from integration_tests.wire.people import (
    Member,
    describe,
    protocols,
    stable,
    topic,
    until,
    until_members,
)
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.offsets import at, commit, committed

BRIEF_MS = 2_000
"""A session that a test can wait for, many times the beats' distance: a busy machine may hold a
beat up for long."""
BEAT_MS = 200
BEATS = 14
PENDING_MS = 500
"""Half the initial delay: both the join before it and the answer after it have time."""


def beats(s: Session, beat: Callable[[], object]) -> None:
    """Do something for longer than a brief session, often enough."""
    for _ in range(BEATS):
        s.wait(BEAT_MS)
        beat()


def renews(s: Session, what: str, sign: Callable[[Member], object]) -> None:
    """Does a sign of life, given for longer than the session, keep the member?"""
    group = s.name(what)
    member = Member(s, what, group, version=3, session_timeout_ms=BRIEF_MS)
    member.join()
    member.sync({member.member_id: "01"})
    beats(s, lambda: sign(member))
    member.heartbeat()


@scenario("limits")
def what_renews_a_session(s: Session) -> None:
    """SES-1, OC-7, HB-1: heartbeats and a member's commits do."""
    name = topic(s, "t")

    def beat(m: Member) -> None:
        m.link.ask_quietly(
            "Heartbeat", 0, group_id=m.group, generation_id=m.generation, member_id=m.member_id
        )

    def commits(m: Member) -> None:
        topics = [{"name": name, "partitions": [{"partition_index": 0, "committed_offset": 1}]}]
        said = {"generation_id_or_member_epoch": m.generation, "member_id": m.member_id}
        m.link.ask_quietly("OffsetCommit", 2, group_id=m.group, topics=topics, **said)

    renews(s, "heartbeat", beat)
    renews(s, "commit", commits)


@scenario("limits")
def what_does_not_renew_a_session(s: Session) -> None:
    """SES-1, SYNC-2: not a sync in Stable, a heartbeat of another generation, a fetch, a look, a
    commit by others."""
    name = topic(s, "t")
    topics = [{"name": name, "partitions": [{"partition_index": 0, "committed_offset": 1}]}]

    def sync(m: Member) -> None:
        m.link.ask_quietly(
            "SyncGroup",
            0,
            group_id=m.group,
            generation_id=m.generation,
            member_id=m.member_id,
            assignments=[],
        )

    def old_beat(m: Member) -> None:
        m.link.ask_quietly(
            "Heartbeat", 0, group_id=m.group, generation_id=m.generation - 1, member_id=m.member_id
        )

    def fetch(m: Member) -> None:
        m.link.ask_quietly(
            "OffsetFetch",
            9,
            groups=[{"group_id": m.group, "topics": None, "member_id": m.member_id}],
        )

    def look(m: Member) -> None:
        m.link.ask_quietly("DescribeGroups", 0, groups=[m.group])

    def simple_commit(m: Member) -> None:
        m.link.ask_quietly(
            "OffsetCommit",
            2,
            group_id=m.group,
            generation_id_or_member_epoch=-1,
            member_id="",
            topics=topics,
        )

    for what, sign in (
        ("sync", sync),
        ("old", old_beat),
        ("fetch", fetch),
        ("look", look),
        ("commit", simple_commit),
    ):
        renews(s, what, sign)


@scenario("limits")
def who_waits_in_the_join_phase_does_not_run_out(s: Session) -> None:
    """SES-3: a parked join keeps its member for longer than its session; when the phase ends the
    session starts afresh."""
    group = s.name("g")
    a = Member(s, "a", group, version=3, session_timeout_ms=20_000, rebalance_timeout_ms=20_000)
    b = Member(s, "b", group, version=3, session_timeout_ms=BRIEF_MS, rebalance_timeout_ms=20_000)
    a.enter()
    until_members(s, group, 1)
    b.enter()
    a.take_join()
    b.take_join()
    b.send_join(protocols=protocols("range", metadata="01"))
    until(s, group, "PreparingRebalance")
    b.link.silent(2 * BRIEF_MS)
    a.send_join()
    a.take_join()
    b.take_join()
    b.heartbeat()
    until(s, group, "PreparingRebalance")
    b.heartbeat()


@scenario("limits")
def who_waits_in_the_sync_phase_does_not_run_out(s: Session) -> None:
    """SES-3: a parked sync, too, keeps its member for longer than its session."""
    group = s.name("g")
    a = Member(s, "a", group, version=3, session_timeout_ms=20_000, rebalance_timeout_ms=20_000)
    b = Member(s, "b", group, version=3, session_timeout_ms=BRIEF_MS, rebalance_timeout_ms=20_000)
    a.enter()
    until_members(s, group, 1)
    b.enter()
    a.take_join()
    b.take_join()
    b.send_sync()
    b.link.silent(2 * BRIEF_MS)
    a.sync({b.member_id: "0b"})
    b.link.expect()
    b.heartbeat()


@scenario()
def who_beats_but_does_not_rejoin(s: Session) -> None:
    """SES-4, REB-4: heartbeats are told 27 and keep the session, but at the end of the join phase
    the member is gone."""
    group = s.name("g")
    a, b = stable(s, group, "a", "b", rebalance_timeout_ms=1_000)
    b.send_join(protocols=protocols("range", metadata="01"))
    until(s, group, "PreparingRebalance")
    a.heartbeat()
    a.heartbeat()
    b.take_join()
    a.heartbeat()
    a.send_join()
    a.take_join()


@scenario("limits")
def a_member_dies_while_the_others_rejoin(s: Session) -> None:
    """TR-3, SES-2, SES-4: the end of its session ends the wait, long before the rebalance
    timeout."""
    group = s.name("g")
    a = Member(s, "a", group, version=3, session_timeout_ms=20_000)
    b = Member(s, "b", group, version=3, session_timeout_ms=BRIEF_MS)
    a.enter()
    until_members(s, group, 1)
    b.enter()
    a.take_join()
    b.take_join()
    a.send_join(protocols=protocols("range", metadata="01"))
    a.take_join()
    describe(s.connect("admin"), group)
    b.heartbeat()


@scenario("limits")
def the_leader_dies_before_it_syncs(s: Session) -> None:
    """TR-4, LEAD-2, SES-2: the parked follower is told 27 and leads the next generation."""
    group = s.name("g")
    a = Member(s, "a", group, version=3, session_timeout_ms=BRIEF_MS)
    b = Member(s, "b", group, version=3, session_timeout_ms=20_000)
    a.enter()
    until_members(s, group, 1)
    b.enter()
    a.take_join()
    b.take_join()
    b.send_sync()
    b.link.expect()
    b.send_join()
    b.take_join()
    a.heartbeat()


@scenario()
def the_leader_beats_but_never_syncs(s: Session) -> None:
    """TR-5, SYNC-6: heartbeats do not put the sync deadline off."""
    group = s.name("g")
    a, b = stable(s, group, "a", "b", rebalance_timeout_ms=1_000)
    a.send_join()
    until(s, group, "PreparingRebalance")
    b.send_join()
    a.take_join()
    b.take_join()
    b.send_sync()
    a.heartbeat()
    a.heartbeat()
    b.link.expect()
    a.heartbeat()
    describe(s.connect("admin"), group)


@scenario("limits")
def static_members_run_out_like_all_others(s: Session) -> None:
    """SES-5, STA-1: after the session the instance id is free again: a restart is a newcomer, and
    others rebalance."""
    group = s.name("g")
    a = Member(s, "a", group, instance="ia", session_timeout_ms=20_000)
    b = Member(s, "b", group, instance="ib", session_timeout_ms=BRIEF_MS)
    a.enter()
    until_members(s, group, 1)
    b.enter()
    a.take_join()
    b.take_join()
    b.send_sync()
    a.sync({b.member_id: "0b"})
    b.link.expect()
    until(s, group, "PreparingRebalance")
    a.heartbeat()
    b.heartbeat()
    b.leave()
    b.send_join()
    b.take_join()
    b.member_id = ""
    b.send_join()
    until_members(s, group, 2)
    a.send_join()
    a.take_join()
    b.take_join()


@scenario("limits")
def a_restarted_static_member_keeps_the_old_session(s: Session) -> None:
    """STA-2, SES-1: the replacement's session starts with the timeout the group knew before."""
    group = s.name("g")
    a = Member(s, "a", group, instance="ia", session_timeout_ms=20_000)
    a.join()
    a.sync({a.member_id: "01"})
    twin = Member(s, "twin", group, instance="ia", session_timeout_ms=200)
    twin.join()
    s.wait(BRIEF_MS)
    twin.heartbeat()
    describe(twin.link, group)


@scenario()
def the_first_of_several_deadlines(s: Session) -> None:
    """REB-3: the join phase keeps the deadline it began with, though a member with more time joins
    later."""
    group = s.name("g")
    a, b = stable(s, group, "a", "b", rebalance_timeout_ms=4_000)
    a.send_join()
    until(s, group, "PreparingRebalance")
    c = Member(s, "c", group, rebalance_timeout_ms=600_000)
    c.enter()
    a.take_join()
    c.take_join()
    b.heartbeat()


@scenario("limits")
def version_0_rebalances_within_its_session(s: Session) -> None:
    """ENT-7, VER-1: who joined in version 0 gives the group no more time to rejoin than its
    session."""
    group = s.name("g")
    a = Member(s, "a", group, version=0, session_timeout_ms=2_000)
    b = Member(s, "b", group, version=0, session_timeout_ms=2_000)
    a.enter()
    until_members(s, group, 1)
    b.enter()
    a.take_join()
    b.take_join()
    b.send_join(protocols=protocols("range", metadata="01"))
    for _ in range(3):
        s.wait(500)
        a.link.ask_quietly(
            "Heartbeat", 0, group_id=group, generation_id=a.generation, member_id=a.member_id
        )
    b.take_join()
    a.heartbeat()


@scenario()
def absent_static_members_have_the_phase_to_themselves(s: Session) -> None:
    """REB-5, STA-11: when only absent static members are left, the generation stays and the phase
    waits for one of them."""
    group = s.name("g")
    a = Member(s, "a", group, instance="ia", rebalance_timeout_ms=3_000)
    a.join()
    a.sync({a.member_id: "01"})
    x = Member(s, "x", group, version=3, rebalance_timeout_ms=3_000)
    x.send_join()
    until(s, group, "PreparingRebalance")
    s.connect("other").ask("LeaveGroup", 0, group_id=group, member_id=_other_than(s, group, a))
    x.take_join()
    s.wait(4_000)
    describe(s.connect("admin"), group)
    a.heartbeat()
    a.send_join()
    a.take_join()


def _other_than(s: Session, group: str, member: Member) -> str:
    members = s.stage().ask_quietly("DescribeGroups", 6, groups=[group])["groups"][0]["members"]
    return next(str(m["member_id"]) for m in members if m["member_id"] != member.member_id)


@scenario("limits")
def a_pending_id_that_runs_out_ends_the_wait(s: Session) -> None:
    """MID-5, MID-6, REB-2: a join phase that waited only for a pending id completes when it is
    forgotten."""
    group = s.name("g")
    (a,) = stable(s, group, "a")
    p = Member(s, "p", group, session_timeout_ms=BRIEF_MS)
    p.send_join()
    p.take_join()
    a.send_join()
    a.take_join()
    p.send_join()
    p.take_join()


@scenario("limits")
def a_pending_id_cuts_the_initial_delay_short(s: Session) -> None:
    """MID-5, DLY-4: though nothing else ends that delay early."""
    group = s.name("g")
    p = Member(s, "p", group, session_timeout_ms=PENDING_MS)
    p.send_join()
    p.take_join()
    a = Member(s, "a", group, version=3)
    a.send_join()
    s.say("answered within the delay", a.link.poll(950))
    a.take_join()


@scenario("limits")
def offsets_outlive_their_member(s: Session) -> None:
    """LV-5, SES-2, OC-2: when the last session ends the group is Empty, its offsets stay, and
    anybody may commit."""
    name, group = topic(s, "t"), s.name("g")
    a = Member(s, "a", group, version=3, session_timeout_ms=BRIEF_MS)
    a.join()
    a.sync({a.member_id: "01"})
    a.commit(name, 7)
    until(s, group, "Empty")
    committed(a.link, group, name, 0)
    a.commit(name, 8)
    commit(a.link, group, name, at(0, 9))
    committed(a.link, group, name, 0)
