"""Log of one partition, in memory: batches as producers sent them, with look-ups by offset,
timestamp and leader epoch.

Owns offsets, segments, the log start offset (moved by DeleteRecords and the deletion of
segments), and whether a batch may be appended under a topic's configuration. `retention` decides
which segments go. Of a batch only base offset and leader epoch are changed (both outside its
checksum), and its timestamps under LogAppendTime or if the header is wrong; records are never
copied one by one; all look-ups are bisections. A segment is no object: only its first offset is
stored. The high watermark is the log end offset, as there are no other replicas (`replica_log`
is for several brokers). Aborted transactions are in `aborted`. Does not know fetches, other
replicas, or the time of day (`now_ms` is a wall clock passed by the caller).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, NamedTuple

from coordinator.base.errors import ErrorCode

from .aborted import AbortedTransaction, AbortedTransactions
from .append_checks import RECORDS, LogConfig, check_records
from .compression import Budget, decompress
from .offset_index import OffsetIndex
from .producers import Producers
from .recompression import recompressed
from .record_codec import build_batch, measure_records, wrapped
from .records import (
    CONTROL,
    CRC_START,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    NO_TIMESTAMP,
    TRANSACTIONAL,
    BatchHeader,
    BatchRefused,
    check_header,
    crc32c,
    parse_header,
    stamp,
    with_max_timestamp,
)


class Appended(NamedTuple):
    """Position of an appended batch. `timestamp`: its append time, of a duplicate its maximum; -1
    under CreateTime. `sent`: the original header, if the batch was recompressed.
    """

    base_offset: int
    timestamp: int
    duplicate: bool = False
    sent: BatchHeader | None = None


class TimestampedOffset(NamedTuple):
    """Answer to a look-up of an offset; -1 for missing values."""

    offset: int = -1
    timestamp: int = NO_TIMESTAMP
    leader_epoch: int = -1


class EpochEnd(NamedTuple):
    """End of a leader epoch: the newest known epoch not above the one asked for, and the offset
    behind it.
    """

    epoch: int = -1
    end_offset: int = -1


class Marker(NamedTuple):
    """Transaction marker, as written to each partition of a transaction (KIP-98)."""

    producer_id: int
    producer_epoch: int
    committed: bool
    coordinator_epoch: int = 0
    transaction_version: int = (
        0  # 2: its epoch must be above that of the batches before it (KIP-890)
    )

    def batch(self, timestamp: int) -> bytes:
        """Return the control batch. Key: version 0 and the type; value: version 0 and the
        coordinator's epoch.
        """
        key = (0).to_bytes(2, "big") + int(self.committed).to_bytes(2, "big")
        value = (0).to_bytes(2, "big") + self.coordinator_epoch.to_bytes(4, "big", signed=True)
        return build_batch(
            [(key, value)],
            timestamp=timestamp,
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            attributes=TRANSACTIONAL | CONTROL,
        )


class Segment(NamedTuple):
    """A segment of a log. `end_offset`: the first offset of the next segment, of the active one the
    log end offset; `size`: bytes; `largest_timestamp`: -1 if no batch has one; `modified_ms`:
    wall clock time of its last change, if known.
    """

    first_offset: int
    end_offset: int
    size: int
    largest_timestamp: int
    modified_ms: int | None
    active: bool

    @property
    def dated_ms(self) -> int | None:
        """Time from which its age is counted: the largest timestamp, else the last change; None if
        it never had a batch.
        """
        return self.largest_timestamp if self.largest_timestamp >= 0 else self.modified_ms


class StoredBatch(NamedTuple):
    """A batch as stored: the head before the checksummed part, and that part. Both are empty if it
    lies below the log start offset.
    """

    last_offset: int
    head: bytes
    body: bytes

    def header(self) -> BatchHeader:
        """Return the batch header; below the log start offset that of an empty batch."""
        if not self.head:
            return _NOTHING._replace(base_offset=self.last_offset)
        return parse_header(self.head + self.body[:RECORDS])


_NOTHING = BatchHeader(0, 0, -1, 2, 0, 0, 0, -1, -1, -1, -1, -1, 0)
_BELOW_ALL = -1 << 63
_NO_MARKER_LIMITS = LogConfig()


class Rewritten:
    """Batches that take the place of a log's oldest segments, added one by one. `firsts`: first
    offsets of the new segments; `position`: bytes up to the last batch.
    """

    __slots__ = (
        "_following",
        "_top",
        "bodies_end",
        "firsts",
        "last_offsets",
        "pieces",
        "position",
        "tops",
    )

    def __init__(self, firsts: list[int], position: int) -> None:
        self.firsts = firsts
        self.position = position
        self._top, self._following = _BELOW_ALL, 1
        self.last_offsets: list[int] = []
        self.bodies_end: list[int] = []
        self.tops: list[int] = []
        self.pieces: list[bytes] = []

    def add(self, batch: StoredBatch) -> None:
        """Add the next batch."""
        while (
            self._following < len(self.firsts) and self.firsts[self._following] <= batch.last_offset
        ):
            self._top, self._following = _BELOW_ALL, self._following + 1
        self.position += len(batch.head) + len(batch.body)
        self._top = max(self._top, batch.header().max_timestamp)
        self.last_offsets.append(batch.last_offset)
        self.bodies_end.append(self.position)
        self.tops.append(self._top)
        self.pieces += (batch.head, batch.body)


class PartitionLog:
    """Log of one partition. `leader_epoch`: its first leader epoch.

    `calls_cleaner`: True if the cleaner must be told of the next append, because it has no
    deadline for the log, or a segment began. `began_by`: the setting by which the active segment
    began, until the cleaner has logged it. Only the cleaner clears these two.
    """

    __slots__ = (
        "_bodies_end",
        "_created_ms",
        "_dropped_highest",
        "_epochs",
        "_first_position",
        "_first_segment",
        "_full_position",
        "_highest",
        "_index",
        "_last_offsets",
        "_late_ms",
        "_limits_of",
        "_modified_ms",
        "_pieces",
        "_segment_ms",
        "_segment_position",
        "_segments",
        "_top",
        "_tops",
        "aborted",
        "began_by",
        "calls_cleaner",
        "changes",
        "cleaned_to",
        "log_end_offset",
        "log_start_offset",
        "producers",
        "transactions",
    )

    def __init__(self, leader_epoch: int = 0) -> None:
        self.log_start_offset = 0
        self.log_end_offset = 0
        self.producers = Producers()
        self.aborted = AbortedTransactions()
        self._index = OffsetIndex()
        self.transactions: dict[int, int] = {}
        """Producer id -> where its open transaction began; the oldest first. Only this class writes
        it."""
        # One entry a batch: last offset; byte position of its end; highest timestamp so far in its
        # segment. Two entries a batch: stamp, rest; both are empty of a batch below the log start.
        self._last_offsets: list[int] = []
        self._bodies_end: list[int] = []
        self._tops: list[int] = []
        self._pieces: list[bytes] = []
        self._first_position = 0
        self._highest: tuple[int, bytes, bytes] | None = None
        self.calls_cleaner, self.began_by = True, ""
        self.cleaned_to = 0
        """Up to where the log was compacted."""
        self.changes = 0
        """The number of changes of the log other than appends."""
        # A batch of a later time, or that ends further on, may be the first of another segment; the
        # limits are those of this configuration.
        self._limits_of: LogConfig | None = None
        self._late_ms = self._full_position = 0
        # The first offsets of segments: of the first, and of the others. Of the active one: the
        # highest timestamp of its first batch (None: not known, or it has none), its highest so
        # far, where its bytes begin, and when it came to be by the wall clock (None: not known).
        self._first_segment = 0
        self._segments: list[int] = []
        self._segment_ms: int | None = None
        self._top = _BELOW_ALL
        self._segment_position = 0
        self._created_ms: int | None = None
        self._dropped_highest: dict[int, tuple[int, bytes, bytes]] = {}
        """By first offset, of segments partly below the log start: what has the highest timestamp
        there."""
        self._modified_ms: dict[int, int] = {}
        """By first offset: when segments were last appended to, of closed ones and of those without
        timestamps."""
        self._epochs: list[EpochEnd] = [
            EpochEnd(leader_epoch, 0)
        ]  # here `end_offset` is where the epoch starts

    @property
    def high_watermark(self) -> int:
        """The offset behind the last record that consumers may read."""
        return self.log_end_offset

    @property
    def last_stable_offset(self) -> int:
        """The first offset of the oldest open transaction, or the high watermark without one: the
        end for read_committed consumers.

        If the log start offset passed that record, it is the first offset of the batch that
        contains the log start offset, as in Kafka.
        """
        if not self.transactions:
            return self.high_watermark
        first = next(iter(self.transactions.values()))
        if first < self.log_start_offset:
            at = bisect_left(self._last_offsets, self.log_start_offset)
            first = self.log_start_offset
            if at < len(self._last_offsets):
                first = min(first, self._header(at).base_offset)
        return min(first, self.high_watermark)

    # -- writing

    def append(
        self,
        data: bytes,
        header: BatchHeader,
        config: LogConfig,
        *,
        leader_epoch: int,
        now_ms: int,
        where: str = "",
        budget: Budget | None = None,
        elapsed_ms: int | None = None,
    ) -> Appended:
        """Append the batch at the beginning of `data`, whose header `records.sole_batch` returned.

        `where`: Kafka's name of the partition, topic-index; `budget`: limit of the work of
        checking records. `now_ms`: wall clock; `elapsed_ms`: a clock that never jumps, for
        timers (None: the wall clock does not jump). The caller has asked the transaction
        coordinator about a transactional batch. Raises BatchRefused, and then nothing has
        changed, in Kafka's order of checks: size (10), checksum (2), header (87), records (87,
        32), segment (18), producer (47, 45, 48).
        """
        if header.base_offset != 0:
            raise BatchRefused(
                ErrorCode.INVALID_RECORD, f"base offset {header.base_offset} instead of 0"
            )
        if header.size > config.max_message_bytes:
            raise BatchRefused(
                ErrorCode.MESSAGE_TOO_LARGE,
                f"{header.size} bytes, {config.max_message_bytes} allowed",
            )
        body = data[CRC_START : header.size]
        if header.size < HEADER_SIZE or crc32c(body) != header.crc:
            raise BatchRefused(ErrorCode.CORRUPT_MESSAGE, "less than a header, or a wrong checksum")
        check_header(header)
        highest = check_records(header, body, config, now_ms, where, budget)
        if config.append_time:
            header, body = with_max_timestamp(header, body, now_ms, append_time=True)
        elif highest != header.max_timestamp or header.attributes & LOG_APPEND_TIME:
            header, body = with_max_timestamp(header, body, highest, append_time=False)
        sent = None
        if config.codec is not None and header.codec != config.codec:
            sent = header
            header, body = recompressed(header, body, config.codec, config.compression_level)
            if header.size > config.max_message_bytes:
                raise BatchRefused(
                    ErrorCode.MESSAGE_TOO_LARGE,
                    f"{header.size} bytes once it is compressed anew, {config.max_message_bytes} allowed",
                )
        if header.size > config.segment_bytes:
            raise BatchRefused(
                ErrorCode.RECORD_LIST_TOO_LARGE,
                f"{header.size} bytes, a segment has {config.segment_bytes}",
            )
        if header.has_producer:
            self.producers.expire(
                now_ms,
                config.producer_id_expiration_ms,
                now_ms if elapsed_ms is None else elapsed_ms,
            )
            known = self.producers.duplicate(header)
            if known is not None:
                return Appended(known.base_offset, known.timestamp, duplicate=True)
            self.producers.check(header)
        base_offset = self.log_end_offset
        if (
            config is not self._limits_of
            or header.max_timestamp > self._late_ms
            or self._bodies_end[-1] + header.size > self._full_position
        ):
            self._look_at_segment(header.max_timestamp, header.size, config, now_ms)
        self._add(header, body, leader_epoch)
        if header.max_timestamp < 0:
            self._modified_ms[self.active_offset] = now_ms
        if header.has_producer:
            self.producers.appended(header, base_offset)
            if header.attributes & TRANSACTIONAL:
                self.transactions.setdefault(header.producer_id, base_offset)
        return Appended(base_offset, now_ms if config.append_time else NO_TIMESTAMP, sent=sent)

    def append_marker(
        self,
        marker: Marker,
        *,
        leader_epoch: int,
        now_ms: int,
        config: LogConfig = _NO_MARKER_LIMITS,
    ) -> int:
        """End a producer's transaction in this log, if it has one; return the marker's offset.
        Raises BatchRefused 47 and 52.
        """
        self.producers.check_marker(
            marker.producer_id,
            marker.producer_epoch,
            marker.coordinator_epoch,
            marker.transaction_version,
        )
        data = marker.batch(now_ms)
        header, body = parse_header(data), data[CRC_START:]
        if config.append_time:
            header, body = with_max_timestamp(header, body, now_ms, append_time=True)
        offset = self.log_end_offset
        self._look_at_segment(now_ms, header.size, config, now_ms)
        self._add(header, body, leader_epoch)
        self._marked(marker, offset, now_ms)
        return offset

    def _marked(self, marker: Marker, offset: int, timestamp: int) -> None:
        first_offset = self.producers.marked(
            marker.producer_id, marker.producer_epoch, marker.coordinator_epoch, timestamp
        )
        if first_offset is not None:
            del self.transactions[marker.producer_id]
            if not marker.committed:
                stable = max(
                    next(iter(self.transactions.values()), self.log_end_offset),
                    self.log_start_offset,
                )
                self.aborted.enter(marker.producer_id, first_offset, offset, stable)

    def _add(self, header: BatchHeader, body: bytes, leader_epoch: int) -> None:
        self.assign_epoch(leader_epoch)
        self._keep(header, stamp(self.log_end_offset, leader_epoch, header), body)

    def _look_at_segment(self, timestamp: int, size: int, config: LogConfig, now_ms: int) -> None:
        """Begin a segment before a batch with this highest timestamp and size if it is due (SEG-1,
        SEG-2), and note the bounds up to which batches can be appended without another check.
        For a copied or truncated log the active segment's first timestamp is not known yet.
        """
        if self._created_ms is None:
            self._created_ms = now_ms
        if not self._last_offsets or self._last_offsets[-1] < self.active_offset:
            self._segment_ms = timestamp if timestamp >= 0 else None
        else:
            by = self._why_new_segment(timestamp, size, config, now_ms)
            if by:
                self._modified_ms.setdefault(self.active_offset, now_ms)
                self._begin_segment(self.log_end_offset, by)
                self._created_ms = now_ms
                self._segment_ms = timestamp if timestamp >= 0 else None
        self._limits_of = config
        self._late_ms = (
            _BELOW_ALL
            if self._segment_ms is None
            else self._segment_ms + config.lasts_ms(self.active_offset)
        )
        self._full_position = self._segment_position + min(config.segment_bytes, config.index_bytes)

    def _why_new_segment(self, timestamp: int, size: int, config: LogConfig, now_ms: int) -> str:
        """Return the setting by which the next batch begins a segment, or ""."""
        if self._segment_ms is None:
            first = bisect_left(self._last_offsets, self.active_offset)
            began_ms = self._header(first).max_timestamp if self._pieces[2 * first] else -1
            self._segment_ms = began_ms if began_ms >= 0 else None
        if self._segment_ms is None:
            assert self._created_ms is not None
            waited_ms = now_ms - self._created_ms
        else:
            waited_ms = timestamp - self._segment_ms
        filled = self._bodies_end[-1] - self._segment_position
        if filled + size > config.segment_bytes:
            return "segment.bytes"
        if waited_ms > config.lasts_ms(self.active_offset):
            return "segment.ms"
        if filled > config.index_bytes and self._index_is_full(config):
            return "segment.index.bytes"
        return ""

    def _begin_segment(self, offset: int, by: str = "") -> None:
        """Begin a segment at an offset; an active segment without batches moves there instead."""
        if self._last_offsets and self._last_offsets[-1] >= self.active_offset:
            self._segments.append(offset)
            self._segment_position = self._bodies_end[-1]
        elif self._segments:
            self._segments[-1] = offset
        else:
            self._first_segment = offset
        self._segment_ms, self._top, self._created_ms = None, _BELOW_ALL, None
        self._limits_of, self.calls_cleaner, self.began_by = None, True, by

    def _index_is_full(self, config: LogConfig) -> bool:
        """Return True if an index of the active segment is full. There is an entry for each
        `index_interval_bytes`; in the time index only if the highest timestamp rose since the
        last one.
        """
        first = bisect_left(self._last_offsets, self.active_offset)
        start = indexed = self._segment_position
        entries, dated, latest = 0, 0, _BELOW_ALL
        for i in range(first, len(self._bodies_end)):
            if start - indexed > config.index_interval_bytes:
                entries, indexed = entries + 1, start
                if self._tops[i] > latest:
                    dated, latest = dated + 1, self._tops[i]
            start = self._bodies_end[i]
        return entries >= config.index_max_bytes // 8 or dated >= config.index_max_bytes // 12 - 1

    def _keep(self, header: BatchHeader, head: bytes, body: bytes) -> None:
        highest = header.max_timestamp
        if self._highest is None or highest > self._highest[0]:
            self._highest = highest, head, body
        self._pieces += (head, body)
        if highest > self._top:
            self._top = highest
        self._tops.append(self._top)
        self._bodies_end.append(
            (self._bodies_end[-1] if self._bodies_end else self._first_position) + header.size
        )
        self.log_end_offset += header.last_offset_delta + 1
        self._last_offsets.append(self.log_end_offset - 1)

    def assign_epoch(self, leader_epoch: int) -> None:
        """Start a leader epoch at the log end; older and known epochs change nothing. Epochs
        without records are removed.
        """
        if leader_epoch > self._epochs[-1].epoch:
            while self._epochs and self._epochs[-1].end_offset >= self.log_end_offset:
                self._epochs.pop()
            self._epochs.append(EpochEnd(leader_epoch, self.log_end_offset))

    def delete_records(self, before: int) -> int:
        """Move the log start offset up to `before` (-1: the high watermark), never back; return the
        log start offset (KIP-107). Batches wholly below it are dropped. Raises BatchRefused 1 if
        `before` is behind the high watermark or negative.
        """
        if before == -1:
            before = self.high_watermark
        if not 0 <= before <= self.high_watermark:
            raise BatchRefused(
                ErrorCode.OFFSET_OUT_OF_RANGE, f"offset {before} is not in 0..{self.high_watermark}"
            )
        if before <= self.log_start_offset:
            return self.log_start_offset
        self._start_at(before)
        return before

    def _start_at(self, offset: int) -> None:
        """Move the log start offset up and drop the batches wholly below it. Their bytes and
        highest timestamp are kept until their whole segment goes, as on a disk: one entry for
        each segment.
        """
        self.log_start_offset = offset
        self.changes += 1
        dropped = self._live
        for at in range(bisect_right(self._segments, offset), -1, -1):
            first, stop = self._batches(at)
            stop = min(stop, dropped)
            if first < stop:
                self._remember_highest(at, first, stop)
                self._pieces[2 * first : 2 * stop] = (b"", b"")
                del self._last_offsets[first : stop - 1], self._bodies_end[first : stop - 1]
                del self._tops[first : stop - 1]
        self.aborted.forget(offset)
        old = [i for i, epoch in enumerate(self._epochs) if epoch.end_offset <= offset]
        if old:
            self._epochs[: old[-1] + 1] = [EpochEnd(self._epochs[old[-1]].epoch, offset)]

    def _remember_highest(self, segment: int, first: int, stop: int) -> None:
        """Keep the batch with the highest timestamp of a segment's batches to be dropped."""
        i = bisect_left(self._tops, self._tops[stop - 1], first, stop)
        head, body = self._pieces[2 * i : 2 * i + 2]
        if head:  # else it was dropped, and is remembered
            offset = self._segments[segment - 1] if segment else self._first_segment
            self._dropped_highest[offset] = self._tops[i], head, body

    @property
    def _live(self) -> int:
        """Index of the first batch that is not wholly below the log start offset."""
        return bisect_left(self._last_offsets, self.log_start_offset)

    # -- segments

    @property
    def active_offset(self) -> int:
        """The first offset of the active segment."""
        return self._segments[-1] if self._segments else self._first_segment

    def segments(self) -> list[Segment]:
        """Return the segments, oldest first; there is at least the active one, which is last."""
        return [self._segment(at) for at in range(len(self._segments) + 1)]

    @property
    def has_one_segment(self) -> bool:
        """True if the active segment is the only one."""
        return not self._segments

    def in_same_segment(self, offset: int, other: int) -> bool:
        """Return True if two offsets lie in the same segment."""
        starts = self._segments
        return not starts or bisect_right(starts, offset) == bisect_right(starts, other)

    def first_segment(self) -> Segment:
        """The oldest segment."""
        return self._segment(0)

    def _segment(self, at: int) -> Segment:
        first, stop = self._batches(at)
        offset = self._segments[at - 1] if at else self._first_segment
        active = at == len(self._segments)
        size = 0
        if first < stop:
            size = self._bodies_end[stop - 1] - (
                self._bodies_end[first - 1] if first else self._first_position
            )
        return Segment(
            offset,
            self.log_end_offset if active else self._segments[at],
            size,
            max(self._tops[stop - 1], NO_TIMESTAMP) if first < stop else NO_TIMESTAMP,
            self._modified_ms.get(offset),
            active,
        )

    def _batches(self, segment: int) -> tuple[int, int]:
        """Return the indexes of a segment's first batch and of the first batch behind it."""
        offsets, starts = self._last_offsets, self._segments
        return (
            bisect_left(offsets, starts[segment - 1]) if segment else 0,
            bisect_left(offsets, starts[segment]) if segment < len(starts) else len(offsets),
        )

    def delete_segments(self, count: int) -> None:
        """Delete the `count` oldest segments. If that is all of them, a new one begins at the log
        end offset first.
        """
        if count > len(self._segments):
            self._begin_segment(self.log_end_offset, "retention")
        count = min(count, len(self._segments))
        if not count:
            return
        self.changes += 1
        start = self._segments[count - 1]
        for offset in (self._first_segment, *self._segments[: count - 1]):
            self._modified_ms.pop(offset, None)
            self._dropped_highest.pop(offset, None)
        if start > self.log_start_offset:
            self._start_at(start)
        self._first_segment = start
        del self._segments[:count]
        gone = bisect_left(self._last_offsets, start)
        if not gone:
            return
        self._first_position = self._bodies_end[gone - 1]
        del self._last_offsets[:gone], self._bodies_end[:gone]
        del self._tops[:gone], self._pieces[: 2 * gone]
        self._find_highest()

    def begin_ms(self, segment: int) -> int | None:
        """Return the highest timestamp of a segment's first batch, or None if it has no batch left."""
        first, stop = self._batches(segment)
        if first >= stop or not self._pieces[2 * first]:
            return None
        return self._header(first).max_timestamp

    def stored(self, segments: int) -> Iterator[StoredBatch]:
        """Yield the batches of the oldest segments. Appends meanwhile do no harm; `changes` counts
        what does.
        """
        for i in range(self._batches(segments - 1)[1]):
            yield StoredBatch(self._last_offsets[i], self._pieces[2 * i], self._pieces[2 * i + 1])

    def rewrite(self, firsts: list[int]) -> Rewritten:
        """Begin a rewrite of the oldest segments. `firsts`: first offsets of the new ones."""
        return Rewritten(firsts, self._first_position)

    def replace_segments(
        self, count: int, rewritten: Rewritten, aborted: list[AbortedTransaction]
    ) -> list[list[Any]]:
        """Replace the `count` oldest segments. `aborted`: their remaining aborted transactions.

        Return what was replaced: dropping a million batches at once takes a fifth of a second, so
        the caller empties these lists bit by bit.
        """
        self.changes += 1
        stop, firsts = self._batches(count - 1)[1], rewritten.firsts
        ended = self._bodies_end[stop - 1] if stop else self._first_position
        behind = self._segments[count - 1]
        sources = [self._first_segment, *self._segments[: count - 1]]
        for at, offset in enumerate(firsts, 1):
            end = firsts[at] if at < len(firsts) else behind
            changed = self._modified_ms.get(sources[bisect_left(sources, end) - 1])
            if changed is not None:
                self._modified_ms[offset] = changed
        shift = rewritten.position - ended
        replaced: list[list[Any]] = [self._last_offsets, self._tops, self._pieces, self._bodies_end]
        rewritten.bodies_end += [end + shift for end in self._bodies_end[stop:]]
        rewritten.last_offsets += self._last_offsets[stop:]
        rewritten.tops += self._tops[stop:]
        rewritten.pieces += self._pieces[2 * stop :]
        self._last_offsets, self._tops = rewritten.last_offsets, rewritten.tops
        self._pieces, self._bodies_end = rewritten.pieces, rewritten.bodies_end
        self._segments = firsts[1:] + self._segments[count - 1 :]
        self._first_segment = firsts[0]
        self._segment_position += shift
        self._limits_of, self._index = None, OffsetIndex()
        kept = AbortedTransactions()
        for entry in (*aborted, *(each for each in self.aborted if each.last_offset >= behind)):
            kept.enter(*entry)
        self.aborted = kept
        self._dropped_highest.clear()
        self._find_highest()
        return replaced

    def _find_highest(self) -> None:
        """Find the batch with the highest timestamp again after batches were removed: of equal ones
        the first in the first segment.
        """
        self._highest = None
        for at in range(len(self._segments) + 1):
            first, stop = self._batches(at)
            if first == stop or (self._highest and self._tops[stop - 1] <= self._highest[0]):
                continue
            i = bisect_left(self._tops, self._tops[stop - 1], first, stop)
            head, body = self._pieces[2 * i : 2 * i + 2]
            if head:
                self._highest = self._tops[i], head, body
            else:
                self._highest = self._dropped_highest[
                    self._segments[at - 1] if at else self._first_segment
                ]

    def adopt(self, other: PartitionLog) -> None:
        """Become a copy of another log; nothing mutable is shared."""
        self.log_start_offset, self.log_end_offset = other.log_start_offset, other.log_end_offset
        self.producers, self.transactions = deepcopy(other.producers), dict(other.transactions)
        self.aborted = AbortedTransactions()
        for entry in other.aborted:
            self.aborted.enter(*entry)
        self._index = OffsetIndex()
        self._last_offsets, self._bodies_end = other._last_offsets[:], other._bodies_end[:]
        self._tops, self._pieces = other._tops[:], other._pieces[:]
        self._segments, self._segment_ms = other._segments[:], other._segment_ms
        self._first_segment, self._segment_position = (
            other._first_segment,
            other._segment_position,
        )
        self._top, self._created_ms, self._limits_of = other._top, other._created_ms, None
        self._modified_ms = dict(other._modified_ms)
        self._dropped_highest = dict(other._dropped_highest)
        self._first_position, self._highest, self._epochs = (
            other._first_position,
            other._highest,
            other._epochs[:],
        )
        self.calls_cleaner, self.cleaned_to = True, other.cleaned_to
        self.changes += 1

    def forget_producers(self) -> None:
        """Forget all producers, so that any producer id and epoch is accepted: a new transaction
        coordinator starts with earlier ones.
        """
        self.producers = Producers()
        self.transactions = {}

    # -- reading

    def read(
        self,
        offset: int,
        max_bytes: int,
        *,
        at_least_one: bool = True,
        end: int | None = None,
        across: bool = False,
    ) -> bytes:
        """Return batches from the one that contains `offset` on, cut at `max_bytes` even within a
        batch, as Kafka does.

        `at_least_one`: return the first batch whole even if it does not fit; else nothing then
        (KIP-74). `offset` must lie between log start and log end. `end`: stop before this
        offset, where a batch must begin. Unless `across`, stop at the end of the first batch's
        segment.
        """
        ends = self._bodies_end
        first = bisect_left(self._last_offsets, offset)
        if self._segments and not across and first < len(ends):
            following = bisect_right(self._segments, self._last_offsets[first])
            if following < len(self._segments):
                begins = self._segments[following]
                end = begins if end is None else min(end, begins)
        stop = len(ends) if end is None else bisect_left(self._last_offsets, end)
        if first >= stop:
            return b""
        start = ends[first - 1] if first else self._first_position
        if ends[first] - start > max_bytes:
            if not at_least_one:
                return b""
            return b"".join(self._pieces[2 * first : 2 * first + 2])
        last = bisect_right(ends, start + max_bytes, first, stop)
        pieces = self._pieces[2 * first : 2 * last]
        rest = start + max_bytes - ends[last - 1]
        if last < stop and rest:
            head, body = self._pieces[2 * last : 2 * last + 2]
            pieces += (head[:rest], body[: max(rest - CRC_START, 0)])
        return b"".join(pieces)

    def bytes_from(self, offset: int, end: int | None = None) -> int:
        """Return the bytes from the batch that contains `offset` to the log end, or to the batch at
        offset `end`.
        """
        first = bisect_left(self._last_offsets, offset)
        stop = len(self._last_offsets) if end is None else bisect_left(self._last_offsets, end)
        if first >= stop:
            return 0
        return self._bodies_end[stop - 1] - (
            self._bodies_end[first - 1] if first else self._first_position
        )

    def behind(self, offset: int, batches: int) -> int:
        """Return the end offset of the `batches`-th batch, counted from the one that contains
        `offset`, or the log end offset if there are fewer.
        """
        last = bisect_left(self._last_offsets, offset) + batches - 1
        if last < len(self._last_offsets):
            return self._last_offsets[last] + 1
        return self.log_end_offset

    def aborted_in(self, offset: int, size: int) -> list[AbortedTransaction]:
        """Return the aborted transactions that concern `size` bytes from the batch that contains
        `offset` on.
        """
        return self.aborted.between(offset, self._upper_bound(offset, size))

    def _upper_bound(self, offset: int, size: int) -> int:
        """Return an offset behind the bytes that were read. Kafka uses its sparse index, so it may
        lie a few batches further than needed, but within the segment.
        """
        first = bisect_left(self._last_offsets, offset)
        start = self._bodies_end[first - 1] if first else self._first_position
        self._index.extend(
            self._first_position, self._bodies_end, self._last_offsets, self._segments
        )
        bound = self._index.behind(start + size)
        if self._segments and first < len(self._last_offsets):
            following = bisect_right(self._segments, self._last_offsets[first])
            if following < len(self._segments):
                begins = self._segments[following]
                return begins if bound is None else min(bound, begins)
        return self.log_end_offset if bound is None else bound

    def codec_at(self, offset: int) -> int:
        """Return the compression codec of the batch that contains an offset."""
        return self._header(bisect_left(self._last_offsets, offset)).codec

    @property
    def size(self) -> int:
        """Bytes of all stored batches."""
        return self._bodies_end[-1] - self._first_position if self._bodies_end else 0

    # -- look-ups

    def earliest(self) -> TimestampedOffset:
        """Return the log start offset with its leader epoch."""
        first = self._epochs[0]
        return TimestampedOffset(
            self.log_start_offset,
            leader_epoch=first.epoch if first.end_offset <= self.log_start_offset else -1,
        )

    def highest_timestamp(self, budget: Budget | None = None) -> TimestampedOffset:
        """Return the record with the highest timestamp, the first of equal ones (KIP-734). Records
        below the log start offset count while their segment exists. Budget and refusal are as in
        `first_at_or_after`.
        """
        if self._highest is None:
            return TimestampedOffset()
        timestamp, head, body = self._highest
        header = parse_header(head + body[:RECORDS])
        if not header.record_count:
            return TimestampedOffset()
        for record in _records(header, body, budget):
            if record.timestamp == timestamp:
                return TimestampedOffset(record.offset, timestamp, header.leader_epoch)
        return TimestampedOffset(header.base_offset, timestamp, header.leader_epoch)

    def first_at_or_after(self, timestamp: int, budget: Budget | None = None) -> TimestampedOffset:
        """Return the first record, by offset, whose timestamp is at least `timestamp`, or -1 values
        (KIP-79). As in Kafka, only the first segment with such a timestamp is searched.

        Batches are decompressed within `budget` (None: the limit of one request); of the rest
        the header is used. Raises BatchRefused INVALID_RECORD (87) for a wrong record size,
        which an append does not check in a compressed batch.
        """
        first, stop = self._segment_for(timestamp)
        for i in range(max(bisect_left(self._tops, timestamp, first, stop), self._live), stop):
            header = self._header(i)
            if header.max_timestamp < timestamp:
                continue
            for record in _records(header, self._pieces[2 * i + 1], budget):
                if record.timestamp >= timestamp and record.offset >= self.log_start_offset:
                    return TimestampedOffset(record.offset, record.timestamp, header.leader_epoch)
        return TimestampedOffset()

    def _segment_for(self, timestamp: int) -> tuple[int, int]:
        """Return the bounds of the batches of the first segment with a timestamp this high."""
        if not self._segments:
            return 0, len(self._tops)
        for at in range(len(self._segments) + 1):
            first, stop = self._batches(at)
            largest: int | None = self._tops[stop - 1] if first < stop else NO_TIMESTAMP
            if largest is not None and largest < 0:
                largest = self._segment(at).dated_ms
            if largest is not None and largest >= timestamp:
                return first, stop
        return 0, 0

    def epoch_end(self, leader_epoch: int) -> EpochEnd:
        """Return the end of a leader epoch in this log; -1 values for an epoch newer than all, or
        -1 (KIP-101, KIP-279).
        """
        if leader_epoch == -1 or leader_epoch > self._epochs[-1].epoch:
            return EpochEnd()
        if leader_epoch == self._epochs[-1].epoch:
            return EpochEnd(leader_epoch, self.log_end_offset)
        above = next(i for i, entry in enumerate(self._epochs) if entry.epoch > leader_epoch)
        return EpochEnd(
            self._epochs[above - 1].epoch if above else leader_epoch, self._epochs[above].end_offset
        )

    def _header(self, i: int) -> BatchHeader:
        return parse_header(self._pieces[2 * i] + self._pieces[2 * i + 1][:RECORDS])


class _Stamped(NamedTuple):
    offset: int
    timestamp: int


def _records(header: BatchHeader, body: bytes, budget: Budget | None) -> Iterator[_Stamped]:
    """Yield a stored batch's records. A batch that cannot be decompressed within the budget counts
    as one record: its first, with its highest timestamp.
    """
    if budget is None:
        budget = Budget.for_request(0)
    try:
        opened = decompress(header.codec, body[RECORDS:], budget)
    except ValueError:
        opened = None
    count = 0
    if opened is not None:
        base = header.base_timestamp
        append_time = header.attributes & LOG_APPEND_TIME
        try:
            for record in measure_records(opened.data, header.record_count, budget, sized=True):
                count += 1
                timestamp = (
                    header.max_timestamp if append_time else wrapped(base + record.timestamp_delta)
                )
                yield _Stamped(header.base_offset + record.offset_delta, timestamp)
        except BatchRefused:
            if opened.whole:
                raise
    if count < header.record_count:
        yield _Stamped(header.base_offset, header.max_timestamp)
