"""What compaction has to leave of a log, found out record by record, apart from the code that
compacts: from the batches before and after, the settings and the time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from coordinator.server.storage.compression import decompress
from coordinator.server.storage.partition_log import PartitionLog
from coordinator.server.storage.record_codec import Record, read_records
from coordinator.server.storage.records import HEADER_SIZE, BatchHeader, parse_header


class Kept(NamedTuple):
    """A batch of a log, and its records."""

    header: BatchHeader
    records: tuple[Record, ...]

    @property
    def control(self) -> bool:
        """Whether it is a marker."""
        return bool(self.header.attributes & 0x20)

    @property
    def horizon(self) -> int | None:
        """From when on its tombstones, or its marker, may go."""
        return self.header.base_timestamp if self.header.attributes & 0x40 else None


def batches(log: PartitionLog) -> list[Kept]:
    """All that a log has, from its start on."""
    data = log.read(log.log_start_offset, 1 << 40, across=True)
    return list(_batches(data)) if data else []


def _batches(data: bytes) -> Iterator[Kept]:
    pos = 0
    while pos < len(data):
        header = parse_header(data, pos)
        opened = decompress(header.codec, data[pos + HEADER_SIZE : pos + header.size])
        assert opened is not None
        yield Kept(header, tuple(read_records(header, opened.data)))
        pos += header.size


def faults(
    before: list[Kept],
    after: list[Kept],
    *,
    end: int,
    now_ms: int,
    delete_retention_ms: int,
    producers: dict[int, int],
) -> list[str]:
    """Everything that is wrong after a compaction up to `end`. `producers`: the offset of each one's
    last record."""
    found = []
    untouched = [each for each in before if each.header.base_offset >= end]
    if [each for each in after if each.header.base_offset >= end] != untouched:
        found.append("what lies behind the end was changed")
    kept = {each.header.base_offset: each for each in after}
    for producer, offset in producers.items():
        for each in before:
            held = each.header.base_offset <= offset <= each.header.last_offset
            if held and each.header.base_offset not in kept:
                found.append(f"the last batch of producer {producer} is gone")
    found += _of_records(before, after, end, now_ms)
    found += _of_markers(before, kept, end, now_ms)
    found += _of_batches(before, after, now_ms + delete_retention_ms)
    return found


def _of_records(before: list[Kept], after: list[Kept], end: int, now_ms: int) -> Iterator[str]:
    """Of each key the last record stays, but for a tombstone whose time is over."""
    aborted = _aborted(before)
    data = [each for each in before if not each.control and each.header.base_offset < end]
    last: dict[bytes, int] = {}
    for each in data:
        for record in each.records:
            if record.key is not None and record.offset not in aborted:
                last[record.key] = record.offset
    stays = {record.offset: record for each in after if not each.control for record in each.records}
    for each in data:
        over = each.horizon is not None and each.horizon <= now_ms
        for record in each.records:
            due = record.key is not None and last.get(record.key) == record.offset
            due = due and not (record.value is None and over)
            if due != (record.offset in stays):
                yield f"offset {record.offset} {'is missing' if due else 'was kept'}"
            elif due and stays[record.offset] != record:
                yield f"offset {record.offset} was changed"


def _of_batches(before: list[Kept], after: list[Kept], horizon: int) -> Iterator[str]:
    """A batch keeps what its producer said, and gets its instant once."""
    by_offset = {each.header.base_offset: each for each in before}
    same = ("last_offset_delta", "producer_id", "producer_epoch", "base_sequence", "leader_epoch")
    for each in after:
        was, at = by_offset[each.header.base_offset], each.header.base_offset
        if any(getattr(each.header, name) != getattr(was.header, name) for name in same):
            yield f"the batch at {at} is another one"
        if each.horizon not in (None, was.horizon if was.horizon is not None else horizon):
            yield f"the batch at {at} goes at a wrong time"


def _aborted(before: list[Kept]) -> set[int]:
    """The offsets of records of aborted transactions."""
    found: set[int] = set()
    open_: dict[int, list[int]] = {}
    for each in before:
        producer = each.header.producer_id
        if each.control and each.records:
            offsets = open_.pop(producer, [])
            if each.records[0].key is not None and each.records[0].key[2:4] == b"\0\0":
                found.update(offsets)
        elif each.header.attributes & 0x10 and not each.control:
            open_.setdefault(producer, []).extend(record.offset for record in each.records)
    return found


def _of_markers(before: list[Kept], kept: dict[int, Kept], end: int, now_ms: int) -> Iterator[str]:
    """A marker may go once nothing of its transaction was there when it was cleaned, and its time is
    over."""
    seen: set[int] = set()
    for each in before:
        header = each.header
        if header.base_offset >= end:
            return
        if not each.control:
            if header.attributes & 0x10:
                seen.add(header.producer_id)
            continue
        empty = header.producer_id not in seen
        seen.discard(header.producer_id)
        goes = empty and each.horizon is not None and each.horizon <= now_ms
        if not goes and each.records and not getattr(kept.get(header.base_offset), "records", ()):
            yield f"the marker at {header.base_offset} went early"
