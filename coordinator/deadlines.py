"""Deadlines as data: keys that fall due at instants, moved and cancelled at will. Owns no clock and runs nothing."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from heapq import heappop, heappush
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class Deadlines(Generic[K]):
    """At most one deadline a key. Moving one later, which every heartbeat does, costs two dictionary writes.

    The heap may hold an earlier instant than the key's own; it is corrected when it comes to the top. Of equal instants that of the
    key that has had a deadline for the longest time falls due first, however often it was moved.
    """

    __slots__ = ("_at", "_born", "_heap", "_queued", "_serial")

    def __init__(self) -> None:
        self._at: dict[K, int] = {}
        self._queued: dict[K, int] = {}
        self._born: dict[K, int] = {}
        self._heap: list[tuple[int, int, K]] = []
        self._serial = 0

    def arm(self, key: K, at: int) -> None:
        """Let `key` fall due at `at`, in place of any deadline it had."""
        if key not in self._at:
            self._serial += 1
            self._born[key] = self._serial
        self._at[key] = at
        queued = self._queued.get(key)
        if queued is None or at < queued:
            self._push(key, at)

    def cancel(self, key: K) -> None:
        """Forget the deadline of `key`, if it has one."""
        if self._at.pop(key, None) is not None:
            del self._born[key]

    def clear(self) -> None:
        """Forget all deadlines."""
        self._at.clear()
        self._queued.clear()
        self._born.clear()
        self._heap.clear()

    def get(self, key: K) -> int | None:
        """When `key` falls due."""
        return self._at.get(key)

    def first(self) -> K | None:
        """The key that falls due first."""
        self._correct()
        return self._heap[0][2] if self._heap else None

    def next(self) -> int | None:
        """The earliest deadline; None if there is none."""
        if self._heap:
            at, _, key = self._heap[0]
            if self._at.get(key) == at and self._queued.get(key) == at:
                return at
        self._correct()
        return self._heap[0][0] if self._heap else None

    def due(self, now: int) -> Iterator[K]:
        """Take out and yield each key that is due, earliest first; keys armed meanwhile count if they are due too."""
        while True:
            self._correct()
            if not self._heap or self._heap[0][0] > now:
                return
            _, _, key = heappop(self._heap)
            del self._queued[key]
            del self._at[key]
            del self._born[key]
            yield key

    def __len__(self) -> int:
        return len(self._at)

    def _push(self, key: K, at: int) -> None:
        self._queued[key] = at
        heappush(self._heap, (at, self._born[key], key))

    def _correct(self) -> None:
        """Bring the heap's top to a key's true deadline."""
        heap = self._heap
        while heap:
            at, _, key = heap[0]
            if self._queued.get(key) != at:  # an earlier entry of this key was queued since
                heappop(heap)
                continue
            true = self._at.get(key)
            if true == at:
                return
            heappop(heap)
            del self._queued[key]
            if true is not None:
                self._push(key, true)
