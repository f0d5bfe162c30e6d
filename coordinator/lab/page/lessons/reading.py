"""Reads a lesson: plays its scenario, fills the facts of the run into its texts, and checks that the
lesson holds together.

`read` takes the text of any lesson's file. A lesson names its facts by queries (`queries`, in
`[facts]`), or, for some of ours, by functions (`answers`, `trying`). Does not know the page that
shows it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from coordinator.history.explain.formatting import duration

from ...simulator.files.model import Scenario
from ...simulator.files.reading import ScenarioError
from ...simulator.files.scenario import read_scenario
from ..acting import ActionError
from ..engine import changed, play
from ..offers import offers
from .conditions import broken, read_conditions
from .model import SEED, Lesson, Option, Try
from .places import LessonError, Places, nearest
from .queries import Query, ask, read_query
from .query_parts import At, Value
from .runs import Run, filled, seen, told

Facts = dict[str, Any]
Plain = dict[str, Any]


class Computed(NamedTuple):
    """Functions that compute the facts of a lesson, and of each of its tries by its id."""

    answer: Callable[[Run], Facts]
    tries: Mapping[str, Callable[[Run, Run], Facts]]


_TEXT, _NUMBER, _LIST, _TABLE, _WINDOW = (
    "a text in quotes",
    "a whole number",
    "an array",
    "a table",
    "an array of two instants in ms, the first before the second",
)
_KEYS: Final = {
    "title": _TEXT,
    "asks": _TEXT,
    "minutes": _NUMBER,
    "setting": _TEXT,
    "question": _TEXT,
    "stop_ms": _NUMBER,
    "window_ms": _WINDOW,
    "explanation": _TEXT,
    "aha": _TEXT,
    "misconception": _TEXT,
    "shown": _TEXT,
    "scenario": _TEXT,
    "options": _LIST,
    "facts": _TABLE,
    "truth": _TABLE,
    "lanes": _LIST,
    "actions": _LIST,
    "variants": _LIST,
    "tries": _LIST,
}
_MAY_MISS: Final = frozenset({"lanes", "actions", "variants", "tries"})
_OF_AN_OPTION: Final = {"id": _TEXT, "text": _TEXT, "lane": _TEXT, "right_if": _TABLE}
_OF_A_TRY: Final = {
    "id": _TEXT,
    "text": _TEXT,
    "says": _TEXT,
    "without": _LIST,
    "actions": _LIST,
    "settings": _LIST,
    "window_ms": _WINDOW,
    "facts": _TABLE,
    "truth": _TABLE,
    "says_if": _TABLE,
}
_OF_A_TRUTH: Final = {"fact": _TEXT, "text": _TEXT, "lane": _TEXT}
_OF_A_VARIANT: Final = {"name": _TEXT, "settings": _LIST}
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def read(text: str, name: str, slug: str, number: int, computed: Computed | None = None) -> Lesson:
    """Return the lesson of a file's text, played. `name`: the file, for errors; `slug`: its name in
    addresses. Raises LessonError."""
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LessonError(f"{name}: {error}; a lesson is a TOML file") from None
    return _Reading(Places(text, name), text, given, slug, number, computed).lesson()


class _Reading:
    """One file on its way to a lesson."""

    def __init__(
        self,
        places: Places,
        text: str,
        given: Plain,
        slug: str,
        number: int,
        computed: Computed | None,
    ) -> None:
        self.places = places
        self.text = text
        self.given = given
        self.slug = slug
        self.number = number
        self.computed = computed

    def lesson(self) -> Lesson:
        given = self.given
        self._check_form()
        scenario = self._scenario()
        script = given.get("actions", [])
        lines = self._play((), (), script, "actions", 0)
        low, high = given["window_ms"]
        run = Run(lines, (low, high), script)
        usual = _usual(scenario, script)
        values: dict[str, Value] = {}
        if self.computed is not None:
            facts = usual | self.computed.answer(run)
        else:
            facts, values = self._asked("facts", 0, "", given["facts"], run, usual, {})
            facts |= self._truth("truth", 0, "", given["truth"], facts, values)
            facts["answer"] = self._answer(values)
        tries = tuple(
            self._try(index, row, scenario, usual, facts, values, run)
            for index, row in enumerate(given.get("tries", ()))
        )
        made = self._filled(facts, lines, tries)
        self._check_run(made, run)
        return made

    # -- form

    def _check_form(self) -> None:
        given = self.given
        keys = {
            key: kind
            for key, kind in _KEYS.items()
            if self.computed is None or key not in ("facts", "truth")
        }
        self._check_keys("", 0, "", given, keys, _MAY_MISS)
        self._check_rows("options", _OF_AN_OPTION, frozenset({"lane", "right_if"}))
        self._check_rows(
            "tries", _OF_A_TRY, frozenset(_OF_A_TRY) - {"id", "text", "says"} - self._needs()
        )
        self._check_rows("variants", _OF_A_VARIANT, frozenset())
        for table in ("options", "tries"):
            ids: set[str] = set()
            for index, row in enumerate(given.get(table, ())):
                if not _ID.fullmatch(row["id"]):
                    what = f"{row['id']!r}: letters, digits, - and _ alone, please"
                    raise self.places.error(what, table, index, "id")
                if row["id"] in ids:
                    raise self.places.error(f"{row['id']!r} is there twice", table, index, "id")
                ids.add(row["id"])
        if len(given["options"]) < 2:
            raise self.places.error("a question has two options or more", "options")

    def _needs(self) -> frozenset[str]:
        return frozenset({"facts", "truth"} if self.computed is None else ())

    def _check_rows(self, table: str, keys: Mapping[str, str], may_miss: frozenset[str]) -> None:
        for index, row in enumerate(self.given.get(table, ())):
            if not isinstance(row, dict):
                raise self.places.error(f"{row!r}: give tables, [[{table}]]", table)
            self._check_keys(table, index, "", row, keys, may_miss)

    def _check_keys(
        self,
        table: str,
        index: int,
        inner: str,
        given: Plain,
        keys: Mapping[str, str],
        may_miss: frozenset[str],
    ) -> None:
        """Check the names and the types of a table's keys."""
        for key, value in given.items():
            path = ".".join(filter(None, (inner, key)))
            if key not in keys:
                right = nearest(key, keys, "the keys here")
                raise self.places.error(f"{key!r} is no key: {right}", table, index, path)
            if not _is(value, keys[key]):
                raise self.places.error(f"{value!r}: give {keys[key]}", table, index, path)
        for key in keys:
            if key not in given and key not in may_miss:
                raise self.places.error(f"the key {key} is missing", table, index, inner)

    # -- playing

    def _scenario(self) -> Scenario:
        """The scenario; its errors name the lines of the lesson's file."""
        text: str = self.given["scenario"]
        before = self.text.find(text)
        lines = self.text.count("\n", 0, before) if before > 0 else 0
        try:
            read_scenario("\n" * lines + text, self.places.name)
        except ScenarioError as error:
            raise LessonError(str(error)) from None
        return read_scenario(text, self.slug)

    def _play(
        self,
        settings: Sequence[str],
        actions: Sequence[Plain],
        script: Sequence[Plain],
        table: str,
        index: int,
        key: str = "",
    ) -> list[str]:
        try:
            return play(self.given["scenario"], self.slug, SEED, settings, actions, script)
        except (ScenarioError, ActionError, AttributeError) as error:
            raise self.places.error(str(error), table, index, key) from None

    # -- facts

    def _asked(
        self,
        table: str,
        index: int,
        inner: str,
        given: Plain,
        run: Run,
        usual: Facts,
        above: Mapping[str, Value],
        base: Run | None = None,
    ) -> tuple[Facts, dict[str, Value]]:
        """The facts of a run, for texts, and their values, in the order in which they are given.
        `above`: what they may name beside each other. `base`: the lesson's run, beside a try's."""
        values: dict[str, Value] = {}
        queries: list[tuple[str, Query, At]] = []
        for name, row in given.items():
            at = At(self.places, table, index, ".".join(filter(None, (inner, name))))
            if name in usual or name in ("lesson", "answer") or not name.isidentifier():
                right = "take a name of letters, digits and _ that no lesson has by itself"
                raise at.error(f"{name!r} is no name for a fact: {right}")
            queries.append(
                (name, read_query(row, at, [*above, *(each[0] for each in queries)]), at)
            )
        for name, query, at in queries:
            values[name] = ask(query, run, {**above, **values}, at, base)
        return usual | {name: value.shown for name, value in values.items()}, values

    def _truth(
        self,
        table: str,
        index: int,
        inner: str,
        given: Plain,
        facts: Facts,
        values: Mapping[str, Value],
    ) -> Facts:
        """What is marked on the picture."""
        self._check_keys(table, index, inner, given, _OF_A_TRUTH, frozenset({"lane"}))
        name, key = given["fact"], ".".join(filter(None, (inner, "fact")))
        if name not in values:
            right = nearest(name, values, "the facts")
            raise self.places.error(f"{name!r} is no fact: {right}", table, index, key)
        line = values[name].line
        if line is None:
            what = f"{name} selects no single line; a line is what is marked on the picture"
            raise self.places.error(what, table, index, key)
        text, _ = self._fill(given["text"], facts, table, index, key)
        lane = None
        if "lane" in given:
            lane, _ = self._fill(given["lane"], facts, table, index, key)
        return seen(line, text, lane)

    def _answer(self, values: Mapping[str, Value]) -> str:
        """The id of the one option whose conditions hold."""
        right = []
        for index, row in enumerate(self.given["options"]):
            if "right_if" not in row:
                continue
            at = At(self.places, "options", index, "right_if")
            if not broken(read_conditions(row["right_if"], at, values), values):
                right.append(row["id"])
        if len(right) == 1:
            return str(right[0])
        raws = ", ".join(f"{name} = {value.raw!r}" for name, value in values.items())
        what = (
            f"the run makes {' and '.join(right)} right, and one option alone can be"
            if right
            else "no option is right by this run: `right_if` says under which facts one is"
        )
        raise self.places.error(f"{what} (the run has {raws})", "options")

    # -- tries

    def _try(
        self,
        index: int,
        row: Plain,
        scenario: Scenario,
        usual: Facts,
        of_lesson: Facts,
        values: Mapping[str, Value],
        base: Run,
    ) -> Try:
        given = self.given
        without, actions = tuple(row.get("without", ())), tuple(row.get("actions", ()))
        settings = tuple(row.get("settings", ()))
        whole: list[Plain] = given.get("actions", [])
        for each in without:
            if type(each) is not int or not 0 <= each < len(whole):
                what = f"{each!r}: give numbers of the lesson's actions, from 0 to {len(whole) - 1}"
                raise self.places.error(what, "tries", index, "without")
        low, high = row["window_ms"] if "window_ms" in row else given["window_ms"]
        script = [each for at, each in enumerate(whole) if at not in without]
        lines = self._play(
            settings, actions, script, "tries", index, "settings" if settings else "actions"
        )
        if self.computed is None and lines == list(base.texts):
            raise self.places.error("the run does not change by this", "tries", index)
        facts = usual | {"act": [told(each) for each in actions]}
        run = Run(lines, (low, high), [*script, *actions])
        if self.computed is not None:
            facts |= self.computed.tries[row["id"]](run, base.within((low, high)))
        else:
            # Lines of two runs are compared by their instants: their numbers differ.
            above = {f"lesson.{name}": value._replace(line=None) for name, value in values.items()}
            facts |= {"lesson": of_lesson}
            facts, own = self._asked("tries", index, "facts", row["facts"], run, facts, above, base)
            facts |= self._truth("tries", index, "truth", row["truth"], facts, own)
            at = At(self.places, "tries", index, "says_if")
            wrong = broken(
                read_conditions(row.get("says_if", {}), at, {**above, **own}), {**above, **own}
            )
            if wrong:
                raise at.error(f"the run is otherwise than `says` says: {wrong}")
        text, _ = self._fill(row["text"], facts, "tries", index, "text")
        says, named = self._fill(row["says"], facts, "tries", index, "says")
        changed_one, _ = changed(given["scenario"], self.slug, settings, actions, script)
        return Try(
            row["id"],
            text,
            without,
            actions,
            settings,
            (low, high),
            says,
            named,
            facts["truth_ms"],
            facts["truth_seq"],
            facts["truth"],
            facts["truth_lane"],
            facts,
            tuple(lines),
            offers(changed_one),
        )

    # -- texts

    def _fill(
        self, text: str, facts: Facts, table: str, index: int, key: str
    ) -> tuple[str, tuple[int, ...]]:
        try:
            return filled(text, facts)
        except KeyError as error:
            name = str(error.args[0])
            right = nearest(name, facts, "the facts")
            raise self.places.error(f"{{{name}}} is no fact: {right}", table, index, key) from None
        except (ValueError, IndexError, AttributeError, TypeError) as error:
            what = f"its braces cannot be filled in: {error}"
            raise self.places.error(what, table, index, key) from None

    def _filled(self, facts: Facts, lines: list[str], tries: tuple[Try, ...]) -> Lesson:
        given = self.given

        def fill(key: str) -> str:
            return self._fill(given[key], facts, "", 0, key)[0]

        options = tuple(
            Option(
                row["id"],
                self._fill(row["text"], facts, "options", index, "text")[0],
                row.get("lane"),
            )
            for index, row in enumerate(given["options"])
        )
        if facts["answer"] not in {option.id for option in options}:
            what = f"the engine's answer {facts['answer']!r} is none of the options"
            raise self.places.error(what, "options")
        low, high = given["window_ms"]
        explained = [
            self._fill(part, facts, "", 0, "explanation")
            for part in given["explanation"].strip().split("\n\n")
        ]
        return Lesson(
            self.slug,
            self.number,
            given["title"],
            given["asks"],
            given["minutes"],
            fill("setting"),
            fill("question"),
            options,
            facts["answer"],
            given["stop_ms"],
            (low, high),
            facts["truth_ms"],
            facts["truth_seq"],
            facts["truth"],
            facts["truth_lane"],
            tuple(text for text, _ in explained),
            tuple(named for _, named in explained),
            fill("aha"),
            fill("misconception"),
            fill("shown"),
            tries,
            tuple((row["name"], tuple(row["settings"])) for row in given.get("variants", ())),
            given["scenario"],
            tuple(given.get("lanes", dict.fromkeys(each.lane for each in options if each.lane))),
            tuple(given.get("actions", ())),
            facts,
            tuple(given.get("facts", ())),
            tuple(lines),
        )

    # -- what the page needs of a run

    def _check_run(self, made: Lesson, run: Run) -> None:
        """Check that the question stands before its answer, and that lanes and marks are there."""
        low, high = made.window_ms
        if not low < made.stop_ms < made.truth_ms <= high:
            what = (
                f"the question stands at stop_ms, within window_ms ({low} to {high}), and what is"
                f" marked comes after it and within the window: it is at {made.truth_ms}"
            )
            raise self.places.error(f"{made.stop_ms}: {what}", "", 0, "stop_ms")
        lanes = [lane["name"] for lane in run.group["lanes"]]
        named = [("options", index, "lane", each.lane) for index, each in enumerate(made.options)]
        named += [("", 0, "lanes", each) for each in made.lanes]
        named += [("truth", 0, "lane", made.truth_lane)]
        for table, index, key, lane in named:
            if lane is not None and lane not in lanes:
                right = nearest(lane, lanes, "the members on the picture")
                raise self.places.error(f"{lane!r} is no member here: {right}", table, index, key)
        for _, settings in made.variants:
            self._play(settings, (), self.given.get("actions", []), "variants", 0, "settings")


