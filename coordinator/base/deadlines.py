"""Deadlines as data: keys that fall due at instants, moved and cancelled at will. Owns no clock and
runs nothing."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from heapq import heappop, heappush
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class Entry(Generic[K]):
    """The state of one key. `at`: its deadline, None if it was cancelled. `queued`: the earliest
    valid instant of it in the heap. `born`: its rank among keys with a deadline, by when each
    got one.
    """

    __slots__ = ("at", "born", "key", "queued")

    def __init__(self, key: K, born: int) -> None:
        self.key = key
        self.born = born
        self.at: int | None = None
        self.queued: int | None = None


class Deadlines(Generic[K]):
    """A set of keys with at most one deadline each. Moving a deadline later, which every heartbeat
    does, costs two lookups and an assignment.

    The heap may hold an earlier instant than the key's own; it is corrected when it is at the
    top. Of equal deadlines, the key that has had a deadline for the longest time is due first,
    however often it was moved.
    """

    __slots__ = ("_armed", "_entries", "_heap", "_serial")

    def __init__(self) -> None:
        self._entries: dict[K, Entry[K]] = {}
        """The entries of keys that have a deadline, and of cancelled ones as long as the heap holds
        an instant of them."""
        self._heap: list[tuple[int, int, Entry[K]]] = []
        self._serial = 0
        self._armed = 0

    def arm(self, key: K, at: int) -> None:
        """Set the deadline of `key`, in place of any it had."""
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = Entry(key, 0)
        if entry.at is None:
            self._serial += 1
            self._armed += 1
            entry.born = self._serial
        entry.at = at
        queued = entry.queued
        if queued is None or at < queued:
            self._push(entry, at)

    def cancel(self, key: K) -> None:
        """Forget the deadline of `key`, if it has one."""
        entry = self._entries.get(key)
        if entry is not None and entry.at is not None:
            entry.at = None
            self._armed -= 1

    def clear(self) -> None:
        """Forget all deadlines."""
        self._entries.clear()
        self._heap.clear()
        self._armed = 0

    def get(self, key: K) -> int | None:
        """Return the deadline of `key`, or None if it has none."""
        entry = self._entries.get(key)
        return None if entry is None else entry.at

    def first(self) -> K | None:
        """Return the key that is due first, or None."""
        return None if self.next() is None else self._heap[0][2].key

    def next(self) -> int | None:
        """Return the earliest deadline; None if there is none."""
        heap = self._heap
        if not heap:
            return None
        at, _, entry = heap[0]
        if entry.at == at == entry.queued:
            return at
        self._correct()
        return heap[0][0] if heap else None

    def due_keys(self, now: int) -> list[K]:
        """Return the keys that are due, in no particular order, without removing them."""
        return [
            entry.key
            for entry in self._entries.values()
            if entry.at is not None and entry.at <= now
        ]

    def due(self, now: int) -> Iterator[K]:
        """Remove and yield each key that is due, earliest first, including keys armed meanwhile."""
        while True:
            self._correct()
            if not self._heap or self._heap[0][0] > now:
                return
            _, _, entry = heappop(self._heap)
            self._forget(entry)
            entry.at = None
            self._armed -= 1
            yield entry.key

    def __len__(self) -> int:
        return self._armed

    def _push(self, entry: Entry[K], at: int) -> None:
        entry.queued = at
        heappush(self._heap, (at, entry.born, entry))

    def _correct(self) -> None:
        """Move stale instants of the heap until its top is a key's true deadline."""
        heap = self._heap
        while heap:
            at, _, entry = heap[0]
            if entry.queued != at:  # an earlier instant of this key was queued since
                heappop(heap)
                continue
            true = entry.at
            if true == at:
                return
            heappop(heap)
            if true is None:
                self._forget(entry)
            else:
                self._push(entry, true)

    def _forget(self, entry: Entry[K]) -> None:
        entry.queued = None
        del self._entries[entry.key]
