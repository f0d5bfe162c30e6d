"""The join phase: how it begins, how long it waits, how it ends, and who leads then (LEAD, REB,
DLY)."""

from __future__ import annotations

from coordinator.core.groups.classic.settle import LEAST_EXTENSION_MS
from coordinator.events import groups as ev
from tests.core.groups.callers import Call
from tests.core.groups.kit import World, removals

IN_PROGRESS, FULL = 27, 81


# -- leaders


def test_a_new_leader_is_the_first_in_javas_order() -> None:
    """LEAD-2: of the remaining ids, rejoined or not."""
    w = World().stable("z", "Q", "a", "M")
    assert w.group.leader == "z-1"
    w.leave("z")
    assert w.group.leader == "M-4"  # the last one to join
    w.advance(300_000)
    assert w.group.leader is None


def test_the_leader_stays_though_it_rejoins_last() -> None:
    """LEAD-5."""
    w = World().stable("b", "a")
    w.enter("c")
    w.join("a")
    assert w.join("b").leader == "b-1"
    assert [call.leader for call in w.calls[-3:]] == ["b-1"] * 3


def test_exactly_one_leads_after_the_leader_left() -> None:
    """LEAD-2, LEAD-5, JOIN-9: only one of four gets the member list (a fake's bug: all did)."""
    w = World().stable("a", "b", "c", "d", "e")
    w.leave("a")
    calls = [w.join(name) for name in "bcde"]
    assert len({call.leader for call in calls}) == 1
    assert [call.member_id for call in calls if call.members] == [calls[0].leader]


def test_a_static_leader_that_does_not_rejoin_loses_the_lead() -> None:
    """LEAD-3, STA-11: the first awaiting member in Java's order leads; the old leader stays a
    member."""
    w = World()
    w.enter("s", instance="i", rebalance_ms=10_000)
    w.tick()
    w.sync("s")
    for name in ("z", "b"):
        w.enter(name, rebalance_ms=10_000)
    w.advance(9_999)
    assert w.group.leader == "i-1"
    w.advance(1)
    assert w.happened(ev.LeaderElected) == [ev.LeaderElected(w.group.leader)]
    assert w.group.leader == next(m.member_id for m in w.group if m.member_id != "i-1")
    assert w.names() == {"s", "z", "b"}
    leader = next(
        call
        for call in w.calls
        if call.ok and getattr(call.reply, "members", None) and call.generation_id == 2
    )
    assert {m.member_id for m in leader.members} == {"i-1", "z-2", "b-3"}


# -- begin and end


def test_a_rebalance_from_completing_takes_the_assignments_back() -> None:
    """REB-1, DSC-2: all assignments emptied, parked syncs 27, their sessions start afresh, nobody
    owes a sync."""
    w = World().stable("a", "b", session_ms=10_000)
    assert w.member("b").assignment == b"b"
    w.advance(5_000)
    w.join("a", session_ms=10_000)
    assert w.member("b").assignment == b"b"  # from Stable they are kept
    w.join("b", session_ms=10_000)
    assert w.state == "CompletingRebalance"
    parked = w.sync("b")
    w.advance(9_000)
    w.heartbeat("a")
    w.enter("c")
    assert parked.error == IN_PROGRESS
    assert (w.member("a").assignment, w.member("b").assignment) == (b"", b"")
    assert (w.group.pending_sync, w.group.sync_deadline) == ({}, None)
    w.advance(9_999)
    assert "b" in w.names()  # its session was renewed by the 27
    w.advance(1)
    assert "b" not in w.names()


def test_the_phase_completes_when_all_have_joined() -> None:
    """REB-2: not one earlier; an id that is pending holds it up."""
    w = World().stable("a", "b")
    c = w.enter("c")
    w.join("d")
    a = w.join("a")
    b = w.join("b")
    assert w.state == "PreparingRebalance"
    d = w.join("d")
    assert {call.generation_id for call in (a, b, c, d)} == {2}


def test_the_join_deadline_is_set_once() -> None:
    """REB-1, REB-3: the longest rebalance timeout of those who were there; later ones do not move
    it."""
    w = World().stable("a", "b", rebalance_ms=20_000)
    w.join("a", rebalance_ms=20_000)
    assert w.group.join_deadline == 20_000
    w.advance(5_000)
    w.enter("c", rebalance_ms=100_000)
    w.join("a", rebalance_ms=100_000)
    assert w.group.join_deadline == 20_000
    w.advance(14_999)
    assert w.state == "PreparingRebalance"
    w.advance(1)
    assert w.state == "CompletingRebalance"


