"""One partition's log, in memory: batches as their producers sent them, and everything that is
asked about offsets.

Owns offsets, the look-ups (by offset, by timestamp, by leader epoch), the log start that
DeleteRecords moves, and whether a batch may be appended under a topic's configuration. Rules: of a
batch only base offset and leader epoch are changed (both lie outside its checksum), and its
timestamps where the topic says LogAppendTime or the header lies; bytes are never copied record by
record; all look-ups are bisections. The high watermark is the log end, as nobody else holds the
partition (`replica_log` is for those of several brokers). What transactions leave behind (markers,
the last stable offset, who was aborted) is kept in `aborted`. Does not depend on who fetches, who
waits, other replicas, and the time of day (`now_ms` is a wall clock given by the caller).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import NamedTuple

from ..errors import ErrorCode
from .aborted import AbortedTransaction, AbortedTransactions
from .append_checks import RECORDS, LogConfig, check_records
from .compression import Budget, decompress
from .offset_index import OffsetIndex
from .producers import Producers
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
    """Where a batch lies now. `timestamp`: its append time, of a duplicate its maximum; -1 under
    CreateTime."""

    base_offset: int
    timestamp: int
    duplicate: bool = False


class TimestampedOffset(NamedTuple):
    """An answer about offsets; -1 for what there is not."""

    offset: int = -1
    timestamp: int = NO_TIMESTAMP
    leader_epoch: int = -1


class EpochEnd(NamedTuple):
    """Where a leader epoch ends: the newest known epoch not above the one asked for, and the offset
    behind it."""

    epoch: int = -1
    end_offset: int = -1


class Marker(NamedTuple):
    """The end of a transaction, as it goes into each of its partitions (KIP-98)."""

    producer_id: int
    producer_epoch: int
    committed: bool
    coordinator_epoch: int = 0
    transaction_version: int = (
        0  # 2: its epoch must be above that of the batches before it (KIP-890)
    )

    def batch(self, timestamp: int) -> bytes:
        """The control batch. Key: version 0 and what it is; value: version 0 and the coordinator's
        epoch."""
        key = (0).to_bytes(2, "big") + int(self.committed).to_bytes(2, "big")
        value = (0).to_bytes(2, "big") + self.coordinator_epoch.to_bytes(4, "big", signed=True)
        return build_batch(
            [(key, value)],
            timestamp=timestamp,
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            attributes=TRANSACTIONAL | CONTROL,
        )


_NEVER_MS = 1 << 62
"""Where a segment's first batch has no time: no other's is much later."""


class PartitionLog:
    """The log of one partition. `leader_epoch`: the epoch it begins under."""

    __slots__ = (
        "_bodies_end",
        "_epochs",
        "_first_position",
        "_highest",
        "_index",
        "_last_offsets",
        "_pieces",
        "_segment_lasts_ms",
        "_segment_ms",
        "_segments",
        "_tops",
        "aborted",
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
        # One entry a batch: last offset; byte position of its end; highest timestamp so far. Two
        # entries a batch: stamp, rest.
        self._last_offsets: list[int] = []
        self._bodies_end: list[int] = []
        self._tops: list[int] = []
        self._pieces: list[bytes] = []
        self._first_position = 0
        self._highest: tuple[int, bytes, bytes] | None = None
        # Segments that a time began, by their first offset, but for the first; the highest
        # timestamp of the last one's first batch.
        self._segments: list[int] = []
        self._segment_ms: int | None = None
        self._segment_lasts_ms = 1 << 62
        self._epochs: list[EpochEnd] = [
            EpochEnd(leader_epoch, 0)
        ]  # here `end_offset` is where the epoch starts

    @property
    def high_watermark(self) -> int:
        """The offset behind the last record that consumers may read."""
        return self.log_end_offset

    @property
    def last_stable_offset(self) -> int:
        """Where the oldest open transaction began; without one the high watermark. Readers of
        committed records stop here."""
        if not self.transactions:
            return self.high_watermark
        return min(
            max(next(iter(self.transactions.values())), self.log_start_offset), self.high_watermark
        )

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
        """Append the batch that `data` begins with (`records.sole_batch` gave its header).

        `where` is Kafka's name of the partition, topic-index; `budget` what checking its request's
        records may still cost. `now_ms`: wall clock; `elapsed_ms`: a clock that never jumps, for
        timers (None: the wall clock does not jump). Whether a transactional batch may come was
        asked of its coordinator before. Raises BatchRefused, and then nothing has changed. The
        order of the checks is Kafka's: size (10), checksum (2), header (87), records (87, 32),
        segment (18), producer (47, 45, 48).
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
        base_offset, began_ms = self.log_end_offset, self._segment_ms
        if began_ms is None or header.max_timestamp - began_ms > config.segment_ms:
            self._look_at_segment(header.max_timestamp, config.segment_ms)
        self._add(header, body, leader_epoch)
        if header.has_producer:
            self.producers.appended(header, base_offset)
            if header.attributes & TRANSACTIONAL:
                self.transactions.setdefault(header.producer_id, base_offset)
        return Appended(base_offset, now_ms if config.append_time else NO_TIMESTAMP)

    def append_marker(
        self, marker: Marker, *, leader_epoch: int, now_ms: int, append_time: bool = False
    ) -> int:
        """End a producer's transaction here, if it has one; answers the marker's offset. Raises
        BatchRefused 47 and 52."""
        self.producers.check_marker(
            marker.producer_id,
            marker.producer_epoch,
            marker.coordinator_epoch,
            marker.transaction_version,
        )
        data = marker.batch(now_ms)
        header, body = parse_header(data), data[CRC_START:]
        if append_time:
            header, body = with_max_timestamp(header, body, now_ms, append_time=True)
        offset, began_ms = self.log_end_offset, self._segment_ms
        if began_ms is not None and now_ms - began_ms > self._segment_lasts_ms:
            self._look_at_segment(now_ms, self._segment_lasts_ms)
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

    def _look_at_segment(self, timestamp: int, segment_ms: int) -> None:
        """The next batch begins a segment if its time is longer after that of the last segment's
        first batch than a segment lasts (SEG-1). Where the last one began is not known yet of a
        copy, and of a log that was truncated."""
        self._segment_lasts_ms = segment_ms
        if self._last_offsets and self._segment_ms is None:
            began = self._segments[-1] if self._segments else 0
            self._segment_ms = self._header(bisect_left(self._last_offsets, began)).max_timestamp
            if timestamp - self._segment_ms <= segment_ms:
                return
        if self._last_offsets:
            self._segments.append(self.log_end_offset)
        self._segment_ms = timestamp if timestamp >= 0 else _NEVER_MS

    def _keep(self, header: BatchHeader, head: bytes, body: bytes) -> None:
        highest = header.max_timestamp
        if self._highest is None or highest > self._highest[0]:
            self._highest = highest, head, body
        self._pieces += (head, body)
        self._tops.append(max(highest, self._tops[-1]) if self._tops else highest)
        self._bodies_end.append(
            (self._bodies_end[-1] if self._bodies_end else self._first_position) + header.size
        )
        self.log_end_offset += header.record_count
        self._last_offsets.append(self.log_end_offset - 1)

    def assign_epoch(self, leader_epoch: int) -> None:
        """A leader of this epoch begins at the log end; older and known epochs change nothing.
        Epochs without records are forgotten."""
        if leader_epoch > self._epochs[-1].epoch:
            while self._epochs and self._epochs[-1].end_offset >= self.log_end_offset:
                self._epochs.pop()
            self._epochs.append(EpochEnd(leader_epoch, self.log_end_offset))

    def delete_records(self, before: int) -> int:
        """Move the log start up to `before` (-1: the high watermark), never back; answers the log
        start (KIP-107).

        Batches wholly below it are dropped. Raises BatchRefused 1 when `before` is behind the high
        watermark or below 0.
        """
        if before == -1:
            before = self.high_watermark
        if not 0 <= before <= self.high_watermark:
            raise BatchRefused(
                ErrorCode.OFFSET_OUT_OF_RANGE, f"offset {before} is not in 0..{self.high_watermark}"
            )
        if before <= self.log_start_offset:
            return self.log_start_offset
        self.log_start_offset = before
        gone = bisect_left(self._last_offsets, before)
        if gone:
            self._first_position = self._bodies_end[gone - 1]
            del self._last_offsets[:gone], self._bodies_end[:gone], self._pieces[: 2 * gone]
            self._tops = _running_maximum(
                self._header(i).max_timestamp for i in range(len(self._last_offsets))
            )
            self.aborted.forget(before)
        old = [i for i, epoch in enumerate(self._epochs) if epoch.end_offset <= before]
        if old:
            self._epochs[: old[-1] + 1] = [EpochEnd(self._epochs[old[-1]].epoch, before)]
        return before

    def adopt(self, other: PartitionLog) -> None:
        """Become what another log is now; nothing is shared that either of them changes later."""
        self.log_start_offset, self.log_end_offset = other.log_start_offset, other.log_end_offset
        self.producers, self.transactions = deepcopy(other.producers), dict(other.transactions)
        self.aborted = AbortedTransactions()
        for entry in other.aborted:
            self.aborted.enter(*entry)
        self._index = OffsetIndex()
        self._last_offsets, self._bodies_end = other._last_offsets[:], other._bodies_end[:]
        self._tops, self._pieces = other._tops[:], other._pieces[:]
        self._segments, self._segment_ms = other._segments[:], other._segment_ms
        self._first_position, self._highest, self._epochs = (
            other._first_position,
            other._highest,
            other._epochs[:],
        )

    def forget_producers(self) -> None:
        """Whatever producer id and epoch comes next is taken: the coordinator of transactions goes
        back to earlier ones."""
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
        """Batches from the one that holds `offset` on, cut off at `max_bytes` even within a batch,
        as Kafka does.

        The first batch comes whole if `at_least_one`, and otherwise not at all where it would not
        fit (KIP-74). `offset` must lie within log start and log end. `end`: nothing from this
        offset on, where a batch must begin. Nothing from another segment than the first one's, either,
        unless `across`.
        """
        if self._segments and not across:
            following = bisect_right(self._segments, offset)
            if following < len(self._segments):
                begins = self._segments[following]
                end = begins if end is None else min(end, begins)
        ends = self._bodies_end
        first = bisect_left(self._last_offsets, offset)
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
        """Bytes from the batch that holds `offset` to the end, or to that which begins at the
        offset `end`."""
        first = bisect_left(self._last_offsets, offset)
        stop = len(self._last_offsets) if end is None else bisect_left(self._last_offsets, end)
        if first >= stop:
            return 0
        return self._bodies_end[stop - 1] - (
            self._bodies_end[first - 1] if first else self._first_position
        )

    def behind(self, offset: int, batches: int) -> int:
        """Where so many batches end, of which the first is the one that holds `offset`; the log's
        end, if there are fewer."""
        last = bisect_left(self._last_offsets, offset) + batches - 1
        if last < len(self._last_offsets):
            return self._last_offsets[last] + 1
        return self.log_end_offset

    def aborted_in(self, offset: int, size: int) -> list[AbortedTransaction]:
        """The aborted transactions that a reader needs to know who read `size` bytes from the batch
        that holds `offset` on."""
        return self.aborted.between(offset, self._upper_bound(offset, size))

    def _upper_bound(self, offset: int, size: int) -> int:
        """An offset behind what was read: Kafka asks its sparse index, so it may lie a few batches
        further on than needed."""
        first = bisect_left(self._last_offsets, offset)
        start = self._bodies_end[first - 1] if first else self._first_position
        self._index.extend(self._first_position, self._bodies_end, self._last_offsets)
        bound = self._index.behind(start + size)
        return self.log_end_offset if bound is None else bound

    @property
    def size(self) -> int:
        """Bytes kept."""
        return self._bodies_end[-1] - self._first_position if self._bodies_end else 0

    # -- look-ups

    def earliest(self) -> TimestampedOffset:
        """The log start, with the epoch it belongs to."""
        first = self._epochs[0]
        return TimestampedOffset(
            self.log_start_offset,
            leader_epoch=first.epoch if first.end_offset <= self.log_start_offset else -1,
        )

    def highest_timestamp(self, budget: Budget | None = None) -> TimestampedOffset:
        """The record with the highest timestamp ever appended, the first of equals (KIP-734);
        deleted records count.

        As `first_at_or_after` for what the budget does, and for the refusal.
        """
        if self._highest is None:
            return TimestampedOffset()
        timestamp, head, body = self._highest
        header = parse_header(head + body[:RECORDS])
        for record in _records(header, body, budget):
            if record.timestamp == timestamp:
                return TimestampedOffset(record.offset, timestamp, header.leader_epoch)
        return TimestampedOffset(header.base_offset, timestamp, header.leader_epoch)

    def first_at_or_after(self, timestamp: int, budget: Budget | None = None) -> TimestampedOffset:
        """The first record, by offset, whose timestamp is not below `timestamp`; all -1 if there is
        none (KIP-79).

        Batches are opened as far as `budget` goes (None: what one request may cost); of the rest
        the header is believed. Raises BatchRefused INVALID_RECORD (87) where a record's size was
        found wrong, which an append does not look at in a compressed batch.
        """
        for i in range(bisect_left(self._tops, timestamp), len(self._tops)):
            header = self._header(i)
            if header.max_timestamp < timestamp:
                continue
            for record in _records(header, self._pieces[2 * i + 1], budget):
                if record.timestamp >= timestamp and record.offset >= self.log_start_offset:
                    return TimestampedOffset(record.offset, record.timestamp, header.leader_epoch)
        return TimestampedOffset()

    def epoch_end(self, leader_epoch: int) -> EpochEnd:
        """Where `leader_epoch` ends in this log; all -1 for an epoch newer than all, or -1
        (KIP-101, KIP-279)."""
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


def _running_maximum(values: Iterable[int]) -> list[int]:
    tops: list[int] = []
    for value in values:
        tops.append(max(value, tops[-1]) if tops else value)
    return tops


class _Stamped(NamedTuple):
    offset: int
    timestamp: int


def _records(header: BatchHeader, body: bytes, budget: Budget | None) -> Iterator[_Stamped]:
    """A stored batch's records. What cannot be opened, or not within the budget, counts as one: its
    first, with its highest timestamp."""
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
