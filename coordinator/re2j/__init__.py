"""Regular expressions as Kafka reads them, by RE2J 1.8: which patterns there are, what a bad one is
told, and what a whole text matches.

Owns the translation to the engine (google-re2), which works in time linear in the text; it is
loaded at the first pattern. Rule: what RE2J accepts is accepted and what it refuses is refused, in
its words (checked against Kafka's jar by tests/re2j_fuzz.py); the exceptions stand in
docs/divergences.md. Whoever needs patterns is given `compile_pattern`. Does not depend on what is
matched.

Source: KIP-848 (subscribed topic patterns) and KIP-1152 (ListTransactions) name RE2J's syntax.
"""

from __future__ import annotations

from typing import Any

from .parser import PatternError, too_large, translate

__all__ = ["Pattern", "PatternError", "compile_pattern"]

MOST_INSTRUCTIONS = 50_000
"""Of a compiled pattern: a text of so many bytes costs at most as many steps for each."""
_MOST_BYTES = 6 << 20  # so that it gives up soon


class Pattern:
    """A compiled pattern; `str()` is its text."""

    __slots__ = ("_engine", "_text")

    def __init__(self, text: str, engine: Any) -> None:
        self._text = text
        self._engine = engine

    @property
    def instructions(self) -> int:
        """How many steps each byte of a text may cost at most."""
        return int(self._engine.programsize)

    def matches(self, text: str) -> bool:
        """True if the whole text matches."""
        return self._engine.fullmatch(text) is not None

    def __str__(self) -> str:
        return self._text


def compile_pattern(text: str) -> Pattern:
    """Make a pattern. Raises PatternError, whose text is RE2J's."""
    translated = translate(text)
    import re2

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _MOST_BYTES
    try:
        engine = re2.compile(translated, options)
    except re2.error:
        raise too_large(text) from None
    finally:
        re2.purge()  # it keeps the last patterns, some of which are megabytes
    if engine.programsize > MOST_INSTRUCTIONS:
        raise too_large(text)
    return Pattern(text, engine)
