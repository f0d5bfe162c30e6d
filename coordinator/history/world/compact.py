"""Lines in little memory. Reading a line as JSON makes new names and values each time, and in a
long log they are most of what a reader holds. Here equal texts are one object, and lines of one
type share their names (key-sharing dictionaries, PEP 412)."""

from __future__ import annotations

from functools import lru_cache
from sys import intern
from typing import Any, Final

from coordinator.events.line import Line

_MOST_LETTERS: Final = 120
"""Longer texts are hardly ever equal to others."""
_MOST_TYPES: Final = 500
"""Highest number of types that share names: a log may have any number of types."""
_MOST_NAMES: Final = 25
"""Python shares up to 30."""


class _Named:
    """An object whose attributes are a line's fields."""


_TYPES: Final[dict[str, type[_Named]]] = {}


def compact(line: Line) -> None:
    """Let a line share equal texts with all other lines. Useful for lines that were read from
    text."""
    plain, name = line.plain, line.name
    if len(plain) <= _MOST_NAMES and len(name) <= _MOST_LETTERS:
        named = _TYPES.get(name)
        if named is None and len(_TYPES) < _MOST_TYPES:
            named = _TYPES[name] = type("_Named", (_Named,), {})
        if named is not None and _may_be_attributes(tuple(plain)):
            line.keep(_sharing(named(), plain))
            return
    line.keep(_plain(plain))


@lru_cache(_MOST_TYPES)
def _may_be_attributes(keys: tuple[str, ...]) -> bool:
    """Return True if attributes of these names hide none that every object has."""
    return not any(key.startswith("_") for key in keys)


def _sharing(row: _Named, plain: dict[str, Any]) -> dict[str, Any]:
    for key, value in plain.items():
        setattr(row, intern(key), _value(value))
    return row.__dict__


def _plain(plain: dict[str, Any]) -> dict[str, Any]:
    return {intern(key): _value(value) for key, value in plain.items()}


def _value(value: Any) -> Any:
    kind = type(value)
    if kind is str:
        return intern(value) if len(value) <= _MOST_LETTERS else value
    if kind is list and value and type(value[0]) is dict:
        return [_plain(row) if type(row) is dict else row for row in value]
    return value
