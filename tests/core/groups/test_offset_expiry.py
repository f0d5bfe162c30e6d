"""When committed offsets expire (EXP-*), and groups with them."""

from __future__ import annotations

import pytest

from coordinator.events import groups as ev
from tests.core.groups.callers import subscribe
from tests.core.groups.kit import World

UNKNOWN = 25
T0 = ("t", 0)
DAY_MS = 86_400_000


def expiring(**config: int) -> World:
    """Retention of a day, looked at every minute."""
    return World(offsets_retention_ms=DAY_MS, offsets_retention_check_interval_ms=60_000, **config)


def test_offsets_of_a_simple_group_expire_after_their_commit() -> None:
    """EXP-1, EXP-2, EXP-5, EXP-6: each by itself; with the last one goes the group."""
    w = expiring()
    w.admin_commit({("t", 0): 1})
    w.advance(60_000)
    w.admin_commit({("t", 1): 1})
    w.advance(DAY_MS - 60_001)
    assert len(w.fetch(None)) == 2
    w.advance(1)
    assert w.fetch(None) == {("t", 1): 1}
    w.advance(60_000)
    assert w.list() == {}


def test_a_group_that_had_members_counts_from_when_it_became_empty() -> None:
    """EXP-1, ST-5: not from the commit."""
    w = expiring().stable("a", session_ms=1_000_000)
    w.commit("a", {T0: 1})
    w.advance(600_000)
    w.heartbeat("a")
    w.leave("a")
    w.advance(DAY_MS - 60_000)
    assert w.fetch([T0]) == {T0: 1}
    w.advance(60_000)
    assert w.list() == {}


def test_a_later_commit_does_not_prolong_that() -> None:
    """EXP-1: the base is the instant the group became Empty."""
    w = expiring().stable("a")
    w.leave("a")
    w.admin_commit({T0: 1})
    w.advance(DAY_MS - 120_000)
    w.admin_commit({T0: 2})
    w.advance(180_000)
    assert w.list() == {}


def test_the_age_of_an_empty_group_survives_a_failover() -> None:
    """EXP-1, ERR-7: its record holds the instant it became Empty."""
    w = expiring().stable("a", session_ms=600_000)
    w.commit("a", {T0: 1})
    w.advance(300_000)
    w.leave("a")
    w.advance(DAY_MS - 300_000)
    w.restart()
    w.advance(240_000)
    assert w.fetch([T0]) == {T0: 1}
    w.unload()
    w.finish_load()
    w.advance(60_000)
    assert w.list() == {}


def living(w: World, for_ms: int) -> None:
    """Time passes and a stays alive."""
    for _ in range(for_ms // 1_000_000 + 1):
        w.advance(1_000_000)
        w.heartbeat("a")


def test_in_a_living_group_only_forgotten_topics_expire() -> None:
    """EXP-1, EXP-3: a Stable consumer group keeps what it subscribes to."""
    w = expiring().stable("a", session_ms=1_800_000, protocols={"range": subscribe("mine")})
    w.commit("a", {("mine", 0): 1, ("old", 0): 2})
    living(w, DAY_MS)
    assert w.fetch(None) == {("mine", 0): 1}
    assert w.happened(ev.OffsetsRemoved) == [ev.OffsetsRemoved("expired", (("old", 0),))]


@pytest.mark.parametrize("options", [{"kind": "connect"}, {"protocols": {"range": b"?"}}])
def test_living_groups_of_other_kinds_keep_everything(options: dict[str, object]) -> None:
    """EXP-1, EXP-3: another type, or subscriptions that nobody can read."""
    w = expiring().stable("a", session_ms=1_800_000, **options)
    w.commit("a", {("old", 0): 2})
    living(w, DAY_MS)
    assert w.fetch(None) == {("old", 0): 2}


def test_nothing_expires_during_a_rebalance() -> None:
    """EXP-1: in PreparingRebalance and CompletingRebalance."""
    w = expiring().stable(
        "a", session_ms=1_800_000, rebalance_ms=2 * DAY_MS, protocols={"range": subscribe("mine")}
    )
    w.commit("a", {("old", 0): 2})
    w.join("p", session_ms=1_800_000)
    w.join(
        "a", session_ms=1_800_000, rebalance_ms=2 * DAY_MS, protocols={"range": subscribe("mine")}
    )
    for _ in range(90):
        w.advance(1_000_000)
        w.join("p", member_id="", session_ms=1_800_000)
    assert w.state == "PreparingRebalance"
    assert w.fetch(None) == {("old", 0): 2}
    w.leave("p", *((pending, None) for pending in w.group.pending))
    assert w.state == "CompletingRebalance"
    living(w, 1_000_000)
    assert w.fetch(None) == {("old", 0): 2}


def test_an_own_expiry_stands_before_the_groups() -> None:
    """EXP-2, OC-8: earlier or later than the retention."""
    w = expiring()
    w.admin_commit({("soon", 0): 1}, retention_ms=100_000, version=2)
    w.admin_commit({("late", 0): 1}, retention_ms=2 * DAY_MS, version=2)
    w.advance(60_000)
    assert len(w.fetch(None)) == 2
    w.advance(60_000)
    assert w.fetch(None) == {("late", 0): 1}
    w.advance(2 * DAY_MS - 180_000)
    assert w.fetch(None) == {("late", 0): 1}
    w.advance(60_000)
    assert w.list() == {}


def test_the_check_runs_once_in_an_interval() -> None:
    """EXP-5, CFG-1: at whole intervals after the start, 10 minutes by default, while there is a
    group to look at."""
    w = World(now=5_000)
    assert w.coordinator.next_deadline() is None
    w.advance(10_000)
    w.admin_commit({T0: 1})
    assert w.coordinator.next_deadline() == 605_000
    w.advance(600_000)
    assert w.coordinator.next_deadline() == 1_205_000
    w.delete(w.group_id)
    w.advance(600_000)
    assert w.coordinator.next_deadline() is None


def test_the_check_deletes_groups_that_are_empty_and_without_offsets() -> None:
    """EXP-6, JOIN-2, LST-5: those with pending ids only, too; their join is unknown then."""
    w = World()
    w.join("p", session_ms=1_800_000)
    w.group_id = "full"
    w.stable("a")
    w.admin_commit({T0: 1}, group="offsets")
    assert w.list() == {"g": "Empty", "full": "Stable", "offsets": "Empty"}
    for _ in range(20):
        w.advance(30_000)
        w.heartbeat("a")
    assert w.list() == {"full": "Stable", "offsets": "Empty"}
    assert w.join("p", group="g").error == UNKNOWN
