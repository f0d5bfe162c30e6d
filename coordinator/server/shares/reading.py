"""Reading of a partition log for a share group: whole batches with their offsets, and the spans of
aborted transactions. Does not know share partitions.
"""

from __future__ import annotations

from collections import deque
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from coordinator.events.share_partitions import Span

from ..storage.records import CONTROL, TRANSACTIONAL

if TYPE_CHECKING:
    from ..storage.partition_log import PartitionLog

_HEAD = Struct(">qi")
_HEAD_SIZE = 12
_ATTRIBUTES = Struct(">h")
_ATTRIBUTES_AT, _LAST_DELTA_AT, _PRODUCER_AT = 21, 23, 43
_LEAST = 61
_INT, _LONG = Struct(">i"), Struct(">q")


class Batches(NamedTuple):
    """Whole batches of a log: their offsets, and the end of each in the bytes."""

    data: bytes
    spans: list[Span]
    ends: list[int]
    aborted: list[Span]

    def holding(self, first: int, last: int) -> bytes:
        """Return the bytes of the batches with offsets in this range; if those are all, everything
        that was read, including the beginning of the next batch.
        """
        if first <= self.spans[0].last_offset and last >= self.spans[-1].first_offset:
            return self.data
        start, end = len(self.data), 0
        before = 0
        for span, at in zip(self.spans, self.ends, strict=True):
            if span.last_offset >= first and span.first_offset <= last:
                start, end = min(start, before), at
            before = at
        return self.data[start:end]


def read(
    log: PartitionLog, offset: int, max_bytes: int, *, until: int, committed: bool, whole: bool
) -> Batches:
    """Read batches from an offset on, which must lie within the log, and at most one batch beyond
    the one that contains `until`. `whole`: return the first batch even if it exceeds
    `max_bytes`.
    """
    end = log.last_stable_offset if committed else log.high_watermark
    end = min(end, log.behind(until, 2))
    data = log.read(offset, max_bytes, at_least_one=whole, end=end)
    aborts = (
        deque(sorted((of.first_offset, of.producer_id) for of in log.aborted_in(offset, len(data))))
        if committed and log.aborted and data
        else deque()
    )
    aborted: set[int] = set()
    """Producers whose transaction, at this batch, is one that was aborted."""
    spans: list[Span] = []
    ends: list[int] = []
    passed_over: list[Span] = []
    at = 0
    while at + _LEAST <= len(data):
        base, length = _HEAD.unpack_from(data, at)
        if at + _HEAD_SIZE + length > len(data):
            break
        span = Span(base, base + _INT.unpack_from(data, at + _LAST_DELTA_AT)[0])
        (attributes,) = _ATTRIBUTES.unpack_from(data, at + _ATTRIBUTES_AT)
        while aborts and aborts[0][0] <= span.last_offset:
            aborted.add(aborts.popleft()[1])
        if aborted and attributes & TRANSACTIONAL:
            (producer_id,) = _LONG.unpack_from(data, at + _PRODUCER_AT)
            if attributes & CONTROL:
                aborted.discard(producer_id)
            elif producer_id in aborted:
                passed_over.append(span)
        spans.append(span)
        at += _HEAD_SIZE + length
        ends.append(at)
    return Batches(data, spans, ends, passed_over)
