"""Agenda: which shard has something to do next, among all that a coordinator has.

A shard's own deadline moves later with every heartbeat, which nobody tells; so an entry here may be
too early, and is put right when it comes to the top. It is never too late: a shard tells when
something falls due earlier than what it told before.
"""

from __future__ import annotations

from heapq import heappop, heappush, heapreplace
from typing import Protocol


class HasDeadline(Protocol):
    """The agenda's demands on a shard."""

    def next_deadline(self) -> int | None:
        """The instant of its earliest deadline."""
        ...


class Agenda:
    """The earliest deadlines of shards, by partition."""

    __slots__ = ("_heap", "_queued", "_shards")

    def __init__(self, shards: dict[int, HasDeadline]) -> None:
        """`shards` is the coordinator's own dictionary, which grows."""
        self._shards = shards
        self._heap: list[tuple[int, int]] = []
        self._queued: dict[int, int] = {}

    def tell(self, partition: int, at: int) -> None:
        """Something in this shard may fall due at an instant."""
        known = self._queued.get(partition)
        if known is None or at < known:
            self._queued[partition] = at
            heappush(self._heap, (at, partition))

    def no_later_than(self) -> int | None:
        """An instant that is no later than the earliest deadline; None if there is none. No shard
        is asked."""
        return self._heap[0][0] if self._heap else None

    def first(self) -> tuple[int, int] | None:
        """The earliest deadline of all and its partition; None if there is none."""
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
