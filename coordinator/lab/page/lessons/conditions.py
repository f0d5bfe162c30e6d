"""Conditions on facts: under which facts an option is right, or a sentence holds.

A condition compares a fact with a value, or with another fact. All conditions of a table have to
hold. Depends on values of facts alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from .places import nearest
from .query_parts import At, Value


class Condition(NamedTuple):
    """One comparison: how the fact is compared, and with which value or other fact."""

    fact: str
    how: str
    value: Any


def _orders(compare: Callable[[int, int], bool]) -> Callable[[Value, Value], bool]:
    return lambda one, other: compare(one.raw, other.raw)


def _after(one: Value, other: Value) -> bool:
    """Of two lines of one instant the later one in the log comes after the other."""
    if one.raw == other.raw and one.line is not None and other.line is not None:
        return one.line.seq > other.line.seq
    return bool(one.raw > other.raw)


_WITH_FACTS: Final[Mapping[str, Callable[[Value, Value], bool]]] = {
    "same_as": lambda one, other: bool(one.raw == other.raw),
    "after": _after,
    "before": lambda one, other: _after(other, one),
    "longer_than": _orders(lambda one, other: one > other),
    "shorter_than": _orders(lambda one, other: one < other),
}
_WITH_VALUES: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "is": lambda one, other: bool(one == other),
    "is_not": lambda one, other: bool(one != other),
    "at_least": lambda one, other: bool(one >= other),
    "at_most": lambda one, other: bool(one <= other),
}
_NUMBERS: Final = frozenset({"at_least", "at_most"})


def read_conditions(
    given: Mapping[str, Any], at: At, values: Mapping[str, Value]
) -> list[Condition]:
    """Return the conditions of a table: by the name of a fact its value, or a table such as
    `{ after = "joined" }`. Raises LessonError."""
    found: list[Condition] = []
    for name, row in _flat(given, values):
        if name not in values:
            right = nearest(name, values, "the facts")
            raise at.error(f"{name!r} is no fact: {right}", name)
        for how, value in (row if isinstance(row, dict) else {"is": row}).items():
            if how in _WITH_FACTS:
                if value not in values:
                    right = nearest(str(value), values, "the facts")
                    raise at.error(f"{value!r} is no fact: {right}", name)
                other: object = values[value].raw
            elif how in _WITH_VALUES:
                other = value
            else:
                right = nearest(how, [*_WITH_FACTS, *_WITH_VALUES], "the comparisons")
                raise at.error(f"{how!r} is no comparison: {right}", name)
            numbers = how in _NUMBERS or (how in _WITH_FACTS and how != "same_as")
            if numbers and not (type(values[name].raw) is int and type(other) is int):
                what = f"{how} compares numbers: {name} is {values[name].raw!r}"
                raise at.error(f"{what}, and the other one {other!r}", name)
            found.append(Condition(name, how, value))
    return found


def _flat(given: Mapping[str, Any], values: Mapping[str, Value]) -> list[tuple[str, Any]]:
    """The rows of a table. A fact of the lesson, `lesson.NAME`, is a table within the table."""
    rows: list[tuple[str, Any]] = []
    for name, row in given.items():
        if name == "lesson" and name not in values and isinstance(row, dict):
            rows += [(f"lesson.{inner}", value) for inner, value in row.items()]
        else:
            rows.append((name, row))
    return rows


def broken(conditions: list[Condition], values: Mapping[str, Value]) -> str:
    """Return the first condition that does not hold, in words; an empty string if all hold."""
    for fact, how, value in conditions:
        if how in _WITH_FACTS:
            if not _WITH_FACTS[how](values[fact], values[value]):
                raws = f"{values[fact].raw!r} and {values[value].raw!r}"
                return f"{fact} {how} {value} does not hold ({raws})"
        elif not _WITH_VALUES[how](values[fact].raw, value):
            return f"{fact} {how} {value!r} does not hold: it is {values[fact].raw!r}"
    return ""
