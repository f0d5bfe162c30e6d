"""The states of a group and the ways between them (ST)."""

from __future__ import annotations

import pytest

from coordinator.core.groups.classic.states import (
    CAN_REBALANCE,
    COMPLETING_REBALANCE,
    DEAD,
    EMPTY,
    PREPARING_REBALANCE,
    STABLE,
    TRANSITIONS,
    GroupState,
    may_follow,
)
from coordinator.core.groups.evolve import evolve
from coordinator.core.groups.group import Group
from coordinator.events import groups as ev
from tests.core.groups.kit import World

LEGAL = {
    (PREPARING_REBALANCE, EMPTY),
    (STABLE, PREPARING_REBALANCE),
    (COMPLETING_REBALANCE, PREPARING_REBALANCE),
    (EMPTY, PREPARING_REBALANCE),
    (PREPARING_REBALANCE, COMPLETING_REBALANCE),
    (COMPLETING_REBALANCE, STABLE),
    *((state, DEAD) for state in GroupState),
}


def test_names_are_those_of_the_wire() -> None:
    """ST-1."""
    assert [str(state) for state in GroupState] == [
        "Empty",
        "PreparingRebalance",
        "CompletingRebalance",
        "Stable",
        "Dead",
    ]


@pytest.mark.parametrize("before", GroupState)
@pytest.mark.parametrize("after", GroupState)
def test_every_pair_of_states(before: GroupState, after: GroupState) -> None:
    """ST-2: these and no others."""
    assert may_follow(before, after) == ((before, after) in LEGAL)


def test_every_transition_says_what_leads_there() -> None:
    """ST-4."""
    assert all(trigger for sources in TRANSITIONS.values() for trigger in sources.values())


def test_where_a_rebalance_can_begin() -> None:
    """ST-3: exactly where PreparingRebalance can be entered from."""
    assert (
        set(CAN_REBALANCE)
        == {STABLE, COMPLETING_REBALANCE, EMPTY}
        == set(TRANSITIONS[PREPARING_REBALANCE])
    )


def test_an_illegal_transition_is_our_own_fault() -> None:
    """ST-2."""
    with pytest.raises(AssertionError, match="Empty -> Stable"):
        evolve(Group("g", 0), ev.GenerationStored(1, "consumer", "range", None, ()), 0)


def test_a_life_through_all_states() -> None:
    """ST-4, ST-5: each entry stamps its instant."""
    w = World(initial_rebalance_delay_ms=1_000, now=100)
    seen = []

    def look() -> None:
        if not seen or seen[-1][0] != w.state:
            seen.append((w.state, w.group.state_since_ms))
        w.advance(10)

    w.join("a")
    look()
    w.join("a")
    look()
    w.advance(1_000)
    look()
    w.sync("a")
    look()
    w.heartbeat("a")
    look()
    w.leave("a")
    look()
    assert seen == [
        ("Empty", 100),
        ("PreparingRebalance", 110),
        ("CompletingRebalance", 1_110),
        ("Stable", 1_130),
        ("Empty", 1_150),
    ]
    group = w.group
    w.unload()
    assert (group.state, w.coordinator.groups) == (DEAD, {})
