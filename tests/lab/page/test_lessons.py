"""Every lesson's answer is what its own run shows, and no text holds a number that the engine did
not compute."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from coordinator.lab.page import lessons
from coordinator.lab.page.engine import play
from coordinator.lab.page.lessons import SEED, Lesson, LessonError, load, slugs
from coordinator.lab.page.lessons.trying import TRIES

from .marks import marks

RIGHT = {
    "00_what_is_what": "share",
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
    "15_migration_in_place": "stay",
    "16_broker_crashes": "same",
    "17_queue_on_a_log": "again",
    "18_zombie_in_a_transaction": "aborted",
    "19_right_taken_away": "session",
    "20_poll_too_much": "stays",
}
"""What is right by Kafka's rules, written down apart from the engine that computes it."""


TRIED = {
    "00_what_is_what/leaves": {"generation": 3, "has": 4},
    "00_what_is_what/dies": {"generation": 3, "has": 4},
    "01_leader_dies/later": {"generation": 1, "leader": "app-1"},
    "01_leader_dies/freeze": {"generation": 1, "leader": "app-1"},
    "02_which_number/kill": {"empty": 2},
    "02_which_number/join": {"number": 2, "next": 3},
    "03_when_does_a_know/faster": {"act_heartbeat": "1 s"},
    "03_when_does_a_know/lost-answer": {"error": "REBALANCE_IN_PROGRESS", "told": "25.15 s"},
    "04_slowest_decides/cooperative": {"stops_a": 0, "stops_c": 0},
    "04_slowest_decides/both": {"went_on": "27.05 s"},
    "05_three_clocks/kill": {"noticed": "7.15 s"},
    "06_frozen_wakes/short": {"removals": 0, "still": "12 partition-seconds"},
    "06_frozen_wakes/static": {"error": "UNKNOWN_MEMBER_ID"},
    "07_commit_in_each_half/quick": {"refused": 0},
    "07_commit_in_each_half/again": {"first": "ILLEGAL_GENERATION", "refused": 2},
    "08_leader_leaves/kill": {"kept": 6, "had": 3},
    "08_leader_leaves/range": {"kept": 5},
    "09_cooperative_one_more/eager": {"generations": 1},
    "09_cooperative_one_more/grow": {"generations": 1, "more": 3, "who": "app-1"},
    "10_static_restart/longer": {"more": 4},
    "11_ghost_id/join": {"assigned": "22.8 s", "gone": "22.2 s"},
    "11_ghost_id/alive": {"waited": "1.4 s"},
    "12_rolling_switch/one-more": {"last": "range"},
    "12_rolling_switch/stays": {"last": "range", "members": 3, "members_all": 4},
    "13_no_barrier/freeze": {"late": "orders-2", "soon": "orders-5", "stopped": 0},
    "13_no_barrier/kill": {"session": "45 s"},
    "14_coordinator_moves/kill": {"session_began_anew": 10_000, "to_broker": 2},
    "14_coordinator_moves/back": {"back_to": 1, "generation": 1, "rebalances": 1},
    "14_coordinator_moves/reassign": {"ar": "1, 3, 2, 4", "oar": "2, 3", "rar": "1, 3"},
    "15_migration_in_place/disabled": {"error": "GROUP_ID_NOT_FOUND", "upgrades": 0},
    "15_migration_in_place/eager": {"stops": 2},
    "16_broker_crashes/one-replica": {"by": 1, "without": "25 s"},
    "16_broker_crashes/kill": {"session_began_anew": 10_000, "to_broker": 2},
    "17_queue_on_a_log/kill": {"after": "50 ms"},
    "17_queue_on_a_log/longer": {"lock_longer": "30 s", "later": "15 s"},
    "17_queue_on_a_log/release": {"most": 5, "deliveries": 85, "records": 17},
    "17_queue_on_a_log/reject": {"most": 1, "deliveries": 17, "records": 17},
    "18_zombie_in_a_transaction/short": {"refusals": 0},
    "18_zombie_in_a_transaction/one-id": {"error": "PRODUCER_FENCED"},
    "19_right_taken_away/soon": {"removals": 0},
    "19_right_taken_away/topic": {"error": "TOPIC_AUTHORIZATION_FAILED", "removals": 0},
    "20_poll_too_much/fewer": {"removals": 0, "first": "19.45 s"},
    "20_poll_too_much/longer": {"first": "27.45 s"},
}
"""What each try shows by Kafka's rules, apart from the functions that compute its text."""
_NAMES = re.compile(
    r"\{[^}]*\}|\b(app|c|d|b|twin|new|orders)-\d|\bnew\d|KIP-\d+|lesson \d+|[Gg]eneration 1\b|^\d, and \d"
)
"""What may have a digit in a text: names, and what the engine fills in."""


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
        *(text for each in lesson.tries for text in (each.text, each.says)),
    ]
    assert all(text and not re.search(r"[{}<>]", text) for text in texts)
    assert lesson.minutes <= 10


