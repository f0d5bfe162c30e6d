"""Lines as they are kept: reading a line as JSON makes each name and each value anew, and in a long
log they are most of what a reader holds. Here equal texts are one object."""

from __future__ import annotations

from sys import intern
from typing import Any, Final

from ..event_log.reader import Line

_MOST_LETTERS: Final = 120
"""Longer texts are hardly ever equal to others."""


def compact(line: Line) -> Line:
    """The same line, equal texts of all lines shared."""
    return {intern(key): _value(value) for key, value in line.items()}


def _value(value: Any) -> Any:
    kind = type(value)
    if kind is str:
        return intern(value) if len(value) <= _MOST_LETTERS else value
    if kind is list and value and type(value[0]) is dict:
        return [compact(row) if type(row) is dict else row for row in value]
    return value
