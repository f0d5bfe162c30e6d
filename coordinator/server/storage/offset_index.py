"""Sparse offset index of a log, as Kafka keeps it beside each segment.

The log has better look-ups; this index exists because clients see its gaps: they bound the list
of aborted transactions in a Fetch. It is updated when asked, never by an append.
"""

from __future__ import annotations

from bisect import bisect_right

INTERVAL_BYTES = 4_096
"""A batch gets an entry if more bytes than this were appended since the batch of the last entry
(index.interval.bytes)."""


class OffsetIndex:
    """Index entries of one log: the position of a batch, and its last offset."""

    __slots__ = ("_indexed", "_last_offsets", "_positions", "_scanned")

    def __init__(self) -> None:
        self._positions: list[int] = []
        self._last_offsets: list[int] = []
        self._indexed = 0  # where the batch of the last entry begins
        self._scanned = 0  # where the first batch begins that was not looked at

    def extend(
        self, first_position: int, ends: list[int], last_offsets: list[int], segments: list[int]
    ) -> None:
        """Index the batches appended since. `ends`: position behind each batch; `first_position`:
        position of the first; `segments`: the first offsets of segments, each of which has its
        own index.
        """
        if first_position > self._scanned:
            self._indexed = first_position
        start = max(self._scanned, first_position)
        first = bisect_right(ends, start)
        following = bisect_right(segments, last_offsets[first - 1]) if first and segments else 0
        for i in range(first, len(ends)):
            if following < len(segments) and segments[following] <= last_offsets[i]:
                self._indexed = start
                following = bisect_right(segments, last_offsets[i])
            if start - self._indexed > INTERVAL_BYTES:
                self._positions.append(start)
                self._last_offsets.append(last_offsets[i])
                self._indexed = start
            start = ends[i]
        self._scanned = start

    def behind(self, position: int) -> int | None:
        """Return the offset of the first entry behind a position, or None."""
        i = bisect_right(self._positions, position)
        return self._last_offsets[i] if i < len(self._positions) else None
