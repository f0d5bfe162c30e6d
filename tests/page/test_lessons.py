"""Every lesson's answer is what its own run shows, and no text holds a number that the engine did
not compute."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coordinator.page.engine import play
from coordinator.page.lessons import SEED, Lesson, LessonError, load, slugs

RIGHT = {
    "01_leader_dies": "new-leader",
    "02_which_number": "1-3",
    "03_when_does_a_know": "heartbeat",
    "04_slowest_decides": "everyone",
    "05_three_clocks": "poll",
    "06_frozen_wakes": "refused",
    "07_commit_in_each_half": "first-only",
    "08_leader_leaves": "6",
    "09_cooperative_one_more": "2-moved",
    "10_static_restart": "2",
    "11_ghost_id": "ghost",
    "12_rolling_switch": "range",
    "13_no_barrier": "c-waits",
    "14_coordinator_moves": "same",
}
"""What is right by Kafka's rules, written down apart from the engine that computes it."""


@pytest.fixture(scope="module", params=slugs())
def lesson(request: pytest.FixtureRequest) -> Lesson:
    return load(request.param)


def test_the_engine_gives_the_right_answer(lesson: Lesson) -> None:
    assert lesson.answer == RIGHT[lesson.slug]
    assert len({option.id for option in lesson.options}) == len(lesson.options) >= 3


def test_the_answer_lies_behind_the_stop_and_within_the_window(lesson: Lesson) -> None:
    low, high = lesson.window_ms
    assert lesson.truth_ms is not None and lesson.stop_ms < lesson.truth_ms <= high
    assert low < lesson.stop_ms < high
    assert lesson.truth


def test_texts_are_whole(lesson: Lesson) -> None:
    texts = [
        lesson.title,
        lesson.setting,
        lesson.question,
        *lesson.explanation,
        lesson.aha,
        lesson.misconception,
        lesson.shown,
        *lesson.tries,
    ]
    assert all(text and not re.search(r"[{}<>]", text) for text in texts)
    assert lesson.minutes <= 10
    words = sum(len(text.split()) for text in texts)
    assert words <= 600, "a lesson fits ten minutes"


def test_a_prediction_names_a_lane_that_is_there(lesson: Lesson) -> None:
    lanes = {lane["name"] for lane in lesson.plain()["picture"]["groups"][0]["lanes"]}
    assert {option.lane for option in lesson.options if option.lane} <= lanes


def test_the_same_run_gives_the_same_log(lesson: Lesson) -> None:
    assert tuple(play(lesson.scenario, lesson.slug, SEED, script=lesson.script)) == lesson.lines


def test_the_other_run_differs(lesson: Lesson) -> None:
    for _, settings in lesson.variants:
        assert (
            tuple(play(lesson.scenario, lesson.slug, SEED, settings, script=lesson.script))
            != lesson.lines
        )


def test_a_commit_is_taken_in_the_join_phase_and_refused_in_the_sync_phase() -> None:
    """Kafka's ClassicGroup.validateOffsetCommit: CompletingRebalance alone refuses a member of the
    right generation."""
    lesson = load("07_commit_in_each_half")
    (group,) = lesson.plain()["picture"]["groups"]
    lane = next(lane for lane in group["lanes"] if lane["name"] == "app-2")
    (refused,) = [at for at, kind, _ in lane["marks"] if kind == "commit-refused"]
    state = next(state for begin, end, state in group["states"] if begin <= refused < end)
    assert state == "CompletingRebalance" and lesson.truth_ms == refused
    assert (
        lesson.facts["error"] == "REBALANCE_IN_PROGRESS" and lesson.facts["refused_generation"] == 2
    )
    joining = [
        (begin, end)
        for begin, end, state in group["states"]
        if state == "PreparingRebalance" and end < refused
    ][-1]
    taken = [
        at
        for at, kind, _ in lane["marks"]
        if kind == "commit-answered" and joining[0] < at < joining[1]
    ]
    assert len(taken) >= 3


def test_a_reassignment_keeps_the_original_replicas_until_all_targets_are_in_sync() -> None:
    """REASN-1 and REASN-2: AR is RAR and then the rest of OAR; it becomes RAR in one step."""
    lesson = load("14_coordinator_moves")
    (moved,) = lesson.plain()["picture"]["replicas"]
    before, *during, after = [span[2] for span in moved["spans"]]
    assert (before["all"], after["all"]) == ((2, 3), (4, 1)) and after["leader"] == 4
    assert during and all(
        (each["all"], each["original"], each["target"], each["leader"])
        == ((4, 1, 2, 3), (2, 3), [4, 1], 2)
        for each in during
    )
    assert set(after["target"]) <= set(after["in_sync"])
    low, high = lesson.window_ms
    assert low < moved["spans"][1][0] < moved["spans"][-1][0] < high
    assert [number for _, _, number in lesson.plain()["picture"]["groups"][0]["numbers"]][-1] == 1


def test_the_six_questions_are_answered_where_the_documentation_says() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "lessons.md").read_text(encoding="utf-8")
    named = re.findall(
        r"lesson (\d+), step `(\w+)` at ([\d.]+) s", text.partition("six questions")[2]
    )
    assert len(named) == 5
    for number, kind, at_s in named:
        (slug,) = [each for each in slugs() if int(each[:2]) == int(number)]
        steps = load(slug).plain()["picture"]["steps"]
        assert any(
            step["type"] == kind and step["at_ms"] == round(float(at_s) * 1000) for step in steps
        ), (number, kind, at_s)


def test_a_lesson_that_is_not_there_is_told() -> None:
    with pytest.raises(LessonError, match="there is no lesson 99_x; they are 01_leader_dies"):
        load("99_x")
