"""Runs: the conditions of consecutive offsets, run-length encoded.

Two flat sequences hold the first offset and the condition of each run, so that half a million
alternating records cost some megabytes. Conditions are shared values. The changes of one request
are applied in one pass. An offset without a record (None) is a gap.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from .states import RecordState

_NOTHING: Final = object()


class Condition(NamedTuple):
    """Condition of a record: state, delivery count, and for an acquired record its holder and the
    end of its lock.
    """

    state: RecordState
    delivery_count: int
    member_id: str = ""
    deadline_ms: int = 0


@lru_cache(maxsize=1_024)
def unheld(state: str, delivery_count: int) -> Condition:
    """Return the condition of records without a holder; equal conditions share one value."""
    return Condition(RecordState(state), delivery_count)


class Run(NamedTuple):
    """Consecutive offsets in one condition."""

    first: int
    last: int
    condition: Condition


class Runs:
    """Runs from `start` to before `end`; both are 0 if there are none."""

    __slots__ = ("_conditions", "_starts", "end")

    def __init__(self) -> None:
        self._starts: array[int] = array("q")
        self._conditions: list[Condition | None] = []
        self.end = 0

    def __bool__(self) -> bool:
        return bool(self._starts)

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def start(self) -> int:
        """The first offset."""
        return self._starts[0] if self._starts else 0

    def between(self, first: int, last: int) -> Iterator[Run]:
        """Yield the runs within these offsets, cut to them, without gaps."""
        starts, conditions = self._starts, self._conditions
        at = max(bisect_right(starts, first) - 1, 0)
        while at < len(starts) and starts[at] <= last:
            condition = conditions[at]
            end = starts[at + 1] if at + 1 < len(starts) else self.end
            if condition is not None and end > first:
                yield Run(max(first, starts[at]), min(last, end - 1), condition)
            at += 1

    def __iter__(self) -> Iterator[Run]:
        starts = self._starts
        for at, condition in enumerate(self._conditions):
            if condition is not None:
                yield Run(
                    starts[at],
                    (starts[at + 1] if at + 1 < len(starts) else self.end) - 1,
                    condition,
                )

    def change(self, changes: Sequence[tuple[int, int, Condition | None]]) -> None:
        """Set conditions: ranges (first, last, condition) in order, without overlaps. Offsets
        behind the end are added.
        """
        if not changes:
            return
        starts, conditions = self._starts, self._conditions
        low = max(bisect_right(starts, changes[0][0]) - 1, 0)
        high = bisect_right(starts, changes[-1][1])  # the first run that begins behind all changes
        at = min(starts[low], changes[0][0]) if starts else changes[0][0]
        pieces: list[tuple[int, Condition | None]] = []
        for first, last, condition in changes:
            pieces += self._kept(at, first)
            pieces.append((first, condition))
            at = last + 1
        pieces += self._kept(at, starts[high] if high < len(starts) else self.end)
        self.end = max(self.end, at)
        before = conditions[low - 1] if low else _NOTHING
        made = [
            (start, condition)
            for start, condition, previous in zip(
                *zip(*pieces, strict=True), [before, *(of for _, of in pieces)], strict=False
            )
            if condition != previous
        ]
        if high < len(starts) and pieces[-1][1] == conditions[high]:
            high += 1  # the run behind goes on as the last one here
        starts[low:high] = array("q", [start for start, _ in made])
        conditions[low:high] = [condition for _, condition in made]

    def _kept(self, first: int, until: int) -> Iterator[tuple[int, Condition | None]]:
        """Yield first offset and condition of each unchanged run between two changes."""
        starts, conditions = self._starts, self._conditions
        at = bisect_right(starts, first) - 1
        while first < until:
            if first >= self.end:
                yield first, None
                return
            yield first, None if at < 0 else conditions[at]
            at += 1
            first = starts[at] if at < len(starts) else self.end

    def drop_before(self, offset: int) -> None:
        """Remove the offsets before `offset`."""
        starts = self._starts
        if not starts or offset <= starts[0]:
            return
        if offset >= self.end:
            del starts[:], self._conditions[:]
            self.end = 0
            return
        at = bisect_right(starts, offset) - 1
        del starts[:at], self._conditions[:at]
        starts[0] = offset
