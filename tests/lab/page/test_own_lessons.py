"""Lessons whose facts are queries of the log: what each query answers, and what is said of a wrong
one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from coordinator.lab.page.lessons import Lesson, LessonError, load
from coordinator.lab.page.lessons.conditions import broken, read_conditions
from coordinator.lab.page.lessons.own import read_files
from coordinator.lab.page.lessons.places import Places
from coordinator.lab.page.lessons.queries import ask, read_query
from coordinator.lab.page.lessons.query_parts import At, Value
from coordinator.lab.page.lessons.reading import read
from coordinator.lab.page.lessons.runs import Run
from coordinator.lab.page.site.own import write_own_site
from coordinator.lab.page.site.still import still

FILE = Path(__file__).parent / "own" / "one_is_killed.toml"
TEXT = FILE.read_text(encoding="utf-8")
AT = At(Places("", "mine.toml"), "facts", 0, "mine")


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    (made,) = read_files([str(FILE)])
    return made


@pytest.fixture(scope="module")
def run(lesson: Lesson) -> Run:
    return Run(lesson.lines, lesson.window_ms)


def test_each_kind_of_query_is_answered_from_the_log(lesson: Lesson) -> None:
    facts = {name: lesson.facts[name] for name in lesson.named}
    assert facts == {
        "died": "20 s",
        "removed": "27.75 s",
        "reason": "session expired",
        "waited": "7.75 s",
        "assigned": "30 s",
        "has": "orders-0, orders-1, orders-2 and orders-3",
        "leader": "app-1",
        "members": "app-2 and app-1",
        "members_then": 1,
        "deadline": facts["deadline"],
        "session_of_b": "10 s",
        "second": 2,
        "last_but_one": 1,
        "beats": facts["beats_early"] + facts["beats_late"],
        "beats_early": facts["beats_early"],
        "beats_late": 3,
        "told": facts["told"],
        "got_three": "app-1",
    }
    assert lesson.answer == "session"
    assert (lesson.truth_ms, lesson.truth_lane) == (30_000, "app-1")


def test_a_query_and_a_function_of_the_same_log_agree(lesson: Lesson, run: Run) -> None:
    lines = {line.seq: line for line in run.lines}
    told = next(
        line
        for line in lines.values()
        if line.name == "RequestRefused" and line.plain["errors"] == ["REBALANCE_IN_PROGRESS"]
    )
    assert lesson.facts["told"] == f"{told.at_ms / 1000:g} s"
    first = next(line for line in lines.values() if line.name == "GenerationStarted")
    assert lesson.facts["deadline"].at_ms == first.plain["deadline_ms"]


def test_of_two_lines_of_one_instant_the_later_one_comes_after(run: Run) -> None:
    """A member's removal begins the rebalance in the same millisecond."""
    facts: dict[str, Value] = {}
    for name, given in (
        ("removed", {"type": "MemberRemoved"}),
        ("began", {"type": "RebalanceStarted", "after": "removed"}),
        ("before", {"type": "MemberRemoved", "before": "began", "nth": "last"}),
    ):
        facts[name] = ask(read_query(given, AT, list(facts)), run, facts, AT)
    assert facts["began"].raw == facts["removed"].raw == facts["before"].raw
    assert not broken(read_conditions({"began": {"after": "removed"}}, AT, facts), facts)
    assert broken(read_conditions({"began": {"before": "removed"}}, AT, facts), facts)


def test_a_member_of_the_consumer_protocol_is_found_by_its_client_id() -> None:
    """Its member id is drawn, and only the line of its subscription has both."""
    ours = load("13_no_barrier")
    run = Run(ours.lines, ours.window_ms)
    subscribed = {"type": "ConsumerMemberSubscribed", "member": "c-1"}
    shown = ask(read_query({**subscribed, "field": "member", "as": "client"}, AT, []), run, {}, AT)
    assert shown.shown == "c-1"
    epoch = {"type": "ConsumerMemberReconciled", "member": "c-1", "count": True}
    assert ask(read_query(epoch, AT, []), run, {}, AT).raw >= 1


