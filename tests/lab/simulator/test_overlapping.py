"""Faults and churn that befall the same members at once: each lasts its own time, and there are as
many members as was said."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.events import EventLog
from coordinator.lab.simulator.clients.client_hosts import ClientHosts
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario
from coordinator.lab.simulator.world import World

TEXT = """duration = "100s"
[topics]
orders = 4
[[members]]
name = "app"
count = 2
topics = "orders"
"""


def world_after(text: str, looks: dict[int, Any] | None = None) -> World:
    """Run a scenario; `looks`: what to call with the world, and when."""

    def begin(world: World) -> None:
        for instant, look in (looks or {}).items():
            world.at(instant, lambda look=look: look(world))  # type: ignore[misc]

    return run_scenario(read_scenario(TEXT + text, "s.toml"), 1, EventLog(seed=1), begin)


def fault(verb: str, at: str, lasts: str, more: str = "") -> str:
    return (
        f'[[faults]]\nverb = "{verb}"\nmember = "app-1"\nat = "{at}"\nlasts = "{lasts}"\n{more}\n'
    )


@pytest.mark.parametrize(
    "first", ["20s", "60s"], ids=["one after the other", "one within the other"]
)
def test_a_member_is_cut_off_until_the_last_cut_is_over(first: str) -> None:
    seen: dict[int, list[bool]] = {}

    def look(world: ClientHosts) -> None:
        seen[world.now] = [link.is_cut for link in world.links_to("app-1", None, "both")]

    faults = fault("CutMember", "10s", first) + fault(
        "CutMember", "20s", "30s", 'direction = "to_broker"'
    )
    world_after(faults, {25_000: look, 40_000: look, 60_000: look, 75_000: look})
    assert seen[25_000] == [True, True]
    assert seen[40_000] == [True, first == "60s"]
    assert seen[60_000] == [first == "60s"] * 2
    assert seen[75_000] == [False, False]


def test_a_member_is_paused_until_the_last_pause_is_over() -> None:
    seen: dict[int, bool] = {}

    def look(world: ClientHosts) -> None:
        seen[world.now] = "app-1" in world.frozen

    world_after(
        fault("PauseMember", "10s", "20s") + fault("PauseMember", "20s", "30s"),
        {40_000: look, 60_000: look},
    )
    assert seen == {40_000: True, 60_000: False}


def test_the_pace_of_a_link_is_that_of_the_fault_that_began_last_and_lasts_still() -> None:
    seen: dict[int, int] = {}

    def look(world: ClientHosts) -> None:
        seen[world.now] = world.links_to("app-1", 1, "to_broker")[0].bytes_per_second

    slow = fault("SlowMember", "10s", "30s", "bytes_per_second = 9000") + fault(
        "SlowMember", "20s", "40s", "bytes_per_second = 7000"
    )
    world_after(
        slow + "[links]\nbandwidth = 50000\n",
        {15_000: look, 25_000: look, 45_000: look, 65_000: look},
    )
    assert seen == {15_000: 9000, 25_000: 7000, 45_000: 7000, 65_000: 50_000}


@pytest.mark.parametrize("to", [1, 2, 5])
@pytest.mark.parametrize("at", [0, 300])
def test_members_that_are_yet_to_start_are_counted_when_a_kind_is_scaled(at: int, to: int) -> None:
    world = world_after(f'[[churn]]\nkind = "scale"\nmembers = "app"\nto = {to}\nat = {at}\n')
    assert len(world.members) == to


@pytest.mark.parametrize("to", [1, 2, 3])
def test_a_member_that_is_away_for_a_restart_is_counted_when_its_kind_is_scaled(to: int) -> None:
    restart = '[[churn]]\nkind = "restart"\nmembers = "app-2"\nat = "20s"\ndown = "10s"\n'
    world = world_after(
        restart + f'[[churn]]\nkind = "scale"\nmembers = "app"\nto = {to}\nat = "25s"\n'
    )
    assert len(world.members) == to
