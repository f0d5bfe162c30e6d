"""Errors for internal contradictions, such as a failed assertion or a missing key. Such errors
often have no text, so the message names the place too.

Does not decide who catches them, nor which line of a log they concern.
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
    """A run that contradicts itself; the text says when, after which line of its log, and what
    failed where.
    """


def what_failed(error: BaseException) -> str:
    """Return an error's name and text; for one without text, the statement that failed and its
    place.
    """
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    frames = extract_tb(error.__traceback__)
    if not frames or (str(error) and not isinstance(error, LookupError)):
        return text
    last = frames[-1]
    statement = f": {last.line}" if last.line else ""
    path = "/".join(PurePath(last.filename).parts[-3:])
    return f"{text} in {last.name} ({path}, line {last.lineno}){statement}"
