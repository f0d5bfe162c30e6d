"""Alerts: each kind is raised by what it is for, once, and by nothing less; a watch goes on from
its saved state."""

from __future__ import annotations

import json
from typing import Any

from coordinator.events.line import Line
from coordinator.events.reader import read_lines
from coordinator.events.vocabulary import named
from coordinator.lab.pipeline.alerts import KINDS, WATCHED, Alert, Limits, Watch, live_page
from tests.lines import line_from

from .kit import simulated


def line(seq: int, kind: str, at_ms: int, **fields: Any) -> Line:
    (of,) = named(kind)
    return line_from({"seq": seq, "at_ms": at_ms, "stream": of.stream, "type": kind, **fields})


def seen(lines: list[Line], limits: Limits = Limits(), *, save: bool = False) -> list[Alert]:
    """Alerts of one group's lines; with `save` through a saved state after each line."""
    watch, found = Watch("g", limits), []
    for each in lines:
        found += watch.see(each, each.at_ms)
        if save:
            watch = Watch("g", limits, watch.saved())
    return found


def test_a_storm_is_told_once() -> None:
    begun = [line(number, "RebalanceStarted", number * 1000) for number in range(1, 9)]
    (alert,) = seen(begun, Limits(storm=5))
    assert (alert.kind, alert.seq, alert.text) == ("rebalance storm", 5, "5 rebalances within 60 s")
    assert seen(begun[:4], Limits(storm=5)) == []
    slow = [line(number, "RebalanceStarted", number * 20_000) for number in range(1, 9)]
    assert seen(slow, Limits(storm=5)) == []
    assert seen(begun, Limits(storm=5), save=True) == [alert]


def test_a_member_that_comes_again_and_again() -> None:
    def joined(*clients: str) -> list[Line]:
        return [
            line(number, "MemberJoined", number * 1000, client_id=client, member=f"m{number}")
            for number, client in enumerate(clients)
        ]

    (alert,) = seen(joined(*["app-1"] * 5))
    assert (alert.kind, alert.seq) == (
        "flapping member",
        2,
    ) and "app-1 joined 3 times" in alert.text
    assert seen(joined("app-0", "app-1", "app-2", "app-3", "app-4")) == []


def test_commits_of_zombies() -> None:
    def refused(api: str, error: str) -> Line:
        return line(1, "RequestRefused", 5, api=api, member="m", errors=[error])

    (alert,) = seen([refused("offset_commit", "ILLEGAL_GENERATION")])
    assert alert == Alert(
        "g", "zombie commit", 1, 5, "a commit of m was refused: ILLEGAL_GENERATION"
    )
    routine = refused("offset_commit", "REBALANCE_IN_PROGRESS")
    assert seen([routine, refused("heartbeat", "ILLEGAL_GENERATION")]) == []


def test_what_does_not_end_is_overdue() -> None:
    watch = Watch("g", Limits(stuck_join_ms=100, stuck_reassignment_ms=500))
    assert watch.due() is None
    list(watch.see(line(1, "RebalanceStarted", 7), 1000))
    list(watch.see(line(2, "ReassignmentStarted", 8, topic="t", partition=0), 1000))
    assert watch.due() == 1100 and list(watch.expired(1099)) == []
    watch = Watch("g", Limits(stuck_join_ms=100, stuck_reassignment_ms=500), watch.saved())
    assert [alert.kind for alert in watch.expired(1100)] == ["stuck join phase"]
    assert list(watch.expired(1200)) == [] and watch.due() == 1500
    assert [(alert.kind, alert.seq) for alert in watch.expired(9999)] == [("stuck reassignment", 2)]
    assert watch.due() is None


def test_what_ends_in_time_is_not_told() -> None:
    watch = Watch("g")
    for each in (
        line(1, "RebalanceStarted", 0),
        line(2, "ReassignmentStarted", 0, topic="t", partition=0),
        line(3, "GenerationStarted", 5, generation=4),
        line(4, "ReassignmentCompleted", 5, topic="t", partition=0),
    ):
        list(watch.see(each, 0))
    assert watch.due() is None and (watch.group.state, watch.group.generation) == (
        "CompletingRebalance",
        4,
    )
    list(watch.see(line(5, "GenerationStored", 6, generation=4), 0))
    assert (watch.group.state, watch.group.generation, len(watch.rebalances)) == ("Stable", 4, 1)


def test_a_group_that_another_coordinator_has_loaded_is_as_it_loaded_it() -> None:
    watch = Watch("g")
    stored = line(1, "GenerationStored", 1, generation=4)
    unloaded = line(2, "GroupUnloaded", 2)
    loaded = line(3, "GroupLoaded", 3, state="Stable", generation=4)
    states = []
    for each in (stored, unloaded, loaded):
        assert each.kind in WATCHED
        assert not list(watch.see(each, 0))
        states.append((watch.group.state, watch.group.generation))
    assert states == [("Stable", 4), ("Dead", 4), ("Stable", 4)]


def test_a_run_through_saved_states_is_the_run() -> None:
    lines = [
        each
        for each in read_lines(simulated("crash_loop").splitlines(keepends=True))
        if each.group == "app"
    ]
    alerts = seen(lines, Limits(storm=2, flapping=2))
    assert {alert.kind for alert in alerts} == {"rebalance storm", "flapping member"} <= set(KINDS)
    assert seen(lines, Limits(storm=2, flapping=2), save=True) == alerts


def test_the_page_of_the_present_state() -> None:
    page = live_page(
        {"<g>": ("Stable", 3, 1), "": ("", -1, 0)},
        [Alert("<g>", "zombie commit", 1, 2500, "<b>")],
        1234,
        2,
    )
    assert (
        "&lt;g&gt;" in page
        and "<b>" not in page
        and "1,234 lines" in page
        and "2.500 s" in page
        and "http-equiv='refresh'" in page
    )
    assert json.loads(Watch("g").saved())["generation"] == -1


def test_a_watch_takes_notice_of_the_watched_types_alone() -> None:
    """What follows a log leaves the others out."""
    lines = [
        each
        for each in read_lines(simulated("crash_loop").splitlines(keepends=True))
        if each.group == "app"
    ]
    watched = [each for each in lines if each.kind in WATCHED]
    assert 0 < len(watched) < len(lines)
    everything, few = (
        Watch("app", Limits(storm=2, flapping=2)),
        Watch("app", Limits(storm=2, flapping=2)),
    )
    found = [alert for each in lines for alert in everything.see(each, each.at_ms)]
    assert found == [alert for each in watched for alert in few.see(each, each.at_ms)] != []
    assert everything.saved() == few.saved()
