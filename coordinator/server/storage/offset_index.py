"""A log's sparse offset index, as Kafka keeps it beside a segment: which batch begins about where.

Readers of the log have better look-ups. This one exists because its gaps are seen by clients: they
bound the list of aborted transactions in a Fetch. It is brought up to date when it is asked, never
by an append. Does not depend on batches' bytes.
"""

from __future__ import annotations

from bisect import bisect_right

INTERVAL_BYTES = 4_096
"""A batch gets an entry if more bytes than this were appended since the batch of the last entry
(index.interval.bytes)."""


class OffsetIndex:
    """Entries of one log: where a batch begins, and its last offset."""

    __slots__ = ("_indexed", "_last_offsets", "_positions", "_scanned")

    def __init__(self) -> None:
        self._positions: list[int] = []
        self._last_offsets: list[int] = []
        self._indexed = 0  # where the batch of the last entry begins
        self._scanned = 0  # where the first batch begins that was not looked at

    def extend(
        self, first_position: int, ends: list[int], last_offsets: list[int], segments: list[int]
    ) -> None:
        """Look at the batches that came since: `ends` are the positions behind each,
        `first_position` where the first begins, `segments` the offsets at which a segment begins,
        which has an index of its own."""
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
        """The offset of the first entry behind a position; None if there is none."""
        i = bisect_right(self._positions, position)
        return self._last_offsets[i] if i < len(self._positions) else None