def test_dynamic_members_that_did_not_rejoin_are_removed() -> None:
    """REB-4: at the deadline, though they heartbeat (SES-4); static ones stay."""
    w = World().stable("a", "b", rebalance_ms=20_000)
    w.enter("s", instance="i", rebalance_ms=20_000)
    w.join("a", rebalance_ms=20_000), w.join("b", rebalance_ms=20_000)
    w.settle()
    w.join("a", rebalance_ms=20_000)
    for _ in range(4):
        w.advance(5_000)
        w.heartbeat("b"), w.heartbeat("s")
    assert removals(w) == [("b-2", "did not rejoin in time")]
    assert w.names() == {"a", "s"}
    assert w.group.generation == 3
    w.advance(45_000)
    assert ("b-2", "session expired") not in removals(w)


def test_absent_static_members_alone_keep_the_phase_open() -> None:
    """REB-5: the same generation, another longest rebalance timeout, until sessions run out or they
    come back."""
    w = World()
    for name in ("s", "t"):
        w.enter(name, instance=name, session_ms=200_000, rebalance_ms=10_000)
    w.enter("a", session_ms=200_000, rebalance_ms=10_000)
    w.settle()
    w.leave("a")
    for deadline in (10_000, 20_000):
        assert w.group.join_deadline == deadline
        w.advance(10_000)
        assert (w.state, w.group.generation, w.names()) == ("PreparingRebalance", 1, {"s", "t"})
    s, t = w.join("s"), w.join("t")
    assert (s.generation_id, t.generation_id) == (2, 2)


def test_absent_static_members_with_no_time_to_rejoin_do_not_hang_the_coordinator() -> None:
    """REB-5 with a rebalance timeout of 0: the phase is looked at again and again, but not without
    end at one instant."""
    w = World()
    for name in ("s", "t"):
        w.enter(name, instance=name, session_ms=6_000, rebalance_ms=10_000)
    w.enter("a", session_ms=6_000, rebalance_ms=10_000)
    w.settle()
    for name in ("t", "s"):
        w.join(name, session_ms=6_000, rebalance_ms=0, protocols={"range": b"new"})
    w.join("a", session_ms=6_000, rebalance_ms=10_000)
    w.settle()
    w.leave("a")
    w.tick()
    assert (w.state, w.coordinator.next_deadline()) == (
        "PreparingRebalance",
        w.now + LEAST_EXTENSION_MS,
    )
    w.advance(6_000)
    assert w.state == "Empty"


def test_everybody_is_answered_at_once_and_starts_afresh() -> None:
    """REB-6: one instant, every session (also of absent static members), and all owe a sync until
    the deadline."""
    w = World()
    w.enter("s", instance="i", session_ms=100_000, rebalance_ms=10_000)
    w.tick()
    w.sync("s")
    w.enter("a", session_ms=10_000, rebalance_ms=10_000)
    w.advance(10_000)
    assert (w.state, w.now) == ("CompletingRebalance", 10_000)
    assert w.happened(ev.GenerationStarted)[-1].members == tuple(m.member_id for m in w.group)
    assert set(w.group.pending_sync) == {"i-1", "a-2"}
    assert w.group.sync_deadline == 20_000
    w.group.members["i-1"].rebalance_timeout_ms = 10_000
    w.sync("s"), w.sync("a")
    w.advance(9_999)
    assert w.names() == {"s", "a"}


def test_generations_only_go_up() -> None:
    """REB-7, LV-5: from 0; becoming Empty counts as one."""
    w = World(initial_rebalance_delay_ms=3_000)
    w.enter("a")
    assert w.group.generation == 0
    w.settle()
    assert w.group.generation == 1
    w.leave("a")
    assert (w.state, w.group.generation) == ("Empty", 2)
    w.clients.clear()
    w.enter("b")
    w.settle()
    assert w.group.generation == 3


def test_a_refusal_for_size_does_not_complete_the_phase() -> None:
    """REB-8, SIZE-1: the kicked member was the last one missing, yet the others go on waiting for
    the join deadline."""
    w = World(max_size=3).stable("a", "b", "c", rebalance_ms=10_000)
    w.config.max_size = 2
    a = w.join("a", rebalance_ms=10_000)
    b = w.join("b", rebalance_ms=10_000)
    assert w.join("c").error == FULL
    assert w.names() == {"a", "b"}
    assert a.parked and b.parked
    w.advance(9_999)
    assert a.parked
    w.advance(1)
    assert a.ok and b.ok


# -- the initial delay


def delayed(rebalance_ms: int = 10_000, delay_ms: int = 3_000) -> tuple[World, Call]:
    """A world whose first member has just joined."""
    w = World(initial_rebalance_delay_ms=delay_ms)
    return w, w.enter("a", rebalance_ms=rebalance_ms)


