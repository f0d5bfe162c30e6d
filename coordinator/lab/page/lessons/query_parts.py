"""What every kind of query has: where it stands, its answer, and the facts and instants that it names.

`queries.py` reads and answers queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from coordinator.events.line import Line

from .places import LessonError, Places, nearest

Plain: TypeAlias = dict[str, Any]


class Value(NamedTuple):
    """The answer to a query. `raw`: what conditions compare, instants and durations in ms; `shown`:
    what a text shows; `is_instant`: whether `raw` is an instant; `line`: the line that was selected,
    None if the query selects none."""

    raw: Any
    shown: Any
    is_instant: bool = False
    line: Line | None = None


@dataclass(frozen=True, slots=True)
class At:
    """Where a query stands: for its errors."""

    places: Places
    table: str
    index: int
    key: str

    def error(self, what: str, key: str = "") -> LessonError:
        """Return an error with the line of the query, or of one of its keys."""
        return self.places.error(
            what, self.table, self.index, ".".join(filter(None, (self.key, key)))
        )


def text_of(given: Plain, key: str, at: At) -> str | None:
    value = given.get(key)
    if value is not None and not isinstance(value, str):
        raise at.error(f"{value!r}: give a text in quotes", key)
    return value


def moment_of(given: Plain, key: str, at: At, known: Sequence[str]) -> str | int | None:
    """The fact that selects an event, or an instant in ms."""
    value = given.get(key)
    if isinstance(value, str):
        return fact_of(value, key, at, known)
    if value is not None and (type(value) is not int or value < 0):
        raise at.error(f"{value!r}: give the name of a fact, or an instant in ms", key)
    return value


def fact_of(name: object, key: str, at: At, known: Sequence[str]) -> str:
    if not isinstance(name, str):
        raise at.error(f"{name!r}: give the name of a fact", key)
    if name not in known:
        right = nearest(name, known, "the facts above this one")
        raise at.error(f"{name!r} is no fact above this one: {right}", key)
    return name


def instant_of(value: Value, name: str, at: At) -> int:
    """The instant of a fact: what it shows, or that of the line it is taken from."""
    if value.is_instant:
        return int(value.raw)
    if value.line is None:
        raise at.error(f"{name} is no instant but {value.raw!r}")
    return value.line.at_ms
