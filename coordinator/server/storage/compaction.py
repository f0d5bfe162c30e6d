"""Log compaction: of each key only the last record stays.

Owns Kafka's rules (CMP-1 to CMP-9): which segments are cleaned and when, which records stay, and
the treatment of tombstones, markers, aborted transactions, and a producer's last batch. Offsets
stay, with gaps. Work is done in steps by count; a log that is truncated or deleted from
meanwhile is left as it is. Does not know the schedule; see `server.log_cleaning`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Generator, Iterator
from typing import Final, NamedTuple

from coordinator.wire.varints import VarintTooLong

from .aborted import AbortedTransaction
from .append_checks import RECORDS
from .compression import decompress
from .partition_log import PartitionLog, Segment, StoredBatch
from .record_codec import Record, encode_record, read_records
from .records import (
    CODEC_MASK,
    CONTROL,
    CRC_START,
    HEADER_SIZE,
    NO_TIMESTAMP,
    TRANSACTIONAL,
    BatchHeader,
    BatchRefused,
    seal,
)

BY_RATIO: Final = "min.cleanable.dirty.ratio"
BY_LAG: Final = "max.compaction.lag.ms"
DELETE_HORIZON: Final = 0x40
"""The attribute of a batch whose tombstones, or marker, go from an instant on, which stands in the
place of its base timestamp (KIP-534)."""
_RECORDS_A_STEP: Final = 2_000
_BATCH_AS_RECORDS: Final = 20
_ENTRIES_A_STEP: Final = 50_000
Steps = Generator[None, None, "Compacted | None"]
Compress = Callable[[int, bytes], "bytes | None"]
"""The payload of a batch in a codec; None: that codec cannot be written here."""


class Compaction(NamedTuple):
    """Topic configuration of compaction, with Kafka's names beside."""

    delete_retention_ms: int = 86_400_000  # delete.retention.ms
    min_lag_ms: int = 0  # min.compaction.lag.ms
    max_lag_ms: int = (1 << 63) - 1  # max.compaction.lag.ms
    min_dirty_ratio: float = 0.5  # min.cleanable.dirty.ratio
    segment_bytes: int = 1 << 30  # segment.bytes, internal.segment.bytes


class Dirty(NamedTuple):
    """The part of a log to clean: `first_offset` to `end_offset`, behind the clean part.
    `segments`: how many segments are rewritten; `reason`: the setting that causes it.
    """

    first_offset: int
    end_offset: int
    segments: int
    reason: str


class Compacted(NamedTuple):
    """Result of a compaction. `removed`: number of records; sizes are those of all segments up to
    `end_offset`.
    """

    reason: str
    first_offset: int
    end_offset: int
    removed: int
    size_before: int
    size: int


def cleanable(log: PartitionLog, rules: Compaction, now_ms: int) -> Dirty | None:
    """Return the part of a log that is to be cleaned now, or None (CMP-1, CMP-2)."""
    closed = log.segments()[:-1]
    if not closed:
        return None
    first, end, count = _bounds(log, closed, rules, now_ms)
    clean = sum(each.size for each in closed if each.first_offset < first)
    dirty = sum(each.size for each in closed[:count] if each.end_offset > first)
    if not clean + dirty or not dirty:
        return None
    late = _begins(log, closed, first)
    if late is not None and late < now_ms - rules.max_lag_ms:
        return Dirty(first, end, count, BY_LAG)
    if dirty / (clean + dirty) > rules.min_dirty_ratio:
        return Dirty(first, end, count, BY_RATIO)
    return None


def next_compaction_ms(log: PartitionLog, rules: Compaction, now_ms: int) -> int | None:
    """Return the earliest wall clock time at which the log can be cleaned if nothing is appended
    and no transaction ends; None: only one of these can make it cleanable.
    """
    if log.has_one_segment:
        return None
    if cleanable(log, rules, now_ms) is not None:
        return now_ms
    closed = log.segments()[:-1]
    first = max(log.cleaned_to, log.log_start_offset)
    dirty = [each for each in closed if each.end_offset > first]
    times = []
    if rules.min_lag_ms > 0:
        dated = [each.dated_ms for each in dirty if each.dated_ms is not None]
        times += [each + rules.min_lag_ms for each in dated if each + rules.min_lag_ms > now_ms]
    begins = _begins(log, closed, first)
    if begins is not None and rules.max_lag_ms < 1 << 60:
        times.append(begins + rules.max_lag_ms + 1)
    return min((each for each in times if each > now_ms), default=None)


