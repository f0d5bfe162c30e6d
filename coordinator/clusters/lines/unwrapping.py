"""Puts lines together again that a mail program or a terminal broke at a width.

Looks at the beginning of a file only: its longest line is the width. A line that begins no record is
the rest of the line before it if its first word did not fit there. In a file with longer lines than
terminals and mails have, nothing was broken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice, pairwise

from .packed import Line

HEAD = 2_000
"""Number of lines that are read before the first is given."""
_WIDTHS = range(60, 221)
_MOST_PARTS = 12
_QUOTES = re.compile(r"(?:> ?){1,8}")
_RECORD = (
    r"\s{0,40}(?:[\[\"(]?\d{4}[-/.]\d\d|\[?\d\d:\d\d:\d\d|\d\d/\d\d/\d\d |[A-Z][a-z]{2} [ \d]\d \d\d:|%\d\|\d|\{|"
    r"\[pod/|[\w.-]{1,80} {1,20}\| |(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b|"
    r"[\w./-]{1,120} \[?\d{4}-\d\d-\d\d"
)
_OPENS = re.compile(_RECORD + ")")
_BEGINS = re.compile(
    _RECORD + r"|at \w|Caused by|\.\.\. \d|Traceback|File \"|GROUP |Consumer group '|```|"
    r"[a-z][a-z0-9.]{2,60} = |$)"
)

Numbered = tuple[int, Line]


def unwrapped(lines: Iterable[Line]) -> Iterator[Numbered]:
    """Yield lines that were broken in several parts as whole ones, each with the number of its
    first part (from 1)."""
    iterator = iter(lines)
    head = [decoded(line) for line in islice(iterator, HEAD)]
    width = _width(head)
    if width is None:
        yield from enumerate(head, start=1)
        yield from enumerate(iterator, start=len(head) + 1)
        return
    numbered = enumerate(chain(head, map(decoded, iterator)), start=1)
    yield from _joined(numbered, width, glued=_glued(head, width))


def decoded(line: Line) -> str | None:
    """Return a line as text, with replacement characters for bytes that are not UTF-8."""
    return line.decode("utf-8", "replace") if isinstance(line, bytes) else line


def _width(head: list[str | None]) -> int | None:
    """Return the width at which lines are broken, or None if they are whole."""
    plain = [_plain(line) for line in head if line is not None]
    longest = max(map(len, plain), default=0)
    if longest not in _WIDTHS or any(line is None for line in head):
        return None
    return longest if _parts(plain, longest) else None


def _parts(plain: list[str], width: int) -> list[str]:
    """Return the first parts of broken records."""
    return [
        before
        for before, line in pairwise(plain)
        if _OPENS.match(before) and _continues(before, line, width)
    ]


def _glued(head: list[str | None], width: int) -> bool:
    """Return True if words are broken, too, as terminals do: then each part but the last is as
    long as the width."""
    plain = [_plain(line) for line in head if line is not None]
    parts = _parts(plain, width)
    full = sum(len(part) == width for part in parts)
    return full * 3 > len(parts) * 2


def _plain(line: str) -> str:
    text = line.rstrip("\r\n")
    quoted = _QUOTES.match(text) if text.startswith(">") else None
    return text[quoted.end() :] if quoted else text


def _continues(before: str, line: str, width: int) -> bool:
    if _BEGINS.match(line) or not before.strip():
        return False
    first = len(line.partition(" ")[0])
    return len(before) + 1 + first > width - 2


def _joined(
    numbered: Iterable[tuple[int, str | None]], width: int, *, glued: bool
) -> Iterator[Numbered]:
    between = "" if glued else " "
    begun, last, parts = "", "", 0
    number = 0
    for at, line in numbered:
        plain = None if line is None else _plain(line)
        if (
            plain is not None
            and parts
            and parts < _MOST_PARTS
            and _OPENS.match(begun)
            and (len(last) == width if glued else True)
            and _continues(last, plain, width)
        ):
            begun, last, parts = f"{begun}{between}{plain}", plain, parts + 1
            continue
        if parts:
            yield number, begun
        if plain is None:
            yield at, None
            parts = 0
            continue
        number, begun, last, parts = at, plain, plain, 1
    if parts:
        yield number, begun
