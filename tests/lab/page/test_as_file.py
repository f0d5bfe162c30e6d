"""A run of the page as a scenario file plays the same log."""

from __future__ import annotations

import json
from typing import Any

import pytest

from coordinator.lab.page.actions import ACTIONS
from coordinator.lab.page.engine import picture_of, play
from coordinator.lab.page.exports.as_file import scenario_file
from coordinator.lab.page.lessons import SEED, load, slugs
from tests.lab.page.chosen import CHOSEN, ONE_BY_ONE

Plain = dict[str, Any]
_ONLY_HERE = {"commit"}


def told(lines: list[str]) -> list[Plain]:
    """What happened, without numbers of lines, which faults of requests are counted into."""
    return [
        {key: value for key, value in json.loads(line).items() if key not in ("seq", "cause")}
        for line in lines
    ]


@pytest.mark.parametrize("slug", ONE_BY_ONE)
def test_every_lesson_and_every_try_is_a_file_that_plays_the_same(slug: str) -> None:
    lesson = load(slug)
    runs: list[tuple[tuple[str, ...], tuple[Plain, ...], list[Plain]]] = [
        ((), (), list(lesson.script))
    ]
    for each in lesson.tries:
        script = [row for at, row in enumerate(lesson.script) if at not in each.without]
        runs.append((each.settings, each.actions, script))
    for settings, actions, script in runs:
        made = scenario_file(lesson.scenario, slug, settings, actions, script)
        assert set(made["left_out"]) <= _ONLY_HERE
        said = [
            [row for row in rows if row["kind"] not in _ONLY_HERE] for rows in (actions, script)
        ]
        here = picture_of(play(lesson.scenario, slug, SEED, settings, *said)).plain()["groups"]
        there = picture_of(play(made["text"], slug, SEED)).plain()["groups"]
        for group in (*here, *there):
            for lane in group["lanes"]:
                lane.pop("marks")
            group.pop("deadlines")
            for row in group["verdict"]["rebalances"]:
                row.pop("seq")
        assert there == here


def test_every_action_is_told_or_named_as_left_out() -> None:
    lesson = load("10_static_restart")
    more = {"replicas": [1], "to": 1, "member": "app-1", "at_ms": 30_000, "partition": 0}
    wide = lesson.scenario.replace("[brokers]", "[brokers]\ncount = 3")
    for kind in ACTIONS:
        action = {"kind": kind, **more}
        made = scenario_file(wide, "x", (), [action])
        assert made["left_out"] == ([kind] if kind in _ONLY_HERE else [])
        assert play(made["text"], "x", SEED)


def test_the_chosen_lessons_have_every_action_and_every_setting() -> None:
    def has(slug: str) -> set[str]:
        lesson = load(slug)
        rows = [*lesson.script, *(row for each in lesson.tries for row in each.actions)]
        settings = (text for each in lesson.tries for text in each.settings)
        return {row["kind"] for row in rows} | {
            text.partition("=")[0].rpartition(".")[2] for text in settings
        }

    everything = set().union(*map(has, slugs()))
    assert set().union(*map(has, CHOSEN)) == everything
