"""JSON as a log may hold it: what Python's parser takes and a log never has is refused.

Owns the bounds: whole numbers of 64 bits, no NaN and no infinity, `MOST_LEVELS` of nesting. Ordinary lines are read at the
speed of Python's own parser. Every refusal is a ValueError. Does not depend on what the lines mean.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

MOST_LEVELS: Final = 32
"""How deep objects and arrays of a line may stand within each other. The emulator's own lines have four levels."""

_MANY_DIGITS: Final = re.compile(r"[0-9](?:[0-9]{18}|[eE][+-]?[0-9]{3})")
"""A text without these holds no number that is out of bounds. Every line is searched for them: alternatives at its beginning, or digits
of all scripts, would take several times as long."""
_INT_BOUND: Final = 1 << 63


def loads(text: str) -> Any:
    """What a line holds. Raises ValueError."""
    try:
        if text.count("[") + text.count("{") > MOST_LEVELS and _levels(text) > MOST_LEVELS:
            raise ValueError(f"more than {MOST_LEVELS} levels of nesting")
        if _MANY_DIGITS.search(text) is None and "NaN" not in text and "Infinity" not in text:
            return json.loads(text)
        return json.loads(text, parse_int=_whole, parse_float=_real, parse_constant=_constant)
    except RecursionError:
        raise ValueError(f"more than {MOST_LEVELS} levels of nesting") from None


_STRUCTURE: Final = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', re.DOTALL)


def _levels(text: str) -> int:
    """How deep a text is nested, its strings left aside."""
    level = deepest = 0
    for token in _STRUCTURE.findall(text):
        first = token[0]
        if first in "[{":
            level += 1
            deepest = max(deepest, level)
        elif first in "]}":
            level -= 1
    return deepest


def _whole(digits: str) -> int:
    if len(digits) > 20 or not -_INT_BOUND <= (number := int(digits)) < _INT_BOUND:
        raise ValueError(f"a whole number of {len(digits)} digits; those of a log have 64 bits")
    return number


def _real(digits: str) -> float:
    number = float(digits)
    if number - number != 0:
        raise ValueError("a number that is out of bounds")
    return number


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")
