"""A lesson whose facts are filled in: what the page shows of it, with the pictures of its runs.

Values only; `reading` makes them. Does not know files or HTML.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ..choices import choices
from ..differing import compared
from ..engine import changed, picture_of
from ..offers import offers

SEED: Final = 1
"""The seed of all runs of lessons."""


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
    named: tuple[str, ...]
    """The facts that its file names by queries, in its order."""
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