def _is(value: object, kind: str) -> bool:
    """Return whether a key's value is of its kind."""
    if kind == _WINDOW:
        return (
            isinstance(value, list)
            and len(value) == 2
            and all(type(each) is int and each >= 0 for each in value)
            and value[0] < value[1]
        )
    wanted = {_TEXT: str, _NUMBER: int, _LIST: list, _TABLE: dict}[kind]
    return type(value) is wanted and value != ""


def _usual(read: Scenario, script: list[dict[str, Any]]) -> Facts:
    """Facts that every lesson has: what its scenario and its script say."""
    first = read.kinds[0].properties
    return {
        "do": [told(each) for each in script],
        "partitions": next(iter(read.topics.values())),
        "brokers": read.brokers,
        "delay": duration(read.delay_ms[0]),
        "processing": duration(_processing_ms(read)),
        "duration": duration(read.duration_ms),
        **{
            name: duration(int(first.get(key, 0)))
            for name, key in (
                ("session", "session.timeout.ms"),
                ("heartbeat", "heartbeat.interval.ms"),
                ("poll_interval", "max.poll.interval.ms"),
                ("commit_interval", "auto.commit.interval.ms"),
            )
        },
    }


def _processing_ms(read: Scenario) -> int:
    """How long the first kind of members works on each record."""
    if read.share_members:
        return read.share_members[0].work.processing_ms
    consuming = read.members[0].consuming
    return 0 if consuming is None else consuming.processing_ms
