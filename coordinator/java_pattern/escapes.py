r"""Escapes after a backslash: a character by its number or name, a kind of characters, a place.

Owns the escapes outside \p{...}, and that one too (`family`). Rules as `java.util.regex.Pattern` of
Java 17; letters that mean nothing are refused. Does not depend on groups and classes.
"""

from __future__ import annotations

from typing import Final

from .characters import code_point_of
from .cursor import UNICODE_CLASSES, Cursor, PatternRefused
from .lengths import Backreference, Grapheme, LineEnd, Nothing, Part, Text
from .names import is_family

_NUMBERS: Final = {"a": 7, "e": 27, "f": 12, "n": 10, "r": 13, "t": 9}
_VERTICAL_TAB: Final = 11
_KINDS: Final = frozenset("DdHhSsVvWw")
_PLACES: Final = frozenset("ABGZz")
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_OCTAL: Final = frozenset("01234567")
_LAST_CODE_POINT: Final = 0x10FFFF
_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_ALNUM: Final = _LETTERS | frozenset("0123456789")


class Groups:
    """The groups so far: how many capture, and their names."""

    def __init__(self) -> None:
        self.count = 1
        self.names: set[str] = set()


def family(cursor: Cursor) -> None:
    r"""Read what follows \p or \P. Raises PatternRefused."""
    in_braces = cursor.next() == "{"
    if not in_braces:
        cursor.unread()
    cursor.next()
    if in_braces:
        name = cursor.read_to("}")
        if name is None:
            raise PatternRefused("unclosed character family")
    else:
        name = cursor.character(cursor.at)
        cursor.read()
    if not name or not is_family(name, unicode_classes=cursor.has(UNICODE_CLASSES)):
        raise PatternRefused(f"unknown character property {name[:40]!r}")


def escape(
    cursor: Cursor, groups: Groups, *, in_class: bool, makes: bool = True, in_range: bool = False
) -> int | Part:
    r"""Read an escape, but for \p: the number of a character, or what else it is. Not `makes`: where
    it is something else the caller goes back. Raises PatternRefused."""
    found = cursor.skip()
    if found == "v" and in_range:
        return _VERTICAL_TAB
    if found in _KINDS:
        return Text(1)
    if found in _NUMBERS:
        return _NUMBERS[found]
    match found:
        case "0":
            return _octal(cursor)
        case "c":
            return _control(cursor)
        case "x":
            return _hexadecimal(cursor)
        case "u":
            return _unicode(cursor)
        case "N":
            return _named(cursor)
    if found not in _ALNUM:
        return ord(found)
    if not in_class:
        part = _outside_classes(found, cursor, groups, makes=makes)
        if part is not None:
            return part
    raise PatternRefused(f"\\{found} means nothing")


def group_name(cursor: Cursor, first: str) -> str:
    """A group's name and the angle behind it. Raises PatternRefused."""
    if first not in _LETTERS:
        raise PatternRefused("a group's name begins with a letter")
    letters = [first]
    while (found := cursor.read()) in _ALNUM:
        letters.append(found)
    if found != ">":
        raise PatternRefused("a group's name ends with >")
    return "".join(letters)


def _outside_classes(found: str, cursor: Cursor, groups: Groups, *, makes: bool) -> Part | None:
    if found.isdigit():
        if makes:
            _reference(cursor, groups, int(found))
        return Backreference()
    if found in _PLACES:
        return Nothing()
    match found:
        case "R":
            return LineEnd()
        case "X":
            return Grapheme()
        case "b":
            if makes and cursor.peek() == "{":
                if cursor.skip() == "g":
                    return Nothing() if cursor.read() == "}" else None
                cursor.unread()
                cursor.unread()
            return Nothing()
        case "k":
            if cursor.read() != "<":
                raise PatternRefused("\\k is followed by the name of a group, as \\k<name>")
            name = group_name(cursor, cursor.read())
            if name not in groups.names:
                raise PatternRefused(f"there is no group {name!r} before it")
            return Backreference()
    return None


def _reference(cursor: Cursor, groups: Groups, number: int) -> None:
    """Read on as long as there is a group with such a number."""
    while (found := cursor.peek()) in _ALNUM - _LETTERS:
        number = number * 10 + int(found)
        if groups.count - 1 < number:
            return
        cursor.read()


def _control(cursor: Cursor) -> int:
    if cursor.at_end:
        raise PatternRefused("\\c is followed by a character")
    return ord(cursor.read()) ^ 64


def _octal(cursor: Cursor) -> int:
    """One to three digits, up to 0377."""
    first = cursor.read()
    if first not in _OCTAL:
        raise PatternRefused("\\0 is followed by an octal digit")
    second = cursor.read()
    if second not in _OCTAL:
        cursor.unread()
        return int(first, 8)
    third = cursor.read()
    if third in _OCTAL and first <= "3":
        return int(first + second + third, 8)
    cursor.unread()
    return int(first + second, 8)


def _hexadecimal(cursor: Cursor) -> int:
    first = cursor.read()
    if first in _HEX:
        second = cursor.read()
        if second in _HEX:
            return int(first + second, 16)
    elif first == "{" and cursor.peek() in _HEX:
        code = 0
        while (digit := cursor.read()) in _HEX:
            code = code * 16 + int(digit, 16)
            if code > _LAST_CODE_POINT:
                raise PatternRefused("a character's number is at most 10FFFF")
        if digit != "}":
            raise PatternRefused("unclosed \\x{...}")
        return code
    raise PatternRefused("\\x is followed by two hexadecimal digits, or by some in braces")


def _unicode(cursor: Cursor) -> int:
    high = _four_digits(cursor)
    if 0xD800 <= high < 0xDC00:
        at = cursor.at
        if cursor.read() == "\\" and cursor.read() == "u":
            low = _four_digits(cursor)
            if 0xDC00 <= low < 0xE000:
                return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)
        cursor.at = at
    return high


def _four_digits(cursor: Cursor) -> int:
    digits = []
    for _ in range(4):
        digits.append(cursor.read())
        if digits[-1] not in _HEX:
            raise PatternRefused("\\u is followed by four hexadecimal digits")
    return int("".join(digits), 16)


def _named(cursor: Cursor) -> int:
    if cursor.read() != "{":
        raise PatternRefused("\\N is followed by a character's name in braces")
    first = cursor.at
    while cursor.read() != "}":
        if cursor.at_end:
            raise PatternRefused("unclosed \\N{...}")
    name = cursor.between(first, cursor.at - 1)
    code = code_point_of(name)
    if code is None:
        raise PatternRefused(f"no character is called {name[:40]!r}")
    return code