def _bounds(
    log: PartitionLog, closed: list[Segment], rules: Compaction, now_ms: int
) -> tuple[int, int, int]:
    """Return the begin and end of the dirty part, and the number of segments before its end."""
    first = log.cleaned_to if log.log_start_offset <= log.cleaned_to <= log.log_end_offset else -1
    first = log.log_start_offset if first < 0 else first
    end = min(log.last_stable_offset, log.active_offset)
    if rules.min_lag_ms > 0:
        for each in closed:
            dated = each.dated_ms
            if each.end_offset > first and dated is not None and dated > now_ms - rules.min_lag_ms:
                end = min(end, each.first_offset)
                break
    end = max(first, end)
    count = bisect_right([each.end_offset for each in closed], end)
    return first, closed[count - 1].end_offset if count else first, count


def _begins(log: PartitionLog, closed: list[Segment], first: int) -> int | None:
    """Return the earliest timestamp of the first batches of dirty segments, or None."""
    times = [log.begin_ms(at) for at, each in enumerate(closed) if each.end_offset > first]
    return min((each for each in times if each is not None and each > 0), default=None)


class _Transactions:
    """Tracker of aborted batches and of markers that have no batch left (CMP-6). `kept`: the
    aborted transactions of which a batch was seen.
    """

    def __init__(self, aborted: list[AbortedTransaction]) -> None:
        self._coming = sorted(aborted, key=lambda each: each.first_offset)
        self._at = 0
        self._aborted: dict[int, tuple[AbortedTransaction, list[int]]] = {}
        self._committed: set[int] = set()
        self.kept: list[AbortedTransaction] = []

    def _up_to(self, offset: int) -> None:
        while self._at < len(self._coming) and self._coming[self._at].first_offset <= offset:
            entry = self._coming[self._at]
            self._aborted.setdefault(entry.producer_id, (entry, []))
            self._at += 1

    def discards(self, header: BatchHeader) -> bool:
        """Return whether a batch belongs to an aborted transaction."""
        self._up_to(header.last_offset)
        if not header.attributes & TRANSACTIONAL:
            return False
        aborted = self._aborted.get(header.producer_id)
        if aborted is None:
            self._committed.add(header.producer_id)
            return False
        aborted[1].append(header.last_offset)
        return True

    def ends(self, header: BatchHeader, body: bytes) -> bool:
        """End a transaction at its marker; return whether no batch of it was left."""
        self._up_to(header.last_offset)
        if not header.record_count:
            return True  # an empty batch that was a marker
        if _commits(header, body):
            known = header.producer_id in self._committed
            self._committed.discard(header.producer_id)
            return not known
        entry, seen = self._aborted.pop(header.producer_id, (None, []))
        if entry is not None and seen:
            self.kept.append(entry)
            return False
        return True


class _Steps:
    """Counter of work that splits it into steps."""

    def __init__(self) -> None:
        self._left = _RECORDS_A_STEP

    def enough(self, records: int) -> bool:
        """Count a batch with `records` records; return True if the step is full."""
        self._left -= records + _BATCH_AS_RECORDS
        if self._left > 0:
            return False
        self._left = _RECORDS_A_STEP
        return True


def compact(
    log: PartitionLog, dirty: Dirty, rules: Compaction, now_ms: int, compress: Compress
) -> Steps:
    """Clean a log in steps. Return the result, or None if the log lost segments meanwhile; then it
    is unchanged.
    """
    state = log.changes
    steps = _Steps()
    last: dict[bytes, int] = {}
    sealed: set[int] = set()
    transactions = _Transactions(
        [each for each in log.aborted if each.last_offset >= dirty.first_offset]
    )
    for batch in log.stored(dirty.segments):
        if batch.last_offset < dirty.first_offset:
            if steps.enough(0):
                yield
                if log.changes != state:
                    return None
            continue
        header = batch.header()
        looked = 0
        if header.attributes & CONTROL:
            transactions.ends(header, batch.body)
        elif not transactions.discards(header):
            looked = header.record_count
            if not _note_keys(header, batch, dirty.first_offset, last):
                sealed.add(batch.last_offset)
        if steps.enough(looked):
            yield
            if log.changes != state:
                return None
    stays = _Stays(last, sealed, dirty.first_offset)
    return (yield from _rewrite(log, dirty, rules, now_ms, compress, stays, steps))