def test_one_member_waits_for_one_window() -> None:
    """DLY-1, DLY-7."""
    w, a = delayed()
    started = w.happened(ev.RebalanceStarted)[0]
    assert (started.deadline_ms, started.delay_ms, started.delay_remaining_ms) == (
        3_000,
        3_000,
        7_000,
    )
    w.advance(2_999)
    assert a.parked
    w.advance(1)
    assert a.at == 3_000


def test_a_newcomer_opens_another_window() -> None:
    """DLY-2, DLY-7: whenever in the window it came; the window begins when the first one ends."""
    w, a = delayed()
    w.advance(2_000)
    b = w.enter("b")
    w.advance(3_999)
    assert b.parked
    w.advance(1)
    assert (a.at, b.at) == (6_000, 6_000)


def test_newcomers_in_every_window_are_stopped_by_the_rebalance_timeout() -> None:
    """DLY-2, DLY-7: windows end at 3000, 6000, 9000 and 10000."""
    w, a = delayed()
    for name in "bcdef":
        w.advance(2_000)
        w.enter(name)
    w.advance(10_000)
    assert [event.deadline_ms for event in w.happened(ev.DelayExtended)] == [6_000, 9_000, 10_000]
    assert a.at == 10_000


def test_a_rebalance_timeout_within_the_delay_gives_one_window() -> None:
    """DLY-1, DLY-3, DLY-7: r = 0; the flag is left set and extends the next initial delay once."""
    for rebalance_ms in (3_000, 1_000):
        w, a = delayed(rebalance_ms)
        w.advance(1_000)
        w.enter("b")
        w.advance(10_000)
        assert a.at == 3_000
    assert w.group.new_member_added
    w.advance(100_000)
    assert w.state == "Empty"
    start = w.now
    w.clients.clear()
    c = w.enter("c", rebalance_ms=10_000)
    w.advance(20_000)
    assert c.at == start + 6_000


def test_twice_the_delay_gives_two_windows() -> None:
    """DLY-7."""
    w, a = delayed(6_000)
    for name in "bcde":
        w.advance(1_500)
        w.enter(name)
    w.advance(10_000)
    assert a.at == 6_000


def test_pending_ids_and_rejoins_do_not_extend() -> None:
    """DLY-3."""
    w, _ = delayed()
    w.advance(1_000)
    w.join("b")
    again = w.join("a")
    w.advance(2_000)
    assert again.at == 3_000


def test_newcomers_to_an_ordinary_rebalance_do_not_extend_the_next_delay() -> None:
    """DLY-3, JOIN-6: the flag is set in a rebalance that began in Empty, and in no other."""
    w = World(initial_rebalance_delay_ms=3_000).stable("a")
    w.enter("b"), w.enter("c")
    w.leave("admin", *((member_id, None) for member_id in w.group.members))
    assert w.state == "Empty"
    w.clients.clear()
    start = w.now
    d = w.enter("d")
    w.advance(10_000)
    assert d.at == start + 3_000


def test_the_remaining_time_counts_the_first_member_only() -> None:
    """DLY-1: members that come later with longer timeouts do not lengthen it."""
    w, a = delayed(5_000)
    for name in "bcdef":
        w.advance(1_000)
        w.enter(name, rebalance_ms=300_000)
    w.advance(20_000)
    assert a.at == 5_000


def test_the_delay_is_not_cut_short_by_joining_or_leaving() -> None:
    """DLY-4, LV-4: although all members have joined."""
    w, _ = delayed()
    b = w.enter("b")
    w.leave("b")
    assert b.error == 25
    w.join("a")
    w.advance(5_999)
    assert w.state == "PreparingRebalance"
    w.advance(1)
    assert w.calls[-1].at == 6_000


def test_an_expiry_cuts_the_delay_short() -> None:
    """DLY-4, JOIN-8: when it leaves everybody joined."""
    w, _ = delayed(delay_ms=500_000, rebalance_ms=600_000)
    w.advance(100_000)
    b = w.enter("b")
    w.advance(200_000)
    assert b.at == 300_000
    assert b.ok


def test_delay_0_still_ends_by_a_deadline() -> None:
    """DLY-5: the first request is parked, and the next tick answers it."""
    w, a = delayed(delay_ms=0)
    assert a.parked
    assert w.coordinator.next_deadline() == 0
    w.tick()
    assert a.at == 0


def test_an_emptied_group_has_the_delay_again() -> None:
    """DLY-6, TR-7: extensions included."""
    w, _ = delayed()
    w.settle()
    w.leave("a")
    w.clients.clear()
    start = w.now
    b = w.enter("b")
    w.advance(1_000)
    w.enter("c")
    w.advance(10_000)
    assert b.at == start + 6_000
