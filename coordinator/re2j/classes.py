"""Character classes of a pattern: [a-z], \\d, \\pL, [[:alpha:]], written as the engine takes them.

Does not depend on where in a pattern they stand.
"""

from __future__ import annotations

from .names import PERL, POSIX, UNICODE, WITHOUT_CHARACTERS
from .scanner import PatternError, Scanner

NOTHING = r"[^\x00-\x{10FFFF}]"
_BAD_RANGE = "invalid character class range"
_LAST_BEFORE_SURROGATES, _FIRST_BEHIND_SURROGATES = 0xD7FF, 0xE000


def code_point(value: int) -> str:
    """One character as an escape."""
    return f"\\x{{{value:X}}}"


def literal(value: int) -> str:
    """One character outside of a class; a surrogate is in no text."""
    return (
        NOTHING if _LAST_BEFORE_SURROGATES < value < _FIRST_BEHIND_SURROGATES else code_point(value)
    )


def unicode_class(scan: Scanner) -> str | None:
    """A class such as \\pL or \\P{Greek}, as an item of a class; None if there is none. Raises
    PatternError."""
    start = scan.pos
    if not (scan.at("\\p") or scan.at("\\P")):
        return None
    negated = scan.at("\\P")
    scan.pos += 2
    rest = scan.text[start:]
    if not scan.more():
        raise PatternError.about(_BAD_RANGE, rest)
    name = scan.take()
    if name == "{":
        end = scan.text.find("}", scan.pos)
        if end < 0:
            raise PatternError.about(_BAD_RANGE, rest)
        name = scan.text[scan.pos : end]
        scan.pos = end + 1
    if name.startswith("^"):
        negated = not negated
        name = name[1:]
    if name not in UNICODE:
        raise PatternError.about(_BAD_RANGE, scan.since(start))
    if name in WITHOUT_CHARACTERS:
        return r"\x00-\x{10FFFF}" if negated else ""
    return f"\\{'P' if negated else 'p'}{{{name}}}"


def perl_class(scan: Scanner) -> str | None:
    """A class such as \\d; None if there is none, and then the position stays."""
    if (
        scan.at("\\")
        and scan.text[scan.pos + 1 : scan.pos + 2] in PERL
        and scan.pos + 1 < len(scan.text)
    ):
        scan.pos += 2
        return scan.since(scan.pos - 2)
    return None


def bracket_class(scan: Scanner) -> str:
    """A class in brackets, at whose opening one the position is. Raises PatternError."""
    start = scan.pos
    scan.pos += 1
    negated = scan.at("^")
    scan.pos += negated
    items: list[str] = []
    first = True  # a closing bracket is a character here
    while first or not scan.at("]"):
        first = False
        item = _posix_class(scan)
        if item is None:
            item = unicode_class(scan)
        if item is None:
            item = perl_class(scan)
        if item is None:
            item = _range(scan, start)
        items.append(item)
    scan.pos += 1
    inside = "".join(items)
    if not inside:
        return r"[\x00-\x{10FFFF}]" if negated else NOTHING
    return f"[{'^' if negated else ''}{inside}]"


def _posix_class(scan: Scanner) -> str | None:
    if not scan.at("[:"):
        return None
    end = scan.text.find(":]", scan.pos)
    if end < 0:
        return None
    name = scan.text[scan.pos : end + 2]
    if name not in POSIX:
        raise PatternError.about(_BAD_RANGE, name)
    scan.pos = end + 2
    return name


def _range(scan: Scanner, start: int) -> str:
    before = scan.pos
    low = high = _character(scan, start)
    if scan.at("-") and not scan.at("-]"):
        scan.pos += 1
        high = _character(scan, start)
        if high < low:
            raise PatternError.about(_BAD_RANGE, scan.since(before))
    if _LAST_BEFORE_SURROGATES < low < _FIRST_BEHIND_SURROGATES:
        low = _FIRST_BEHIND_SURROGATES
    if _LAST_BEFORE_SURROGATES < high < _FIRST_BEHIND_SURROGATES:
        high = _LAST_BEFORE_SURROGATES
    if high < low:
        return ""
    return code_point(low) if low == high else f"{code_point(low)}-{code_point(high)}"


def _character(scan: Scanner, start: int) -> int:
    if not scan.more():
        raise PatternError.about("missing closing ]", scan.since(start))
    return scan.escape() if scan.at("\\") else ord(scan.take())
