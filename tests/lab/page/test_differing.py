"""What a changed run is said to differ in, and why it does not; which actions are offered."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.lab.page.differing import compared
from coordinator.lab.page.engine import ActionError, picture_of, play
from coordinator.lab.page.lessons import SEED, load
from coordinator.lab.page.offers import offers
from coordinator.lab.simulator.files.scenario import read_scenario

Plain = dict[str, Any]


def said(slug: str, *actions: Plain) -> str:
    lesson = load(slug)
    lines = play(lesson.scenario, slug, SEED, (), actions, lesson.script)
    before = lesson.plain()["picture"]
    return " ".join(compared(before, picture_of(lines).plain(), actions))


def test_a_killed_member_is_told_by_what_it_costs() -> None:
    text = said("08_leader_leaves", {"kind": "kill", "member": "app-2", "at_ms": 10_000})
    assert text.startswith("Both runs are the same until 10.000 s.")
    assert "partition-seconds more are lost" in text


@pytest.mark.parametrize(
    ("slug", "action", "why"),
    [
        ("08_leader_leaves", {"kind": "kill", "member": "app-1"}, "app-1 ended at 20.100 s"),
        ("04_slowest_decides", {"kind": "cut", "member": "d-1", "at_ms": 9_000, "lasts_ms": 500}, "d-1 starts at 15.000 s only"),
        ("06_frozen_wakes", {"kind": "lose_answer", "member": "app-2", "at_ms": 59_900}, "app-2 sends no such request after 59.900 s"),
        ("06_frozen_wakes", {"kind": "freeze", "member": "app-2", "at_ms": 22_000, "lasts_ms": 18_000}, "app-2 stands still already"),
        ("08_leader_leaves", {"kind": "commit", "member": "app-1"}, "app-1 has nothing to commit, or its process does not run"),
        ("07_commit_in_each_half", {"kind": "commit", "member": "app-1"}, "a commit changes only offsets"),
        ("08_leader_leaves", {"kind": "add_partitions", "at_ms": 39_990}, "the members do not refresh the topic's metadata"),
    ],
)  # fmt: skip
def test_a_run_that_does_not_change_says_why(slug: str, action: Plain, why: str) -> None:
    text = said(slug, {"at_ms": 30_000, **action})
    assert text.startswith("Members and owners are as before, because ") and why in text


_TWO_GROUPS = """
duration = "60s"
[topics]
orders = 3
bills = 4
[[members]]
name = "a"
count = 2
group = "one"
topics = ["orders"]
[[members]]
name = "b"
count = 3
group = "two"
topics = ["bills"]
"""


@pytest.mark.parametrize(("member", "group"), [("a-1", "one"), ("b-1", "two")])
def test_of_several_groups_the_one_that_differs_is_told_of(member: str, group: str) -> None:
    before = picture_of(play(_TWO_GROUPS, "x", SEED, (), ())).plain()
    kill: Plain = {"kind": "kill", "member": member, "at_ms": 30_000}
    after = picture_of(play(_TWO_GROUPS, "x", SEED, (), [kill])).plain()
    assert compared(before, after, [kill])[0] == (
        f"Both runs of group {group} are the same until 30.000 s."
    )
    late = {**kill, "at_ms": 60_000}
    assert compared(before, before, [late]) == [
        f"Members and owners are as before, because {member} ended at 60.000 s."
    ]


def test_what_could_only_be_refused_is_not_offered() -> None:
    """Each offer can be run, and what is not offered is refused or comes to nothing."""
    for slug in ("06_frozen_wakes", "10_static_restart", "13_no_barrier", "14_coordinator_moves"):
        lesson = load(slug)
        made = offers(read_scenario(lesson.scenario, slug))
        for kind, members in made.items():
            action = {"kind": kind, "at_ms": 10_000, **({"member": members[0]} if members else {})}
            assert play(lesson.scenario, slug, SEED, (), [action], lesson.script)
        assert ("twin" in made) == (slug == "10_static_restart")
        assert ("move_coordinator" in made) == ("reassign" in made) == (slug[:2] == "14")
        assert ("commit" in made) == ("slow_assignor" in made) == (slug[:2] != "13")
    with pytest.raises(ActionError, match="from 1 to 4"):
        lesson = load("14_coordinator_moves")
        move = {"kind": "move_coordinator", "to": 5, "at_ms": 10_000}
        play(lesson.scenario, "x", SEED, (), [move])


def test_a_member_of_the_consumer_protocol_can_lose_an_answer() -> None:
    text = said("13_no_barrier", {"kind": "lose_answer", "member": "app-1", "at_ms": 15_000})
    assert text.startswith("Both runs are the same until")