def test_queries_of_the_picture_have_its_numbers_and_letters(lesson: Lesson, run: Run) -> None:
    """B is killed at 20 s and removed at 27.75 s; A has its two partitions at 30 s."""

    def asked(**query: Any) -> Any:
        return ask(read_query(query, AT, []), run, {}, AT).raw

    dead, free = 2 * 10_000, run.lost_ms(still=False)
    assert asked(lost="all") == run.lost_ms() == free
    assert asked(lost="unowned") == free >= dead
    assert asked(lost="owned") == 0
    assert asked(owner="orders-0", at="end") == "app-1"
    before, after = asked(owned_by="app-1", at=15_000), asked(owned_by="app-1", at="end")
    assert len(before) == 2 and len(after) == 4 and {*before} < {*after}
    assert asked(owned_by="app-1", at=[15_000, "end"]) == before
    assert asked(owned_by="app-2", at="end", **{"as": "number"}) == 0
    assert asked(kept=[15_000, "end"]) == 2
    (stop,) = run.activity("app-1", "stopped")
    takes = [asked(activity="stopped", member="app-1", take=take) for take in ("begin", "end")]
    assert tuple(takes) == stop
    length = asked(activity="stopped", member="app-1", take="length")
    assert length == stop[1] - stop[0]
    assert asked(activity="frozen", member="app-1", count=True) == 0


def test_a_try_compares_what_it_lost_with_the_lessons_run(lesson: Lesson, run: Run) -> None:
    (shorter,) = [each for each in lesson.tries if each.id == "close"]
    own = Run(shorter.lines, lesson.window_ms)
    before = ask(read_query({"lost": "all", "of": "lesson"}, AT, []), own, {}, AT, run)
    assert before.raw == run.lost_ms()
    less = {"lost": "all", "minus": "before", "as": "number"}
    found = ask(read_query(less, AT, ["before"]), own, {"before": before}, AT, run)
    assert (found.raw, found.shown) == (
        own.lost_ms() - run.lost_ms(),
        f"{(own.lost_ms() - run.lost_ms()) / 1000:g}",
    )


