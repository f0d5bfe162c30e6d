"""A run of the page as a pytest test: every lesson and every Try, run as they are generated."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.lab.page.actions import ACTIONS
from coordinator.lab.page.engine import play, run_as_test
from coordinator.lab.page.exports.as_file import scenario_file
from coordinator.lab.page.exports.as_pytest import as_test
from coordinator.lab.page.lessons import SEED, load
from coordinator.lab.simulator.files.scenario import read_scenario
from tests.lab.page.chosen import ONE_BY_ONE

Plain = dict[str, Any]
ONLY_HERE = {"commit"}
ONLY_SIMULATED = {
    "18_zombie_in_a_transaction": "pipelines with transactions",
    "19_right_taken_away": "rights of users",
    "20_poll_too_much": "work that takes time",
}
"""What the scenarios of lessons have that no test can have."""


def run(made: Plain) -> None:
    """Run a generated test, as pytest would."""
    names: dict[str, Any] = {}
    exec(compile(made["test"], "test_story.py", "exec"), names)
    names["test_story"]()


@pytest.mark.parametrize("slug", ONE_BY_ONE)
def test_every_lesson_and_every_try_is_a_test_that_passes_or_says_why_not(slug: str) -> None:
    lesson = load(slug)
    runs: list[tuple[tuple[str, ...], tuple[Plain, ...], list[Plain]]] = [
        ((), (), list(lesson.script))
    ]
    for each in lesson.tries:
        script = [row for at, row in enumerate(lesson.script) if at not in each.without]
        runs.append((each.settings, each.actions, script))
    for settings, actions, script in runs:
        made = run_as_test(SEED, lesson.scenario, slug, settings, actions, script)
        here = {row["kind"] for row in (*actions, *script)} & ONLY_HERE
        if slug in ONLY_SIMULATED:
            assert (made["test"], made["only_here"]) == ("", ONLY_SIMULATED[slug])
            continue
        assert bool(made["test"]) != bool(here), made["only_here"]
        assert made["left_out"] == sorted(here)
        if made["test"]:
            run(made)


def test_every_action_is_a_word_of_the_kit_or_is_said_to_be_of_the_simulator_alone() -> None:
    lesson = load("10_static_restart")
    more = {"replicas": [1], "to": 1, "member": "app-1", "at_ms": 30_000, "partition": 0}
    wide = lesson.scenario.replace("[brokers]", "[brokers]\ncount = 3")
    for kind in ACTIONS:
        made = run_as_test(SEED, wide, "x", (), [{"kind": kind, **more}])
        assert bool(made["test"]) == (kind not in ONLY_HERE), made["only_here"]
    one_way = {"kind": "cut", "direction": "to_broker", **more}
    assert run_as_test(SEED, wide, "x", (), [one_way])["only_here"] == "CutMember of app-1"


def test_a_member_that_joins_is_acted_on_in_the_test_too() -> None:
    lesson = load("09_cooperative_one_more")
    actions = [
        {"kind": "join", "at_ms": 20_000},
        {"kind": "kill", "member": "new-1", "at_ms": 25_000},
    ]
    made = run_as_test(SEED, lesson.scenario, "x", (), actions)
    assert "peers['new-1'].crash()" in made["test"]
    run(made)


@pytest.mark.parametrize(
    ("told", "otherwise"),
    [
        ("peers['app-1'].crash()", "pass"),  # nobody dies: no second generation
        ("'session.timeout.ms': 10000", "'session.timeout.ms': 45000"),
        ("assert has == {", "assert has == {'x': [],"),
    ],
)
def test_a_test_of_another_story_fails(told: str, otherwise: str) -> None:
    lesson = load("01_leader_dies")
    made = run_as_test(SEED, lesson.scenario, "x", (), (), lesson.script)
    assert told in made["test"]
    with pytest.raises(AssertionError):
        run({"test": made["test"].replace(told, otherwise, 1)})


def test_what_is_drawn_exists_in_the_simulator_alone() -> None:
    scenario = load("01_leader_dies").scenario
    rolling = '\n[[churn]]\nkind = "rolling"\nmembers = "app"'
    for text, said in (
        (scenario + rolling, "churn (rolling of app)"),
        (
            scenario.replace('start = "0s"', 'start = ["0s", "2s"]'),
            "members app start at an instant that is drawn",
        ),
        (scenario.replace("[links]", "[links]\nbandwidth = 1000"), "links of a bandwidth"),
        (
            scenario.replace('name = "app"', 'name = "app"\nversions = "2.2"'),
            "clients of older versions",
        ),
    ):
        made = run_as_test(SEED, text, "x")
        assert made["only_here"] == said
        assert not made["test"]


HOSTILE = '"""\\\\\'\\n#\\u202e{x}<script>'
"""As TOML has it: quotes, a backslash, a line's end, an override of direction, braces."""


def test_names_of_whatever_kind_stay_texts() -> None:
    """A group's name that would end a string, or a comment, or fill a format."""
    scenario = load("00_what_is_what").scenario.replace(
        'name = "app"', f'name = "app"\ngroup = "{HOSTILE.replace(chr(34), chr(92) + chr(34))}"', 1
    )
    made = run_as_test(SEED, scenario, "x", (), [{"kind": "join", "at_ms": 10_000}])
    assert made["test"].isascii()
    run(made)


def test_what_a_test_does_without_is_named() -> None:
    lesson = load("14_coordinator_moves")
    made = run_as_test(SEED, lesson.scenario, "x", (), (), lesson.script)
    assert made["not_in_it"] == ["what producers write"]
    lines = play(lesson.scenario, "x", SEED)
    text = scenario_file(lesson.scenario, "x")["text"].replace("reads = 0", "reads = 5")
    read = as_test(read_scenario(text, "x"), lines, ())
    assert read["not_in_it"][0] == "the records that members read, and their commits"
