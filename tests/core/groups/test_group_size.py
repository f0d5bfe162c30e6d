"""group.max.size (SIZE-*)."""

from __future__ import annotations

from coordinator.events import groups as ev
from tests.core.groups.kit import World, removals

FULL = 81


def test_a_full_group_refuses_by_state() -> None:
    """SIZE-1: Empty takes anybody; PreparingRebalance counts parked joins, later states members."""
    w = World(max_size=2, initial_rebalance_delay_ms=3_000)
    w.enter("a"), w.enter("b")
    assert w.enter("c").error == FULL
    assert w.join("a").parked
    w.settle()
    call = w.join("c", member_id="")
    assert (call.error, call.member_id, w.group.pending) == (FULL, "", {})
    assert w.join("b").ok


def test_a_full_group_forgets_the_id_it_refuses() -> None:
    """SIZE-1, SIZE-2: pending ids are not counted, so more may hold one; the surplus learns at its
    second join."""
    w = World(max_size=2, initial_rebalance_delay_ms=3_000)
    for name in "abc":
        w.join(name)
    assert len(w.group.pending) == 3
    w.join("a"), w.join("b")
    assert w.join("c").error == FULL
    assert w.group.pending == {}
    assert w.happened(ev.PendingMemberRemoved) == [ev.PendingMemberRemoved("c-3", "group is full")]
    w.settle()
    assert w.join("c").error == FULL  # SIZE-1 stands before VAL-1


def test_in_preparing_rebalance_the_last_to_rejoin_are_out() -> None:
    """SIZE-2, ERR-7."""
    w = World().stable("a", "b", "c", rebalance_ms=10_000)
    w.config.max_size = 2
    w.restart()
    assert w.state == "PreparingRebalance"
    assert w.join("c", protocols={"range": b"meta"}).parked
    assert w.join("a").parked
    assert w.join("b").error == FULL
    w.advance(10_000)
    assert w.names() == {"a", "c"}


def test_a_newcomer_may_take_the_place_of_one_that_has_not_rejoined() -> None:
    """SIZE-1: in PreparingRebalance parked joins are counted, not members."""
    w = World(max_size=2).stable("a", "b", rebalance_ms=10_000)
    w.join("a")
    assert w.enter("c").parked
    assert w.join("b").error == FULL


def test_a_full_stable_group_refuses_a_restarted_static_member() -> None:
    """SIZE-3: "" is no existing member; the old incarnation stays."""
    w = World(max_size=1).stable("s", instance="i")
    assert w.join("s", member_id="").error == FULL
    assert w.group.static_members == {"i": "i-1"}


def test_the_deadline_of_a_kicked_member_has_no_effect() -> None:
    """SIZE-4."""
    w = World().stable("a", "b", session_ms=10_000)
    w.config.max_size = 1
    w.join("a", session_ms=10_000)
    w.join("b")
    w.advance(20_000)
    assert removals(w) == [("b-2", "group is full")]
