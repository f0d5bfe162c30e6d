"""JSON as a log may hold it: stricter than Python's parser, which accepts values that a log never
holds.

Owns the bounds: whole numbers of 64 bits, no NaN and no infinity, at most `MOST_LEVELS` of
nesting. Ordinary lines are read at the speed of Python's own parser. Every refusal is a
ValueError. Does not depend on what the lines mean.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

MOST_LEVELS: Final = 32
"""The deepest nesting of objects and arrays in a line. The emulator's own lines have four
levels."""

_BYTE_ORDER_MARK: Final = "\ufeff"
_INT_BOUND: Final = 1 << 63
_FLAT: Final = bytes.maketrans(b"123456789E", b"000000000e")
"""All digits become 0: whether there is a long number is then a search for one text, the cheapest
that there is."""
_LONG: Final = b"0" * 19
_COLON, _COMMA, _BRACKET, _MINUS, _SPACE, _TAB, _RETURN, _NEWLINE = (
    begins.encode() + _LONG for begins in ":,[- \t\r\n"
)
"""A number begins behind one of these; what is hexadecimal stands in quotation marks."""
_LARGE: Final = re.compile(
    r"(?:^|[:,\[\s])-?(?:9[0-9]{18}|[0-9]{20}|[0-9]+(?:\.[0-9]+)?[eE][+-]?[0-9]{3})"
)
"""Finds a number that may be out of bounds: whole numbers of 19 digits that begin with 0 to 8 have
64 bits."""


def loads(text: str) -> Any:
    """Parse a line, without its byte order mark if it has one. Raises ValueError."""
    if text.startswith(_BYTE_ORDER_MARK):
        text = text[1:]
    try:
        if text.count("[") + text.count("{") > MOST_LEVELS and _levels(text) > MOST_LEVELS:
            raise ValueError(f"more than {MOST_LEVELS} levels of nesting")
        if _has_large_numbers(text) or "NaN" in text or "Infinity" in text:
            return _strictly(text)
        return _quickly(text)
    except RecursionError:
        raise ValueError(f"more than {MOST_LEVELS} levels of nesting") from None


def _quickly(text: str) -> Any:
    """Return what `json.loads` returns. An object followed by at most a newline is parsed without
    checking what may stand around it.
    """
    if text.startswith("{"):
        value, end = _raw(text)
        if end == len(text) or text[end:] == "\n":
            return value
    return json.loads(text)


def _has_large_numbers(text: str) -> bool:
    """Return whether the text may hold a number that is out of bounds. Strings of hexadecimal
    digits are no numbers.
    """
    flat = text.encode("utf-8", "surrogatepass").translate(_FLAT)
    if _LONG in flat and _begins_long(flat):
        return _LARGE.search(text) is not None
    if b"0e000" in flat or b"0e+" in flat or b"0e-" in flat:  # in hexadecimal texts, too
        return _LARGE.search(_beside_texts(text)) is not None
    return False


def _beside_texts(text: str) -> str:
    """Return the text outside of quotation marks; all of it, if it has escapes."""
    return text if "\\" in text else '"'.join(text.split('"')[::2])


def _begins_long(flat: bytes) -> bool:
    """Return whether there are 19 digits at a place where a number may begin."""
    return (
        flat.startswith(_LONG)
        or _COLON in flat
        or _COMMA in flat
        or _BRACKET in flat
        or _MINUS in flat
        or _SPACE in flat
        or _TAB in flat
        or _RETURN in flat
        or _NEWLINE in flat
    )


_STRUCTURE: Final = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', re.DOTALL)


def _levels(text: str) -> int:
    """Return how deep a text is nested, without looking into its strings."""
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


_raw: Final = json.JSONDecoder().raw_decode
_strictly: Final = json.JSONDecoder(
    parse_int=_whole, parse_float=_real, parse_constant=_constant
).decode