@pytest.mark.parametrize(
    ("query", "told"),
    [
        (3, 'a fact is a query, such as { type = "MemberJoined" }, not 3'),
        ({"kind": "x"}, "`kept` or `activity` or `from`; this one has kind"),
        ({"type": "MemberJoined", "memebr": "x"}, "did you mean member?"),
        ({"type": "memberjoined"}, "no type of line: did you mean MemberJoined"),
        ({"type": "MemberJoined", "stream": "wire"}, "a line of the stream group, not of wire"),
        ({"type": ["MemberJoined"]}, "give a text in quotes"),
        ({"type": "MemberRemoved", "where": 3}, 'such as { api = "heartbeat" }'),
        ({"type": "MemberRemoved", "where": {"raeson": ""}}, "did you mean reason?"),
        ({"type": "MemberRemoved", "where": {"reason": 3}}, "reason of MemberRemoved is a string"),
        ({"type": "MemberRemoved", "field": "resaon"}, "did you mean reason?"),
        ({"type": "MemberRemoved", "field": "reason", "as": "clinet"}, "did you mean client?"),
        ({"type": "MemberRemoved", "as": "client"}, "name one with `field`"),
        ({"type": "MemberRemoved", "nth": 0}, 'give a number from 1 on, or "last"'),
        ({"type": "MemberRemoved", "nth": "first"}, 'give a number from 1 on, or "last"'),
        ({"type": "MemberRemoved", "count": 1}, "give true, or leave it out"),
        ({"type": "MemberRemoved", "count": True, "nth": 2}, "has no `nth`, `field` or `as`"),
        ({"type": "MemberRemoved", "after": "joind"}, "did you mean joined?"),
        ({"type": "MemberRemoved", "before": -1}, "the name of a fact, or an instant in ms"),
        ({"from": "joined"}, "has `from` and `to`"),
        ({"from": "joined", "to": "remvoed"}, "is no fact above this one"),
        ({"from": "joined", "to": "joined", "nth": 2}, "is no key of a query with `from`"),
        ({"from": 3, "to": "joined"}, "3: give the name of a fact"),
        ({"lost": "everything"}, "the parts of what is lost are all, unowned, owned"),
        ({"lost": "all", "of": "lessn"}, "did you mean lesson?"),
        ({"lost": "all", "minus": "joind"}, "did you mean joined?"),
        ({"owner": "orders", "at": 3}, "give a partition, such as orders-0"),
        ({"owner": "orders-0"}, "say when: a fact, an instant in ms"),
        ({"owned_by": "app-1", "at": "joind"}, "did you mean joined?"),
        ({"kept": "joined"}, 'give two instants, such as ["joined", "end"]'),
        ({"activity": "stoped", "member": "app-1"}, "did you mean stopped?"),
        ({"activity": "stopped"}, "name the member whose activity is meant"),
        ({"activity": "stopped", "member": "a", "nth": 0}, "give a number from 1 on"),
        ({"activity": "stopped", "member": "a", "count": 3}, "give count = true"),
    ],
)
def test_a_wrong_query_says_what_would_be_right(query: Any, told: str) -> None:
    with pytest.raises(LessonError, match=r"^mine\.toml, line 1: facts\.mine") as error:
        read_query(query, AT, ["joined"])
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"type": "MemberJoined", "member": "ap-2"}, "did you mean app-2?"),
        ({"type": "MemberJoined", "member": "zzz"}, "the members of this run are app-"),
        ({"type": "MemberFenced"}, "no type of line"),
        ({"type": "GroupDeleted"}, "this run has no GroupDeleted"),
        ({"type": "MemberRemoved", "nth": 2}, "there are 1 such lines of MemberRemoved, not 2"),
        ({"type": "MemberRemoved", "where": {"reason": "lfet"}}, "the values of reason are"),
        ({"type": "MemberRemoved", "after": "removed"}, "(at 27.75 s) none is as this query"),
        ({"type": "MemberJoined", "field": "group_instance_id"}, "has no group_instance_id"),
        (
            {"type": "MemberRemoved", "field": "reason", "as": "duration"},
            "'duration' shows a number of ms",
        ),
        ({"from": "removed", "to": "began"}, "began (0.65 s) comes before removed (27.75 s)"),
        ({"from": "many", "to": "removed"}, "many is no instant but 2"),
        ({"type": "MemberRemoved", "after": "many"}, "many is no instant but 2"),
    ],
)
def test_a_query_without_an_answer_says_why(query: Any, told: str, run: Run) -> None:
    facts: dict[str, Value] = {}
    for name, given in (
        ("removed", {"type": "MemberRemoved"}),
        ("began", {"type": "RebalanceStarted"}),
        ("many", {"type": "MemberJoined", "count": True}),
    ):
        facts[name] = ask(read_query(given, AT, []), run, {}, AT)
    with pytest.raises(LessonError, match=r"^mine\.toml, line 1: facts\.mine") as error:
        ask(read_query(query, AT, list(facts)), run, facts, AT)
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"reason": "left"}, ""),
        ({"reason": {"is_not": "left"}}, "reason is_not 'left' does not hold: it is 'left'"),
        ({"count": {"at_least": 2, "at_most": 3}}, ""),
        ({"count": {"at_most": 1}}, "count at_most 1 does not hold: it is 2"),
        ({"short": {"shorter_than": "long"}, "long": {"longer_than": "short"}}, ""),
        ({"short": {"longer_than": "long"}}, "short longer_than long does not hold (5 and 7)"),
        ({"short": {"same_as": "short"}}, ""),
        ({"lesson": {"long": 9}}, ""),
    ],
)
def test_conditions_compare_facts(given: dict[str, Any], told: str) -> None:
    values = {
        "reason": Value("left", "left"),
        "count": Value(2, 2),
        "short": Value(5, "5 ms"),
        "long": Value(7, "7 ms"),
        "lesson.long": Value(9, "9 ms"),
    }
    assert broken(read_conditions(given, AT, values), values) == told


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"raeson": "left"}, "did you mean reason?"),
        ({"count": {"at_lest": 2}}, "did you mean at_least?"),
        ({"count": {"after": "raeson"}}, "did you mean reason?"),
        ({"reason": {"at_least": 2}}, "at_least compares numbers: reason is 'left'"),
        ({"count": {"after": "reason"}}, "after compares numbers: count is 2"),
    ],
)
def test_a_wrong_condition_says_what_would_be_right(given: dict[str, Any], told: str) -> None:
    values = {"reason": Value("left", "left"), "count": Value(2, 2)}
    with pytest.raises(LessonError, match=r"^mine\.toml, line 1: facts\.mine") as error:
        read_conditions(given, AT, values)
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("title =", "titel =", "line 1: titel: 'titel' is no key: did you mean title?"),
        ("minutes = 5\n", "", "line 1: the key minutes is missing"),
        ("minutes = 5", 'minutes = "5"', "line 3: minutes: '5': give a whole number"),
        ("title = ", "title ", "a lesson is a TOML file"),
        ("window_ms = [10000, 40000]", "window_ms = [40000]", "line 9: window_ms: [40000]: give"),
        ("stop_ms = 20500", "stop_ms = 35500", "line 8: stop_ms: 35500: the question stands"),
        ("{waited}", "{wated}", "explanation: {wated} is no fact: did you mean waited?"),
        ("{waited}", "{waited", "explanation: its braces cannot be filled in"),
        ("{do[0][at]}", "{do[1][at]}", "setting: its braces cannot be filled in"),
        ('"kill"', '"kil"', "line 20: actions: 'kil' is no action"),
        ("reads = 0", "raeds = 0", "line 35: raeds is no key of members: did you mean reads?"),
        ('fact = "assigned"', 'fact = "asigned"', "truth.fact: 'asigned' is no fact: did you"),
        ('fact = "assigned"', 'fact = "waited"', "waited selects no single line"),
        ('lane = "app-1"', 'lane = "app-3"', "'app-3' is no member here: did you mean app-"),
        ('id = "never"', 'id = "session"', "'session' is there twice"),
        ('id = "never"', 'id = "ne ver"', "letters, digits, - and _ alone"),
        ("at_most = 1000", "at_most = 9000", "makes at-once and session right, and one option"),
        ("at_least = 1001", "at_least = 9000", "no option is right by this run"),
        ("without = [0]", "without = [1]", "1: give numbers of the lesson's actions, from 0 to 0"),
        ('before = "lesson.removed"', 'after = "lesson.removed"', "the run is otherwise than"),
        ("[tries.facts]", "[tries.fact]", "tries.fact: 'fact' is no key: did you mean facts?"),
        ("died = {", "session = {", "'session' is no name for a fact"),
    ],
)
def test_a_wrong_lesson_says_where_and_what_would_be_right(old: str, new: str, told: str) -> None:
    assert old in TEXT
    with pytest.raises(LessonError) as error:
        read(TEXT.replace(old, new, 1), "mine.toml", "mine", 1)
    said = str(error.value)
    assert re.match(r"mine\.toml(, line \d+)?: ", said)
    assert told in said