def test_no_text_has_a_number_that_the_engine_knows(lesson: Lesson) -> None:
    folder = Path(lessons.__file__).parent
    given = tomllib.loads((folder / f"{lesson.slug}.toml").read_text(encoding="utf-8"))
    texts = [given[name] for name in ("setting", "question", "explanation", "aha", "shown")]
    texts += [row["text"] for row in given["options"]]
    texts += [row[name] for row in given["tries"] for name in ("text", "says")]
    found = [text for text in texts if re.search(r"\d", _NAMES.sub("", text))]
    assert found == []


def test_everything_to_try_changes_the_run_and_does_what_it_says(lesson: Lesson) -> None:
    assert lesson.tries, "a lesson ends with something to try"
    for each in lesson.tries:
        name = f"{lesson.slug}/{each.id}"
        assert each.lines != lesson.lines, f"{name}: nothing changed"
        assert {key: each.facts[key] for key in TRIED[name]} == TRIED[name], name
        script = [row for at, row in enumerate(lesson.script) if at not in each.without]
        assert len(script) == len(lesson.script) - len(each.without)
        again = play(lesson.scenario, lesson.slug, SEED, each.settings, each.actions, script)
        assert tuple(again) == each.lines


def test_everything_to_try_is_known_here() -> None:
    there = {f"{slug}/{each.id}" for slug in slugs() for each in load(slug).tries}
    assert there == TRIED.keys()
    assert there >= {"/".join(key) for key in TRIES}


def test_what_was_asked_about_is_a_step_at_the_instant_of_the_answer(lesson: Lesson) -> None:
    (step,) = [
        step for step in lesson.plain()["picture"]["steps"] if step["seq"] == lesson.truth_seq
    ]
    assert step["at_ms"] == lesson.truth_ms


def test_a_heartbeat_is_shown_as_a_heartbeat(lesson: Lesson) -> None:
    steps = lesson.plain()["picture"]["steps"]
    assert not any(step["type"] == "FaultInjected" and "observe" in str(step) for step in steps)
    (beat,) = [step for step in steps if step["type"].endswith("Heartbeat")][:1]
    assert "sign of life" in beat["say"]
    assert {name for name, _ in beat["fields"]} <= {"broker", "api", "client"}


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
    (refused,) = [at for at, kind in marks(lane) if kind == "commit-refused"]
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
        at for at, kind in marks(lane) if kind == "commit-answered" and joining[0] < at < joining[1]
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
    page = Path(__file__).resolve().parents[3] / "docs" / "lessons_teaching.md"
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"lesson (\d+), step `(\w+)`", text.partition("six questions")[2])
    assert named
    for number, kind in named:
        (slug,) = [each for each in slugs() if int(each[:2]) == int(number)]
        steps = load(slug).plain()["picture"]["steps"]
        assert kind in {step["type"] for step in steps}, (number, kind)


def test_a_lesson_that_is_not_there_is_told() -> None:
    with pytest.raises(
        LessonError, match="there is no lesson 99_x; they are 00_what_is_what, 01_leader_dies"
    ):
        load("99_x")
