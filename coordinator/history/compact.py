"""Lines as they are kept: reading a line as JSON makes each name and each value anew, and in a long
log they are most of what a reader holds. Here equal texts are one object, and lines of one type
share their names (key-sharing dictionaries, PEP 412)."""

from __future__ import annotations

from sys import intern
from typing import Any, Final

from ..event_log.reader import Line

_MOST_LETTERS: Final = 120
"""Longer texts are hardly ever equal to others."""
_MOST_TYPES: Final = 500
"""A log may name its types as it likes; so many share names."""
_MOST_NAMES: Final = 25
"""Python shares up to 30."""


class _Named:
    """Its attributes are a line's fields."""


_TYPES: Final[dict[str, type[_Named]]] = {}


def compact(line: Line) -> Line:
    """The same line, equal texts of all lines shared."""
    kind = line.get("type")
    if len(line) <= _MOST_NAMES and isinstance(kind, str) and len(kind) <= _MOST_LETTERS:
        named = _TYPES.get(kind)
        if named is None and len(_TYPES) < _MOST_TYPES:
            named = _TYPES[kind] = type("_Named", (_Named,), {})
        if named is not None and not any(key.startswith("_") for key in line):
            return _sharing(named(), line)
    return _plain(line)


def _sharing(row: _Named, line: Line) -> Line:
    for key, value in line.items():
        setattr(row, intern(key), _value(value))
    return row.__dict__


def _plain(line: Line) -> Line:
    return {intern(key): _value(value) for key, value in line.items()}


def _value(value: Any) -> Any:
    kind = type(value)
    if kind is str:
        return intern(value) if len(value) <= _MOST_LETTERS else value
    if kind is list and value and type(value[0]) is dict:
        return [_plain(row) if type(row) is dict else row for row in value]
    return value
