"""Retention: which segments of a log may be deleted by its configuration, and when.

Owns Kafka's rules (RET-1 to RET-7): whole segments, oldest first; never beyond the high
watermark; by size only while the rest has at least retention.bytes; by age, counted from a
segment's largest timestamp. Does not know the schedule; see `server.log_cleaning`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from .partition_log import PartitionLog, Segment

BY_START: Final = "log start"
BY_SIZE: Final = "retention.bytes"
BY_AGE: Final = "retention.ms"


class Retention(NamedTuple):
    """Topic configuration of retention. `deletes`, `compacts`: contents of cleanup.policy; with
    neither nothing is deleted by size or age.
    """

    deletes: bool = True
    compacts: bool = False
    retention_ms: int = 604_800_000  # below 0: any age
    retention_bytes: int = -1  # below 0: any size


class Deleted(NamedTuple):
    """Segments deleted together by one rule. `first_offset`, `end_offset`: the log start offset
    before and after; `largest_timestamp`: that of the last segment.
    """

    reason: str
    segments: int
    first_offset: int
    end_offset: int
    size: int
    largest_timestamp: int


def delete_old_segments(log: PartitionLog, retention: Retention, now_ms: int) -> list[Deleted]:
    """Delete the segments that may go at `now_ms` (wall clock); return the deletions in Kafka's
    order of rules.
    """
    deleted = [_delete(log, BY_START, lambda segment: segment.end_offset <= log.log_start_offset)]
    if retention.deletes:
        deleted += [_by_size(log, retention.retention_bytes), _by_age(log, retention, now_ms)]
    return [each for each in deleted if each is not None]


def _by_size(log: PartitionLog, most: int) -> Deleted | None:
    left = log.size - most
    if most < 0 or left < 0:
        return None

    def fits(segment: Segment) -> bool:
        nonlocal left
        left -= segment.size
        return left >= 0

    return _delete(log, BY_SIZE, fits)


def _by_age(log: PartitionLog, retention: Retention, now_ms: int) -> Deleted | None:
    if retention.retention_ms < 0:
        return None

    def is_old(segment: Segment) -> bool:
        dated_ms = segment.dated_ms
        return dated_ms is not None and now_ms - dated_ms > retention.retention_ms

    return _delete(log, BY_AGE, is_old)


def _delete(log: PartitionLog, reason: str, goes: Callable[[Segment], bool]) -> Deleted | None:
    """Delete the oldest segments up to the first for which `goes` is false. An empty active segment
    stays; deletion by log start offset never takes the active one.
    """
    count = size = 0
    last, high_watermark = None, log.high_watermark
    for segment in log.segments():
        if segment.active and (not segment.size or reason == BY_START):
            break
        if segment.end_offset > high_watermark or not goes(segment):
            break
        count, size, last = count + 1, size + segment.size, segment
    if last is None:
        return None
    before = log.log_start_offset
    log.delete_segments(count)
    return Deleted(reason, count, before, log.log_start_offset, size, last.largest_timestamp)


def next_deletion_ms(log: PartitionLog, retention: Retention, now_ms: int) -> int | None:
    """Return the earliest wall clock time at which the oldest segment may go if nothing is appended
    to it; None: never. High watermarks are ignored.
    """
    first = log.first_segment()
    if not first.active and first.end_offset <= log.log_start_offset:
        return now_ms
    if not retention.deletes or (first.active and not first.size):
        return None
    if 0 <= retention.retention_bytes <= log.size - first.size:
        return now_ms
    dated_ms = first.dated_ms
    if retention.retention_ms < 0 or dated_ms is None:
        return None
    return max(now_ms, dated_ms + retention.retention_ms + 1)
