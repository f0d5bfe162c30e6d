"""Sets of offsets, as sorted intervals that do not touch. Judges of records use them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class Offsets:
    """A set of offsets."""

    __slots__ = ("_ends", "_starts")

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []  # behind the last

    def add(self, first: int, last: int) -> None:
        """Add the offsets from `first` to `last`, both included."""
        low = bisect_left(self._ends, first)
        high = bisect_right(self._starts, last + 1)
        if low < high:
            first, last = min(first, self._starts[low]), max(last, self._ends[high - 1] - 1)
        self._starts[low:high] = [first]
        self._ends[low:high] = [last + 1]

    @property
    def empty(self) -> bool:
        return not self._starts

    def remove(self, first: int, last: int) -> None:
        """Remove the offsets from `first` to `last`, both included."""
        low = bisect_right(self._ends, first)
        high = bisect_right(self._starts, last)
        if low >= high:
            return
        before, behind = self._starts[low], self._ends[high - 1]
        starts = ([before] if before < first else []) + ([last + 1] if behind > last + 1 else [])
        ends = ([first] if before < first else []) + ([behind] if behind > last + 1 else [])
        self._starts[low:high], self._ends[low:high] = starts, ends

    def cut(self, end: int) -> None:
        """Remove the offsets from `end` on."""
        keep = bisect_left(self._starts, end)
        del self._starts[keep:], self._ends[keep:]
        if self._ends and self._ends[-1] > end:
            self._ends[-1] = end

    def missing(self, first: int, last: int) -> int | None:
        """Return the first offset from `first` to `last` that is not in the set, or None."""
        at = bisect_right(self._starts, first) - 1
        if at >= 0 and self._ends[at] > first:
            first = self._ends[at]
        return first if first <= last else None

    def count(self, first: int, last: int) -> int:
        """Return the number of offsets from `first` to `last` in the set."""
        found, at = 0, bisect_right(self._ends, first)
        while at < len(self._starts) and self._starts[at] <= last:
            found += min(self._ends[at] - 1, last) - max(self._starts[at], first) + 1
            at += 1
        return found

    def overlaps(self, first: int, last: int) -> int | None:
        """Return the first offset from `first` to `last` that is in the set, or None."""
        at = bisect_right(self._ends, first)
        if at == len(self._starts) or self._starts[at] > last:
            return None
        return max(first, self._starts[at])
