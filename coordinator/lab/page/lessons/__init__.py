"""The lessons: one TOML file each, with a scenario, a question, and texts whose facts the engine
computes.

`load` reads one, plays its scenario and fills the facts in, so that no number in a text is written
by hand. Raises LessonError for a file that is no lesson. Does not depend on the page that shows it.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from coordinator.history.explain.formatting import duration

from ...simulator.files.scenario import read_scenario
from ..choices import choices
from ..differing import compared
from ..engine import changed, picture_of, play
from ..offers import offers
from .answers import ANSWERS
from .runs import Run, filled, told
from .trying import TRIES

SEED: Final = 1
_KEYS: Final = frozenset(
    {
        "title",
        "asks",
        "minutes",
        "setting",
        "question",
        "options",
        "stop_ms",
        "window_ms",
        "explanation",
        "aha",
        "misconception",
        "shown",
        "tries",
        "scenario",
        "variants",
        "actions",
        "lanes",
    }
)


_OF_A_TRY: Final = frozenset({"id", "text", "without", "actions", "settings", "window_ms", "says"})


class LessonError(ValueError):
    """A file that is no lesson: which, and what is wrong."""


@dataclass(frozen=True, slots=True)
class Option:
    """One possible prediction. `lane`: the name of the member beside which it is marked on the
    picture."""

    id: str
    text: str
    lane: str | None


@dataclass(frozen=True, slots=True)
class Try:
    """Something to change: what is left out of the lesson's script (by number), what is done
    instead, under which settings; and what comes of it. `lines`: the log of that run."""

    id: str
    text: str
    without: tuple[int, ...]
    actions: tuple[dict[str, Any], ...]
    settings: tuple[str, ...]
    window_ms: tuple[int, int]
    says: str
    named_ms: tuple[int, ...]
    """The instants that `says` names, in its order."""
    truth_ms: int
    """The instant that `says` is about: there the cursor stands, and `truth` is written in the
    lane of `truth_lane`."""
    truth_seq: int
    truth: str
    truth_lane: str | None
    facts: dict[str, Any]
    lines: tuple[str, ...]
    offers: dict[str, list[str] | None]
    """The actions on its members."""

    def plain(self) -> dict[str, Any]:
        """As JSON values, without the picture."""
        return {
            "id": self.id,
            "text": self.text,
            "without": list(self.without),
            "actions": list(self.actions),
            "settings": list(self.settings),
            "window_ms": list(self.window_ms),
            "says": self.says,
            "named_ms": list(self.named_ms),
            "truth_ms": self.truth_ms,
            "truth_seq": self.truth_seq,
            "truth": self.truth,
            "truth_lane": self.truth_lane,
        }

    def run(self, before: dict[str, Any]) -> dict[str, Any]:
        """Its picture, and what differs from the picture before."""
        picture = picture_of(self.lines).plain()
        said = compared(before, picture, self.actions, self.window_ms)
        return {"picture": picture, "changed": said, "offers": self.offers}


@dataclass(frozen=True, slots=True)
class Lesson:
    """A lesson whose facts are filled in. `answer`: the right option's id. `stop_ms`: until when
    the picture is shown before the answer; `truth_seq`: the line that was asked about."""

    slug: str
    number: int
    title: str
    asks: str
    """The question in a few words, for the list of lessons."""
    minutes: int
    setting: str
    question: str
    options: tuple[Option, ...]
    answer: str
    stop_ms: int
    window_ms: tuple[int, int]
    truth_ms: int
    truth_seq: int
    truth: str
    truth_lane: str | None
    explanation: tuple[str, ...]
    named_ms: tuple[tuple[int, ...], ...]
    """The instants that each paragraph of the explanation names, in its order."""
    aha: str
    misconception: str
    shown: str
    tries: tuple[Try, ...]
    variants: tuple[tuple[str, tuple[str, ...]], ...]
    scenario: str
    lanes: tuple[str, ...]
    """The members that the question is about; on a small screen the others are folded."""
    script: tuple[dict[str, Any], ...]
    """The events of the lesson beside its scenario: actions as a learner takes them."""
    facts: dict[str, Any]
    lines: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        """As JSON values for the page, with the picture."""
        return {
            "slug": self.slug,
            "number": self.number,
            "title": self.title,
            "seed": SEED,
            "scenario": self.scenario,
            "options": [
                {"id": each.id, "text": each.text, "lane": each.lane} for each in self.options
            ],
            "answer": self.answer,
            "stop_ms": self.stop_ms,
            "window_ms": list(self.window_ms),
            "truth_ms": self.truth_ms,
            "truth_seq": self.truth_seq,
            "truth": self.truth,
            "truth_lane": self.truth_lane,
            "tries": [each.plain() for each in self.tries],
            "variants": [
                {"name": name, "settings": list(settings)} for name, settings in self.variants
            ],
            "choices": choices(self.scenario, self.slug),
            "script": list(self.script),
            "lanes": list(self.lanes),
            "offers": offers(changed(self.scenario, self.slug, (), (), self.script)[0]),
            "picture": picture_of(self.lines).plain(),
        }


def slugs() -> list[str]:
    """The lessons in their order, such as `01_leader_dies`."""
    there = [each.name for each in files(__package__).iterdir()]
    return sorted(name.removesuffix(".toml") for name in there if name.endswith(".toml"))


@cache
def load(slug: str) -> Lesson:
    """A lesson, played and filled in, once in a process. Raises LessonError."""
    try:
        given = tomllib.loads(
            files(__package__).joinpath(f"{slug}.toml").read_text(encoding="utf-8")
        )
    except FileNotFoundError:
        raise LessonError(f"there is no lesson {slug}; they are {', '.join(slugs())}") from None
    wrong = given.keys() ^ _KEYS
    if wrong - {"variants", "tries", "actions", "lanes"}:
        raise LessonError(f"{slug}: keys that are missing or not known: {', '.join(sorted(wrong))}")
    script, (low, high) = given.get("actions", []), given["window_ms"]
    lines = play(given["scenario"], slug, SEED, script=script)
    run = Run(lines, (low, high), script)
    usual = _usual(given["scenario"], slug, script)
    facts = usual | ANSWERS[slug](run)
    tries = tuple(_tried(slug, given, row, usual, run) for row in given.get("tries", ()))
    return _filled(slug, given, facts, lines, tries)


def _usual(scenario: str, slug: str, script: list[dict[str, Any]]) -> dict[str, Any]:
    """Facts that every lesson has: what its scenario and its script say."""
    read = read_scenario(scenario, slug)
    first = read.kinds[0].properties
    return {
        "do": [told(each) for each in script],
        "partitions": next(iter(read.topics.values())),
        "brokers": read.brokers,
        "delay": duration(read.delay_ms[0]),
        "processing": duration(
            read.share_members[0].work.processing_ms if read.share_members else 0
        ),
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


def _tried(
    slug: str, given: dict[str, Any], row: dict[str, Any], usual: dict[str, Any], base: Run
) -> Try:
    unknown = row.keys() - _OF_A_TRY
    if unknown:
        raise LessonError(
            f"{slug}: a try has keys that are not known: {', '.join(sorted(unknown))}"
        )
    without, actions = tuple(row.get("without", ())), tuple(row.get("actions", ()))
    settings = tuple(row.get("settings", ()))
    low, high = row.get("window_ms", given["window_ms"])
    script = [each for at, each in enumerate(given.get("actions", ())) if at not in without]
    lines = play(given["scenario"], slug, SEED, settings, actions, script)
    facts = usual | {"act": [told(each) for each in actions]}
    window = (low, high)
    run = Run(lines, window, [*script, *actions])
    facts |= TRIES[slug, row["id"]](run, base.within(window))
    text, _ = filled(row["text"], facts)
    says, named = filled(row["says"], facts)
    scenario, _ = changed(given["scenario"], slug, settings, actions, script)
    return Try(
        row["id"],
        text,
        without,
        actions,
        settings,
        window,
        says,
        named,
        facts["truth_ms"],
        facts["truth_seq"],
        facts["truth"],
        facts["truth_lane"],
        facts,
        tuple(lines),
        offers(scenario),
    )


def _filled(
    slug: str,
    given: dict[str, Any],
    facts: dict[str, Any],
    lines: list[str],
    tries: tuple[Try, ...],
) -> Lesson:
    def fill(text: str) -> str:
        return filled(text, facts)[0]

    options = tuple(
        Option(row["id"], fill(row["text"]), row.get("lane")) for row in given["options"]
    )
    if facts["answer"] not in {option.id for option in options}:
        raise LessonError(f"{slug}: the engine's answer {facts['answer']!r} is none of the options")
    low, high = given["window_ms"]
    explained = [filled(part, facts) for part in given["explanation"].strip().split("\n\n")]
    return Lesson(
        slug,
        int(slug[:2]),
        given["title"],
        given["asks"],
        given["minutes"],
        fill(given["setting"]),
        fill(given["question"]),
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
        fill(given["aha"]),
        fill(given["misconception"]),
        fill(given["shown"]),
        tries,
        tuple((row["name"], tuple(row["settings"])) for row in given.get("variants", ())),
        given["scenario"],
        tuple(given.get("lanes", dict.fromkeys(each.lane for each in options if each.lane))),
        tuple(given.get("actions", ())),
        facts,
        tuple(lines),
    )
