"""Heartbeats and sessions: who is alive, and what becomes of the silent (HB, SES, META-3)."""

from __future__ import annotations

import pytest

from tests.core.groups.kit import World, removals

UNKNOWN, ILLEGAL, IN_PROGRESS = 25, 22, 27
SESSION = {"session_ms": 10_000}


def test_the_order_of_checks() -> None:
    """HB-1, ENT-5: no group 25, membership, generation 22, then the state."""
    w = World()
    assert w.heartbeat("a", member_id="a-1").error == UNKNOWN
    assert w.heartbeat("a", group="").error == 24
    w.stable("a")
    assert w.heartbeat("a", member_id="x", generation=7).error == UNKNOWN
    assert w.heartbeat("a", generation=0).error == ILLEGAL
    assert w.heartbeat("a", generation=2).error == ILLEGAL
    assert w.heartbeat("a", generation=-1).error == ILLEGAL
    assert w.heartbeat("a").ok
    w.leave("a")
    assert w.heartbeat("a", generation=2).error == UNKNOWN  # Empty


@pytest.mark.parametrize("state", ["PreparingRebalance", "CompletingRebalance", "Stable"])
def test_a_heartbeat_renews_the_session_in_every_state(state: str) -> None:
    """HB-1, SES-1: refused with 27 or not."""
    w = World().stable("a", "b", **SESSION)
    if state != "Stable":
        w.join("a", **SESSION)
    if state == "CompletingRebalance":
        w.join("b", **SESSION)
    assert w.state == state
    for _ in range(5):
        w.advance(9_000)
        assert w.heartbeat("b").error == (IN_PROGRESS if state == "PreparingRebalance" else 0)
        w.heartbeat("a")
    assert "b" in w.names()
    assert w.state == state


@pytest.mark.parametrize("stale", [{"generation": 0}, {"instance": "i"}])
def test_a_refused_heartbeat_does_not(stale: dict[str, object]) -> None:
    """HB-1."""
    w = World().stable("a", "b", **SESSION)
    w.advance(5_000)
    w.heartbeat("a")
    assert w.heartbeat("b", **stale).error in (ILLEGAL, UNKNOWN)
    w.advance(5_000)
    assert w.names() == {"a"}


def test_a_pending_id_has_no_heartbeat() -> None:
    """HB-2: 25, and its deadline stands."""
    w = World().stable("a")
    w.join("b", **SESSION)
    w.advance(5_000)
    assert w.heartbeat("b", generation=1).error == UNKNOWN
    w.advance(5_000)
    assert w.group.pending == {}


def test_a_member_that_rejoined_gets_27_as_well() -> None:
    """HB-3."""
    w = World().stable("a", "b")
    w.join("a")
    assert w.heartbeat("a").error == IN_PROGRESS


def test_silence_ends_a_session_on_the_dot() -> None:
    """SES-1, SES-2, SES-5: measured by the member's own timeout; a rebalance follows; static
    members are no exception."""
    w = World()
    w.enter("a", session_ms=30_000)
    w.enter("b", session_ms=10_000)
    w.enter("s", instance="i", session_ms=20_000)
    w.settle()
    w.advance(9_999)
    assert w.state == "Stable"
    w.advance(1)
    assert (w.state, removals(w)) == ("PreparingRebalance", [("b-2", "session expired")])
    w.advance(10_000)
    assert removals(w)[-1] == ("i-3", "session expired")
    assert w.names() == {"a"}


def test_an_expiry_completes_the_phase_that_waited_for_it() -> None:
    """SES-2, SES-4, TR-3: at the session's end, before the join deadline."""
    w = World().stable("a", "b", **SESSION)
    w.advance(2_000)
    w.heartbeat("b")
    a = w.join("a", **SESSION)
    w.advance(9_999)
    assert a.parked
    w.advance(1)
    assert (a.at, a.generation_id) == (12_000, 2)


def test_a_heartbeat_does_not_save_from_the_join_deadline() -> None:
    """SES-4: whichever comes first."""
    w = World().stable("a", "b", rebalance_ms=20_000, **SESSION)
    a = w.join("a", rebalance_ms=20_000, **SESSION)
    for _ in range(4):
        w.advance(5_000)
        w.heartbeat("b")
    assert (a.at, removals(w)) == (20_000, [("b-2", "did not rejoin in time")])


def test_who_waits_in_join_or_sync_does_not_expire() -> None:
    """SES-3: longer than its session; the answer arms it again."""
    w = World().stable("a", "b", rebalance_ms=100_000, **SESSION)
    a = w.join("a", rebalance_ms=100_000, **SESSION)
    for _ in range(11):
        w.advance(9_000)
        w.heartbeat("b")
    assert a.parked
    w.join("b", rebalance_ms=100_000, **SESSION)
    assert a.ok
    b = w.sync("b")
    for _ in range(5):
        w.advance(9_000)
        w.heartbeat("a")
    assert b.parked
    w.sync("a")
    w.advance(9_999)
    assert w.names() == {"a", "b"}
    w.advance(1)
    assert w.names() == set()


def test_a_new_member_that_waits_can_expire() -> None:
    """SES-3, JOIN-8: a heartbeat puts it under its session timeout, as in Kafka."""
    w = World().stable("a")
    b = w.enter("b", **SESSION)
    assert w.heartbeat("b", generation=1).error == IN_PROGRESS
    w.advance(10_000)
    assert b.error == UNKNOWN


def test_a_deadline_moved_or_dropped_does_not_fire() -> None:
    """META-3: a member that left is not expired later; a renewed one not at the old instant."""
    w = World().stable("a", "b", **SESSION)
    w.advance(5_000)
    w.heartbeat("a")
    w.leave("b")
    w.join("a", **SESSION)
    w.advance(9_000)
    assert removals(w) == [("b-2", "left")]


def test_two_that_die_together_rebalance_once() -> None:
    """META-1, SES-2: each timer sees what the one before did."""
    w = World().stable("a", "b", "c", **SESSION)
    w.advance(4_000)
    w.heartbeat("a")
    w.advance(6_000)
    assert w.names() == {"a"}
    assert w.state == "PreparingRebalance"
    assert w.join("a").generation_id == 2