class _Stays:
    """Last offset of each key in the dirty part. `sealed`: the last offsets of batches that cannot
    be decompressed; they stay whole.
    """

    def __init__(self, last: dict[bytes, int], sealed: set[int], first_offset: int) -> None:
        self.last = last
        self._sealed = sealed
        self._first_offset = first_offset
        self._offsets = sorted(last.values())

    def any_of(self, header: BatchHeader) -> bool:
        """Return whether any record of a batch may stay, by its key; control batches always may."""
        if header.base_offset < self._first_offset or header.attributes & CONTROL:
            return True
        first = bisect_left(self._offsets, header.base_offset)
        among = first < len(self._offsets) and self._offsets[first] <= header.last_offset
        return among or header.last_offset in self._sealed


def _rewrite(
    log: PartitionLog,
    dirty: Dirty,
    rules: Compaction,
    now_ms: int,
    compress: Compress,
    stays: _Stays,
    steps: _Steps,
) -> Steps:
    state = log.changes
    transactions = _Transactions(list(log.aborted))
    segments = log.segments()[: dirty.segments]
    before = sum(each.size for each in segments)
    rewritten = log.rewrite(_groups(segments, rules.segment_bytes))
    began = rewritten.position
    cleaner = _Cleaner(log, rules, now_ms, compress, stays)
    for batch in log.stored(dirty.segments):
        header = batch.header()
        one = cleaner.cleaned(batch, header, transactions)
        if one is not None:
            rewritten.add(one)
        if steps.enough(header.record_count if stays.any_of(header) else 0):
            yield
            if log.changes != state:
                return None
    size = rewritten.position - began
    replaced = log.replace_segments(dirty.segments, rewritten, transactions.kept)
    log.cleaned_to = dirty.end_offset
    for entries in replaced:
        while entries:
            yield
            del entries[-_ENTRIES_A_STEP:]
    return Compacted(
        dirty.reason, dirty.first_offset, dirty.end_offset, cleaner.removed, before, size
    )


def _groups(segments: list[Segment], most: int) -> list[int]:
    """Return the first offsets of the segments that remain: neighbours are merged up to the segment
    size.
    """
    firsts, size = [segments[0].first_offset], segments[0].size
    for each in segments[1:]:
        if size + each.size > most:
            firsts.append(each.first_offset)
            size = 0
        size += each.size
    return firsts


