"""Agenda of a coordinator: which of its shards has the earliest deadline.

Heartbeats move a shard's deadline later without a notice, so an entry may be too early; it is
corrected when it reaches the top. It is never too late: a shard reports every deadline that is
earlier than the one it reported before.
"""

from __future__ import annotations

from heapq import heappop, heappush, heapreplace
from typing import Protocol


class HasDeadline(Protocol):
    """Interface of a shard for the agenda."""

    def next_deadline(self) -> int | None:
        """Return the shard's earliest deadline, or None."""
        ...


class Agenda:
    """Earliest deadlines of shards, by partition."""

    __slots__ = ("_heap", "_queued", "_shards")

    def __init__(self, shards: dict[int, HasDeadline]) -> None:
        """`shards`: the coordinator's own dictionary, which grows."""
        self._shards = shards
        self._heap: list[tuple[int, int]] = []
        self._queued: dict[int, int] = {}

    def tell(self, partition: int, at: int) -> None:
        """Note that something in a shard may be due at an instant."""
        known = self._queued.get(partition)
        if known is None or at < known:
            self._queued[partition] = at
            heappush(self._heap, (at, partition))

    def no_later_than(self) -> int | None:
        """Return an instant no later than the earliest deadline, or None, without asking any shard."""
        return self._heap[0][0] if self._heap else None

    def first(self) -> tuple[int, int] | None:
        """Return the earliest deadline and its partition, or None."""
        heap = self._heap
        while heap:
            at, partition = heap[0]
            if self._queued.get(partition) != at:  # an earlier entry came since
                heappop(heap)
                continue
            shard = self._shards.get(partition)
            true = None if shard is None else shard.next_deadline()
            if true == at:
                return at, partition
            if true is None:
                heappop(heap)
                del self._queued[partition]
            else:
                self._queued[partition] = true
                heapreplace(heap, (true, partition))
                if heap[0] == (true, partition):
                    return true, partition
        return None
