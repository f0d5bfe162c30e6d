"""Spans of time as they grow: a value that holds from one instant until it changes. Instants are
whole milliseconds.

A track is fed in the order of time and returns `[from_ms, to_ms, value]` rows. It must not know
what its values mean.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable
from operator import itemgetter
from typing import Generic, TypeVar

V = TypeVar("V", bound=Hashable)


class Track(Generic[V]):
    """One value over time. None: nothing is drawn."""

    __slots__ = ("_since", "_value", "rows")

    def __init__(self) -> None:
        self.rows: list[tuple[int, int, V]] = []
        self._since = 0
        self._value: V | None = None

    @property
    def value(self) -> V | None:
        """The present value."""
        return self._value

    def set(self, value: V | None, at_ms: int) -> None:
        """Change the value at `at_ms`. A span without length is left out."""
        if value == self._value:
            return
        if self._value is not None and at_ms > self._since:
            self.rows.append((self._since, at_ms, self._value))
        self._value, self._since = value, at_ms

    def revise(self, since_ms: int, change: Callable[[V], V]) -> None:
        """Change the values that were drawn from `since_ms` on."""
        revised: list[tuple[int, int, V]] = []
        while self.rows and self.rows[-1][1] > since_ms:
            begin, end, value = self.rows.pop()
            revised.append((max(begin, since_ms), end, change(value)))
            if begin < since_ms:
                revised.append((begin, since_ms, value))
        self.rows += reversed(revised)
        if self._value is not None:
            if self._since < since_ms:
                self.rows.append((self._since, since_ms, self._value))
                self._since = since_ms
            self._value = change(self._value)

    def until(self, end_ms: int) -> list[tuple[int, int, V]]:
        """Return all spans; the last one ends at `end_ms`."""
        if self._value is None or end_ms < self._since:
            return self.rows
        return [*self.rows, (self._since, end_ms, self._value)]

    def between(self, begin_ms: int, end_ms: int) -> list[tuple[int, int, V]]:
        """Return the spans that end after `begin_ms`; the last one ends at `end_ms`."""
        rows = self.rows[bisect_right(self.rows, begin_ms, key=_end_of) :]
        if self._value is not None and end_ms >= self._since:
            rows.append((self._since, end_ms, self._value))
        return rows

    def last_before(self, at_ms: int, end_ms: int) -> tuple[int, int, V] | None:
        """Return the last span that begins before `at_ms`, or None. The present one ends at
        `end_ms`."""
        if self._value is not None and self._since < at_ms:
            return self._since, end_ms, self._value
        place = bisect_left(self.rows, at_ms, key=_begin_of) - 1
        return self.rows[place] if place >= 0 else None


_begin_of, _end_of = itemgetter(0), itemgetter(1)
