"""Contradictions inside: an assertion that failed, a key that is missing. Their errors often have no
text, so what a user is told names the place, too.

Does not decide who catches them, nor at which line of a log it was.
"""

from __future__ import annotations

from pathlib import PurePath
from traceback import extract_tb
from typing import Final

UNFIT: Final = (
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    AssertionError,
)
"""The errors of folding what does not follow from what came before it."""


class ContradictionError(Exception):
    """A run contradicts itself: when, after which line of its log, and what failed where."""


def what_failed(error: BaseException) -> str:
    """Return an error's name and text; of one without text, the statement that failed and where it
    stands."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    frames = extract_tb(error.__traceback__)
    if not frames or (str(error) and not isinstance(error, LookupError)):
        return text
    last = frames[-1]
    statement = f": {last.line}" if last.line else ""
    path = "/".join(PurePath(last.filename).parts[-3:])
    return f"{text} in {last.name} ({path}, line {last.lineno}){statement}"
