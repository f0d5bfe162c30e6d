"""The lessons: one TOML file each, with a scenario, a question, and texts whose facts the engine
computes.

`load` reads one, plays its scenario and fills the facts in, so that no number in a text is written
by hand. Raises LessonError for a file that is no lesson. Does not depend on the page that shows it.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from ...event_log.reader import Line, read_lines
from ..choices import choices
from ..engine import picture_of, play
from .answers import ANSWERS

SEED: Final = 1
_KEYS: Final = frozenset(
    {
        "title",
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
        "try",
        "scenario",
        "variants",
        "actions",
    }
)


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
class Lesson:
    """A lesson whose facts are filled in. `answer`: the right option's id. `stop_ms`: until when
    the picture is shown before the answer."""

    slug: str
    number: int
    title: str
    minutes: int
    setting: str
    question: str
    options: tuple[Option, ...]
    answer: str
    stop_ms: int
    window_ms: tuple[int, int]
    truth_ms: int | None
    truth: str
    explanation: tuple[str, ...]
    aha: str
    misconception: str
    shown: str
    tries: tuple[str, ...]
    variants: tuple[tuple[str, tuple[str, ...]], ...]
    scenario: str
    script: tuple[dict[str, Any], ...]
    """What happens in the lesson beside its scenario: actions as a learner takes them."""
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
            "truth": self.truth,
            "variants": [
                {"name": name, "settings": list(settings)} for name, settings in self.variants
            ],
            "choices": choices(self.scenario, self.slug),
            "script": list(self.script),
            "picture": picture_of(self.lines).plain(),
        }


def slugs() -> list[str]:
    """The lessons in their order, such as `01_leader_dies`."""
    there = [each.name for each in files(__package__).iterdir()]
    return sorted(name.removesuffix(".toml") for name in there if name.endswith(".toml"))


def load(slug: str) -> Lesson:
    """A lesson, played and filled in. Raises LessonError."""
    try:
        given = tomllib.loads(
            files(__package__).joinpath(f"{slug}.toml").read_text(encoding="utf-8")
        )
    except FileNotFoundError:
        raise LessonError(f"there is no lesson {slug}; they are {', '.join(slugs())}") from None
    wrong = given.keys() ^ _KEYS
    if wrong - {"variants", "try", "actions"}:
        raise LessonError(f"{slug}: keys that are missing or not known: {', '.join(sorted(wrong))}")
    lines = play(given["scenario"], slug, SEED, script=given.get("actions", ()))
    facts = ANSWERS[slug](Run(lines))
    return _filled(slug, given, facts, lines)


def _filled(slug: str, given: dict[str, Any], facts: dict[str, Any], lines: list[str]) -> Lesson:
    def fill(text: str) -> str:
        return text.strip().format_map(facts)

    options = tuple(
        Option(row["id"], fill(row["text"]), row.get("lane")) for row in given["options"]
    )
    if facts["answer"] not in {option.id for option in options}:
        raise LessonError(f"{slug}: the engine's answer {facts['answer']!r} is none of the options")
    low, high = given["window_ms"]
    return Lesson(
        slug,
        int(slug[:2]),
        given["title"],
        given["minutes"],
        fill(given["setting"]),
        fill(given["question"]),
        options,
        facts["answer"],
        given["stop_ms"],
        (low, high),
        facts.get("truth_ms"),
        facts.get("truth", ""),
        tuple(fill(part) for part in given["explanation"].strip().split("\n\n")),
        fill(given["aha"]),
        fill(given["misconception"]),
        fill(given["shown"]),
        tuple(map(fill, given.get("try", ()))),
        tuple((row["name"], tuple(row["settings"])) for row in given.get("variants", ())),
        given["scenario"],
        tuple(given.get("actions", ())),
        facts,
        tuple(lines),
    )


class Run:
    """A played lesson's log, for the functions that compute its facts."""

    def __init__(self, lines: list[str]) -> None:
        self.lines: list[Line] = list(read_lines((line + "\n" for line in lines), "lesson"))
        self.picture = picture_of(lines)
        self.plain = self.picture.plain()

    def all(self, kind: str, **match: Any) -> list[Line]:
        """The lines of a type whose fields are these; `client` also matches the beginning of a
        member id."""
        return [
            line
            for line in self.lines
            if line["type"] == kind
            and all(_matches(line, key, value) for key, value in match.items())
        ]

    def first(self, kind: str, *, after_ms: int = -1, **match: Any) -> Line:
        """The first of them after an instant."""
        return next(line for line in self.all(kind, **match) if line["at_ms"] > after_ms)

    def activity(self, name: str, doing: str) -> list[tuple[int, int]]:
        """When a member did something, such as `stopped`."""
        lane = next(lane for lane in self.plain["groups"][0]["lanes"] if lane["name"] == name)
        return [(begin, end) for begin, end, does in lane["activity"] if does == doing]

    def owner(self, partition: int, at_ms: int) -> str | None:
        """The member that owned a partition of the first topic at an instant."""
        group = self.plain["groups"][0]
        row = next(row for row in group["raster"] if row["partition"] == partition)
        span = next((span for span in row["spans"] if span[0] <= at_ms < span[1]), None)
        return group["lanes"][span[2][0]]["name"] if span is not None and span[2] else None


def _matches(line: Line, key: str, value: Any) -> bool:
    if key == "client":
        return line.get("client") == value or str(line.get("member", "")).startswith(f"{value}-")
    return bool(line.get(key) == value)
