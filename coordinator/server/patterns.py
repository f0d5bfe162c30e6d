"""Regular expressions that a broker evaluates as RE2J does: subscribed topic patterns (KIP-848) and
the transactional ids of ListTransactions (KIP-1152).

The engine is RE2, of which RE2J is a port: same syntax, time linear in the text. `_WORDS`
translates error messages. The few patterns that the two treat differently are listed in
docs/divergences.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

MOST_INSTRUCTIONS: Final = 50_000
"""Limit of a compiled pattern, since a text of n bytes costs at most n times as many steps."""
_MOST_BYTES: Final = 6 << 20
"""Memory that RE2 may take for a pattern: little, so that compiling ends soon."""
_TOO_LARGE: Final = "expression too large"
_WORDS: Final[Mapping[str, str]] = {
    "bad repetition operator": "invalid nested repetition operator",
    "invalid character class range": "invalid character class range",
    "invalid escape sequence": "invalid escape sequence",
    "invalid named capture group": "invalid named capture",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "pattern too large - compile failed": _TOO_LARGE,
    "trailing \\": "trailing backslash at end of expression",
    "unexpected )": "regexp/syntax: internal error",
}
"""RE2J's words for an error, by RE2's."""
_DUPLICATE: Final = "duplicate capture group name"
"""An error of RE2J alone."""
_NAMED: Final = re.compile(r"\(\?P?<(\w+)>")


class PatternError(ValueError):
    """Error for a pattern that RE2J refuses; the text is RE2J's description, without the position."""


class Pattern:
    """A compiled pattern; `str()` is its text."""

    __slots__ = ("_engine", "_text")

    def __init__(self, text: str, engine: Any) -> None:
        self._text = text
        self._engine = engine

    @property
    def instructions(self) -> int:
        """Size of the compiled program: an upper bound of the steps for each byte of a text."""
        return int(self._engine.programsize)

    def matches(self, text: str) -> bool:
        """Return whether the whole text matches."""
        return self._engine.fullmatch(text) is not None

    def __str__(self) -> str:
        return self._text


def compile_pattern(text: str) -> Pattern:
    """Compile a pattern. Raises PatternError."""
    import re2  # at the first pattern: most brokers never see one

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MOST_BYTES
    try:
        engine = re2.compile(text, options)
    except re2.error as error:
        raise PatternError(_told(error)) from None
    except UnicodeEncodeError:
        raise PatternError("invalid UTF-8") from None
    finally:
        re2.purge()  # it keeps the last patterns, some of which are megabytes
    if engine.programsize > MOST_INSTRUCTIONS:
        raise PatternError(_TOO_LARGE)
    names = _NAMED.findall(text)
    if len(names) > len(set(names)):
        raise PatternError(_DUPLICATE)
    return Pattern(text, engine)


def _told(error: Exception) -> str:
    found = error.args[0] if error.args else ""
    told = found.decode("utf-8", "replace") if isinstance(found, bytes) else str(found)
    return next((words for ours, words in _WORDS.items() if told.startswith(ours)), told)