class _Cleaner:
    """Decides for each batch what remains of it."""

    def __init__(
        self,
        log: PartitionLog,
        rules: Compaction,
        now_ms: int,
        compress: Compress,
        stays: _Stays,
    ) -> None:
        self._rules = rules
        self._now_ms = now_ms
        self._compress = compress
        self._by_key = stays
        self._high_watermark = log.high_watermark
        self._last_data = {
            producer_id: (state.last_offset, state.epoch)
            for producer_id, state in log.producers.states.items()
        }
        self.removed = 0

    def cleaned(
        self, batch: StoredBatch, header: BatchHeader, transactions: _Transactions
    ) -> StoredBatch | None:
        """Return the rest of a batch, or None if nothing remains."""
        if not batch.head:
            return None  # it lies below the log start
        horizon = header.base_timestamp if header.attributes & DELETE_HORIZON else None
        control = bool(header.attributes & CONTROL)
        if control:
            empty = transactions.ends(header, batch.body)
            goes = empty and horizon is not None and horizon <= self._now_ms
        else:
            empty, goes = False, transactions.discards(header)
        payload = None
        if not goes and self._by_key.any_of(header):
            payload = _opened(header, batch)
            if payload is None:
                return batch  # it cannot be opened here, and stays as it is
        try:
            records = [] if payload is None else list(read_records(header, payload))
        except BatchRefused:
            return batch
        if not control:
            records = [each for each in records if self._stays(each, horizon)]
        self.removed += header.record_count - len(records)
        if not records:
            return self._emptied(batch, header) if self._must_stay(header) else None
        sets = (empty or any(each.value is None for each in records)) and horizon is None
        if len(records) == header.record_count and not sets:
            return batch
        if sets:
            horizon = self._now_ms + self._rules.delete_retention_ms
        return self._rebuilt(header, records, horizon)

    def _stays(self, record: Record, horizon: int | None) -> bool:
        if record.key is None:
            return False
        if record.offset < self._by_key.last.get(record.key, -1):
            return False
        return record.value is not None or horizon is None or self._now_ms < horizon

    def _must_stay(self, header: BatchHeader) -> bool:
        """Return True if a batch stays even when empty: a producer's last one, and the last before
        the high watermark.
        """
        if header.last_offset + 1 == self._high_watermark:
            return True
        if not header.has_producer or header.producer_id not in self._last_data:
            return False
        offset, epoch = self._last_data[header.producer_id]
        if offset is not None:
            return header.last_offset == offset
        return bool(header.attributes & CONTROL) and header.producer_epoch == epoch

    def _emptied(self, batch: StoredBatch, header: BatchHeader) -> StoredBatch:
        if not header.record_count:
            return batch
        bare = header._replace(
            length=HEADER_SIZE - 12,
            attributes=header.attributes & ~(CODEC_MASK | DELETE_HORIZON),
            base_timestamp=NO_TIMESTAMP,
            record_count=0,
        )
        return _stored(bare, b"")

    def _rebuilt(
        self, header: BatchHeader, records: list[Record], horizon: int | None
    ) -> StoredBatch:
        base = records[0].timestamp if horizon is None else horizon
        payload = b"".join(encode_record(each, header.base_offset, base) for each in records)
        attributes = header.attributes & ~DELETE_HORIZON
        if horizon is not None:
            attributes |= DELETE_HORIZON
        if header.codec:
            packed = self._compress(header.codec, payload)
            if packed is None:
                attributes &= ~CODEC_MASK
            else:
                payload = packed
        rebuilt = header._replace(
            length=HEADER_SIZE - 12 + len(payload),
            attributes=attributes,
            base_timestamp=base,
            max_timestamp=max(each.timestamp for each in records),
            record_count=len(records),
        )
        return _stored(rebuilt, payload)


def _stored(header: BatchHeader, payload: bytes) -> StoredBatch:
    data = seal(header, payload)
    return StoredBatch(header.last_offset, data[:CRC_START], data[CRC_START:])


def _opened(header: BatchHeader, batch: StoredBatch) -> bytes | None:
    if not header.codec:
        return batch.body[RECORDS:]
    try:
        opened = decompress(header.codec, batch.body[RECORDS:])
    except (ValueError, BatchRefused):
        return None
    return None if opened is None or not opened.whole else opened.data


def _commits(header: BatchHeader, body: bytes) -> bool:
    for record in read_records(header, body[RECORDS:]):
        return record.key is not None and record.key[2:4] == b"\0\1"
    return False


def _note_keys(
    header: BatchHeader, batch: StoredBatch, first_offset: int, last: dict[bytes, int]
) -> bool:
    """Note the offset of each key from an offset on; return False if the batch cannot be
    decompressed.
    """
    if not batch.head:
        return True
    data = _opened(header, batch)
    if data is None:
        return False
    base = header.base_offset
    try:
        for delta, key in _keys(data, header.record_count):
            if base + delta >= first_offset:
                last[key] = base + delta
    except (IndexError, VarintTooLong):
        return False  # a record that does not fit its batch
    return True


def _keys(data: bytes, count: int) -> Iterator[tuple[int, bytes]]:
    """Yield the offset delta and the key of each record that has one."""
    pos = 0
    for _ in range(count):
        length, pos = _varint(data, pos)
        end = pos + (length >> 1)
        pos += 1
        while data[pos] >= 0x80:
            pos += 1
        pos += 1
        delta = data[pos]
        pos += 1
        if delta >= 0x80:
            delta, pos = _varint(data, pos - 1)
        size = data[pos]
        pos += 1
        if size >= 0x80:
            size, pos = _varint(data, pos - 1)
        if not size & 1:
            yield delta >> 1, data[pos : pos + (size >> 1)]
        pos = end


def _varint(data: bytes, pos: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, pos
        shift += 7
        if shift > 63:
            raise VarintTooLong
