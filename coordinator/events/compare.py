"""Comparison of two logs: the first line in which they differ, the lines before it, and its causes.

The header and the name of the run are ignored: two runs of one scenario are equal if every other
line is. Reads each log once and keeps a bounded number of its lines. Does not depend on what the
lines mean.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import zip_longest
from typing import NamedTuple

from .envelope import HEADER_STREAM
from .line import Line

_REMEMBERED = 100_000


class Divergence(NamedTuple):
    """The first difference between two logs. `before`: the last lines that they have in common; a
    side is None where its log has ended.

    `causes`: for each side, the chain of lines that caused its line, nearest first, as far as it
    is among the latest lines.
    """

    before: list[Line]
    one: Line | None
    other: Line | None
    causes: tuple[list[Line], list[Line]]


def first_divergence(
    one: Iterable[Line], other: Iterable[Line], context: int = 3
) -> Divergence | None:
    """Return the first difference; None if the logs are equal."""
    common: deque[Line] = deque(maxlen=_REMEMBERED)
    for left, right in zip_longest(_happened(one), _happened(other)):
        if not _alike(left, right):
            before = list(common)
            return Divergence(
                before[-context:] if context else [],
                left,
                right,
                (_causes(left, before), _causes(right, before)),
            )
        common.append(left)
    return None


def _happened(lines: Iterable[Line]) -> Iterable[Line]:
    return (line for line in lines if line.stream != HEADER_STREAM)


def _alike(one: Line | None, other: Line | None) -> bool:
    """Return whether two lines are equal apart from the name of their run."""
    if one is None or other is None:
        return one is other
    return {**one.plain, "run": ""} == {**other.plain, "run": ""}


def _causes(line: Line | None, before: list[Line]) -> list[Line]:
    if line is None or line.cause is None:
        return []
    by_seq = {each.seq: each for each in before}
    causes: list[Line] = []
    found = by_seq.get(line.cause)
    while found is not None:
        causes.append(found)
        found = None if found.cause is None else by_seq.get(found.cause)
    return causes
