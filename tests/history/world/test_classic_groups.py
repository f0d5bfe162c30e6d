"""Classic groups as a log tells them: states, generations, and which lines complete a rebalance."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.events import Line
from coordinator.events.groups import GroupCreated, MemberPending
from coordinator.history.world.groups.classic_groups import ClassicGroup, ClassicGroups
from coordinator.history.world.world import World
from tests.lines import line_from
from tests.shipped import lines_of, log_text


def line(kind: str, **fields: Any) -> Line:
    return line_from({"type": kind, "group": "g", **fields})


@pytest.mark.parametrize(
    "name", ["cut_in_join_phase", "coordinator_crash", "rolling_deploy_static", "crash_loop"]
)
def test_states_are_those_of_the_timeline(name: str) -> None:
    """Two readers of one log, one of which knows much more."""
    world, classic = World(), ClassicGroups()
    timeline = world.timeline
    seen = set()
    for each in lines_of(log_text(name)):
        world.see(each)
        classic.see(each)
        group = each.group or ""
        if each.stream == "group" and each.kind not in (GroupCreated, MemberPending):
            state = classic.get(group).state
            if state:
                assert state == timeline.groups[group].state, each
                seen.add(state)
    assert {"PreparingRebalance", "CompletingRebalance", "Stable"} <= seen


def test_what_completes_a_rebalance() -> None:
    """Not what stores a static member that was replaced, nor what is stored of a snapshot."""
    groups = ClassicGroups()
    completed = [
        groups.see(each)
        for each in (
            line("RebalanceStarted"),
            line("GenerationStarted", generation=1, leader="a"),
            line("GenerationStored", generation=1, leader="a"),
            line("GenerationStored", generation=1, leader="a"),
            line("GroupUnloaded"),
            line("GroupLoaded", state="Stable", generation=1),
            line("GenerationStored", generation=1, leader="a"),
        )
    ]
    assert completed == [False, False, True, False, False, False, False]
    group = groups.get("g")
    assert (group.state, group.generation, group.leader) == ("Stable", 1, "a")
    assert ClassicGroups({"g"}).see(line("GenerationStored", generation=2))


def test_a_group_that_nothing_was_told_of_is_in_no_state() -> None:
    assert ClassicGroup().state == ""
    assert not ClassicGroups().see(line("MemberJoined"))
