r"""Names of characters in \N{...}, as Java's `Character.codePointOf` finds them.

Java names control characters by names of its own, and ideographs, Hangul syllables and the like by
their block and number. All others are Unicode's, of the version that Python knows. Does not depend
on patterns.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Final

# fmt: off
_CONTROLS: Final = """
NULL, START OF HEADING, START OF TEXT, END OF TEXT, END OF TRANSMISSION, ENQUIRY, ACKNOWLEDGE,
BEL, BACKSPACE, CHARACTER TABULATION, LINE FEED (LF), LINE TABULATION, FORM FEED (FF), CARRIAGE
RETURN (CR), SHIFT OUT, SHIFT IN, DATA LINK ESCAPE, DEVICE CONTROL ONE, DEVICE CONTROL TWO, DEVICE
CONTROL THREE, DEVICE CONTROL FOUR, NEGATIVE ACKNOWLEDGE, SYNCHRONOUS IDLE, END OF TRANSMISSION
BLOCK, CANCEL, END OF MEDIUM, SUBSTITUTE, ESCAPE, INFORMATION SEPARATOR FOUR, INFORMATION
SEPARATOR THREE, INFORMATION SEPARATOR TWO, INFORMATION SEPARATOR ONE, DELETE, PADDING CHARACTER,
HIGH OCTET PRESET, BREAK PERMITTED HERE, NO BREAK HERE, NEXT LINE (NEL), START OF SELECTED AREA,
END OF SELECTED AREA, CHARACTER TABULATION SET, CHARACTER TABULATION WITH JUSTIFICATION, LINE
TABULATION SET, PARTIAL LINE FORWARD, PARTIAL LINE BACKWARD, REVERSE LINE FEED, SINGLE SHIFT TWO,
SINGLE SHIFT THREE, DEVICE CONTROL STRING, PRIVATE USE ONE, PRIVATE USE TWO, SET TRANSMIT STATE,
CANCEL CHARACTER, MESSAGE WAITING, START OF GUARDED AREA, END OF GUARDED AREA, START OF STRING,
SINGLE GRAPHIC CHARACTER INTRODUCER, SINGLE CHARACTER INTRODUCER, CONTROL SEQUENCE INTRODUCER,
STRING TERMINATOR, OPERATING SYSTEM COMMAND, PRIVACY MESSAGE, APPLICATION PROGRAM COMMAND
"""
"""Those of U+0000 to U+001F, then of U+007F to U+009F but for U+0084, which has none."""
_NUMBERED: Final = (
    ("LATIN 1 SUPPLEMENT", 0x84, 0x84),
    ("CJK UNIFIED IDEOGRAPHS EXTENSION A", 0x3400, 0x4DBF),
    ("CJK UNIFIED IDEOGRAPHS", 0x4E00, 0x9FFC),
    ("HANGUL SYLLABLES", 0xAC00, 0xD7A3),
    ("HIGH SURROGATES", 0xD800, 0xDB7F),
    ("HIGH PRIVATE USE SURROGATES", 0xDB80, 0xDBFF),
    ("LOW SURROGATES", 0xDC00, 0xDFFF),
    ("PRIVATE USE AREA", 0xE000, 0xF8FF),
    ("TANGUT", 0x17000, 0x187F7),
    ("TANGUT SUPPLEMENT", 0x18D00, 0x18D08),
    ("CJK UNIFIED IDEOGRAPHS EXTENSION B", 0x20000, 0x2A6DD),
    ("CJK UNIFIED IDEOGRAPHS EXTENSION C", 0x2A700, 0x2B734),
    ("CJK UNIFIED IDEOGRAPHS EXTENSION D", 0x2B740, 0x2B81D),
    ("CJK UNIFIED IDEOGRAPHS EXTENSION E", 0x2B820, 0x2CEA1),
    ("CJK UNIFIED IDEOGRAPHS EXTENSION F", 0x2CEB0, 0x2EBE0),
    ("CJK UNIFIED IDEOGRAPHS EXTENSION G", 0x30000, 0x3134A),
    ("SUPPLEMENTARY PRIVATE USE AREA A", 0xF0000, 0xFFFFD),
    ("SUPPLEMENTARY PRIVATE USE AREA B", 0x100000, 0x10FFFD),
)
# fmt: on
_TANGUT: Final = "TANGUT COMPONENT-"
_MOST_LETTERS: Final = 100  # more than any name has
_JAVA_BLANKS: Final = "".join(map(chr, range(0x21)))


@cache
def _controls() -> dict[str, int]:
    names = [name.strip() for name in _CONTROLS.replace("\n", " ").split(",")]
    codes = [*range(0x20), *range(0x7F, 0x84), *range(0x85, 0xA0)]
    return dict(zip(names, codes, strict=True))


def code_point_of(name: str) -> int | None:
    """The character with this name; None: there is none."""
    name = name.strip(_JAVA_BLANKS)
    if len(name) > _MOST_LETTERS:
        return None
    name = name.upper()
    if name in _controls():
        return _controls()[name]
    block, _, number = name.rpartition(" ")
    for numbered, first, last in _NUMBERED:
        if block == numbered and first <= _hexadecimal(number) <= last:
            return _hexadecimal(number)
    if name.startswith(_TANGUT) and name[len(_TANGUT) :].isascii():  # of these Python knows no name
        number = name[len(_TANGUT) :]
        known = number.isdigit() and len(number) == 3 and 1 <= int(number) <= 768
        return 0x18800 + int(number) - 1 if known else None
    try:
        found = unicodedata.lookup(name)
    except KeyError:
        return None
    if len(found) != 1 or unicodedata.name(found, "") != name:  # an alias, or several
        return None
    code = ord(found)
    return None if any(first <= code <= last for _, first, last in _NUMBERED) else code


def _hexadecimal(digits: str) -> int:
    """The number, if it is written as Java writes it, else -1."""
    if not 1 <= len(digits) <= 6 or not set(digits) <= set("0123456789ABCDEF") or digits[0] == "0":
        return -1
    return int(digits, 16)
