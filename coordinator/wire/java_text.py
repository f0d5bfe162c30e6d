"""Malformed UTF-8 as Java reads it: which bytes become one U+FFFD.

Owns the error handler `JAVA` of Python's decoder. Its own "replace" parts some malformed bytes otherwise: a surrogate's three bytes are
three U+FFFD to Python and one to Java. Well-formed text never comes here.
"""

from __future__ import annotations

import codecs
from typing import Final

JAVA: Final = "java-replace"
"""The name of the handler: `data.decode("utf-8", JAVA)`."""


def _replace(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "\ufffd", error.start + _malformed(error.object, error.start)


def _continues(byte: int) -> bool:
    return byte & 0xC0 == 0x80


def _malformed(data: bytes, at: int) -> int:
    """How many bytes from `at` on one U+FFFD stands for."""
    first, left = data[at], len(data) - at - 1
    if 0xE0 <= first <= 0xEF:
        return _malformed_of_three(data, at, left)
    if 0xF0 <= first <= 0xF4:
        return _malformed_of_four(data, at, left)
    return 1


def _malformed_of_three(data: bytes, at: int, left: int) -> int:
    if not left:
        return 1
    second = data[at + 1]
    if not _continues(second) or (data[at] == 0xE0 and second < 0xA0):
        return 1
    return 3 if left > 1 and _continues(data[at + 2]) else 2


def _malformed_of_four(data: bytes, at: int, left: int) -> int:
    if not left:
        return 1
    first, second = data[at], data[at + 1]
    if not _continues(second) or (first == 0xF0 and second < 0x90) or (first == 0xF4 and second > 0x8F):
        return 1
    if left > 1 and _continues(data[at + 2]):
        return 3
    return 2


codecs.register_error(JAVA, _replace)
