"""Two logs side by side: the first line in which they differ, what came before it, and what made it
happen.

The header and the name of the run do not count: two runs of one scenario are alike if everything
that happened is. Reads each log once and keeps a bounded number of its lines. Does not depend on
what the lines mean.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import zip_longest
from typing import Any, NamedTuple

from .envelope import HEADER_STREAM

Line = dict[str, Any]
_REMEMBERED = 100_000


class Divergence(NamedTuple):
    """Where two logs part. `before`: the lines that they have in common; a side is None where its
    log has ended.

    `causes`: of each side's line, what made it happen, the nearest first, as far as it is among the
    latest lines.
    """

    before: list[Line]
    one: Line | None
    other: Line | None
    causes: tuple[list[Line], list[Line]]


def first_divergence(
    one: Iterable[Line], other: Iterable[Line], context: int = 3
) -> Divergence | None:
    """The first difference; None if the logs are alike."""
    common: deque[Line] = deque(maxlen=_REMEMBERED)
    for left, right in zip_longest(_happened(one), _happened(other)):
        if left != right:
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
    for line in lines:
        if line["stream"] != HEADER_STREAM:
            yield {key: value for key, value in line.items() if key != "run"}


def _causes(line: Line | None, before: list[Line]) -> list[Line]:
    by_seq = (
        {each["seq"]: each for each in before}
        if line is not None and line["cause"] is not None
        else {}
    )
    causes: list[Line] = []
    cause = None if line is None else line["cause"]
    while cause in by_seq:
        causes.append(by_seq[cause])
        cause = by_seq[cause]["cause"]
    return causes