def test_a_try_that_changes_nothing_is_told() -> None:
    text = TEXT.replace(
        'without = [0]\nactions = [{ kind = "close", member = "app-2", at_ms = 20000 }]', ""
    )
    text = text.replace("{act[0][at]}", "")
    with pytest.raises(LessonError, match="tries: the run does not change by this"):
        read(text, "mine.toml", "mine", 1)


def test_a_lesson_without_tries_is_one() -> None:
    lesson = read(TEXT[: TEXT.index("[[tries]]")], "mine.toml", "mine", 1)
    assert lesson.tries == () and lesson.answer == "session"


def test_the_page_of_a_lesson_of_ones_own_has_a_picture_and_explains_words(
    lesson: Lesson, tmp_path: Path
) -> None:
    """Without scripts, and where Node is not there to draw it."""
    write_own_site(tmp_path / "site", [lesson])
    page = (tmp_path / "site" / f"{lesson.slug}.html").read_text(encoding="utf-8")
    assert '<abbr title="' in page
    svg = ET.fromstring(still(lesson))
    titles = [each.text for each in svg.iter("title")]
    assert "Stable" in titles and "works" in titles
    assert {"A", "B"} <= set(titles), "owners of partitions"
    texts = [each.text for each in svg.iter("text")]
    assert {"coordinator", "orders-0", "orders-3"} <= set(texts)
    assert still(lesson) in page
    rights = [float(each.attrib["x"]) + float(each.attrib["width"]) for each in svg.iter("rect")]
    low_ms, high_ms = lesson.window_ms
    until = 104 + (lesson.stop_ms - low_ms) * (960 - 112) / (high_ms - low_ms)
    assert max(rights) <= until + 0.1, "nothing is shown that comes after the question"
