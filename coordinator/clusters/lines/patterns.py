"""Tables of patterns, by which a dialect's module states the lines that it understands.

A pattern is tried at the beginning of the message only (`match`). Its first words are literal,
and no repetition is nested in another, so the time for a line is proportional to its length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..facts import Fact

Make = Callable[[re.Match[str]], Fact | None]


class Pattern(NamedTuple):
    """A pattern of a message, and the function that makes its fact. `why`: the reason, for a
    line that is recognized and needs no fact; else empty."""

    regex: re.Pattern[str]
    make: Make
    why: str = ""


def pattern(regex: str, make: Make) -> Pattern:
    """Return a row of a dialect's table."""
    return Pattern(re.compile(regex), make)


def ignored(regex: str, why: str) -> Pattern:
    """Return a row for lines that are recognized and need no fact, with the reason."""
    return Pattern(re.compile(regex), lambda found: None, why)


def first_match(table: Sequence[Pattern], text: str) -> tuple[bool, Fact | None]:
    """Return whether a row of the table matches the message, and the fact that the row makes of
    it."""
    for row in table:
        found = row.regex.match(text)
        if found:
            return True, row.make(found)
    return False, None


def without_logger(text: str) -> str:
    """Return a broker's message without the logger's name in parentheses and the thread in
    brackets at its end."""
    text = text.rstrip(" *")
    if text.endswith("]"):
        begin = text.rfind(") [")
        if begin >= 0 and "." in text[text.rfind(" (", 0, begin) + 1 : begin]:
            text = text[: begin + 1]
    if text.endswith(")"):
        begin = text.rfind(" (")
        inside = text[begin + 2 : -1]
        if begin >= 0 and "." in inside and " " not in inside:
            return text[:begin]
    return text


def none_of(text: str | None) -> str | None:
    """Return an instance id from the forms that brokers print: `Some(web-1)`, `None`, `null`,
    `web-1`."""
    if text is None or text in ("None", "null", "", "Optional.empty"):
        return None
    for before in ("Some(", "Optional["):
        if text.startswith(before):
            return text[len(before) : -1]
    return text
