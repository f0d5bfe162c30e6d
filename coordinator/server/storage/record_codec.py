"""Single records of a batch (format v2): walking over them, reading, writing; and building whole
batches.

Owns varints and the layout of a record. A walk (`survey`, `survey_opened`) costs well under a
microsecond a record and is all that an append needs; `measure_records` is for details of single
records. Compressed records are inspected within a `Budget`. `read_records` and the builder serve
tests, tools and demonstrations. Does not know logs or topics; headers are in `records`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.wire.varints import (
    VarintTooLong,
    put_sized,
    put_varint,
    read_varint,
    read_varlong,
    signed,
)

from .compression import Budget, Opened
from .records import (
    HEADER_SIZE,
    LOG_APPEND_TIME,
    MAGIC,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    BatchHeader,
    BatchRefused,
    invalid,
    seal,
)

_SIGN = 1 << 63
_MASK = (1 << 64) - 1


class _TooManyError(Exception):
    """Error for more record headers than may be walked over."""


class Record(NamedTuple):
    """One record as a consumer sees it."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


class Survey(NamedTuple):
    """Result of a walk over a batch's records: timestamps relative to the batch's base, and the
    indexes of records without a key.
    """

    max_timestamp_delta: int
    min_timestamp_delta: int
    keyless: tuple[int, ...]
    in_order: bool = True
    """True if the offset deltas are 0, 1, 2, ..."""


def survey(data: bytes, record_count: int, pos: int = 0) -> Survey:
    """Walk over uncompressed records from `pos` to the end.

    Raises BatchRefused INVALID_RECORD (87) if a part does not fit its record or the records do
    not fill the bytes exactly; UNKNOWN_SERVER_ERROR (-1) if a record's size has more than five
    bytes. As in Kafka, offsets are not checked.
    """
    try:
        return _walk(data, record_count, pos, sized=True)
    except (IndexError, VarintTooLong) as fault:
        raise _ends(fault) from None


def survey_opened(
    opened: Opened, record_count: int, budget: Budget, largest: int | None = None
) -> Survey:
    """Walk over decompressed records, as far as they and the budget go.

    Kafka reads those from a stream and does not check that records fill their sizes (scenario
    compressed_batches.records_that_are_damaged). `largest`: maximal record size, and no size may
    be negative (REC-44-1). Raises BatchRefused INVALID_RECORD (87) for such a size, and if the
    records end early or do not fill the bytes exactly.
    """
    most = min(record_count, budget.left)
    try:
        seen = _walk(
            opened.data,
            most,
            0,
            sized=False,
            whole=opened.whole and most == record_count,
            most_headers=budget.left,
            largest=largest,
        )
    except (IndexError, VarintTooLong) as fault:
        raise _ends(fault) from None
    budget.spend(most)
    return seen


def _walk(  # noqa: C901
    data: bytes,
    record_count: int,
    pos: int,
    *,
    sized: bool,
    whole: bool = True,
    most_headers: int = _MASK,
    largest: int | None = None,
) -> Survey:
    """Walk over records in one loop, the hot path of Produce. `sized`: each record must fill its
    size exactly. Raises IndexError if the bytes end early.
    """
    highest, lowest = -1 << 63, 1 << 63
    keyless: list[int] = []
    in_order = True
    try:
        for index in range(record_count):
            size = data[pos]
            pos += 1
            if size >= 0x80:
                size, pos = _record_size(data, pos - 1) if sized else read_varint(data, pos - 1)
            end = pos + ((size >> 1) ^ -(size & 1))
            if largest is not None and not 0 <= end - pos <= largest:
                raise too_large(end - pos)
            delta = data[pos + 1]  # behind one byte of attributes
            pos += 2
            if delta >= 0x80:
                delta, pos = read_varlong(data, pos - 1)
            delta = (delta >> 1) ^ -(delta & 1)
            offset = data[pos]
            pos += 1
            if offset >= 0x80:
                offset, pos = read_varint(data, pos - 1)
            if offset != index << 1:
                in_order = False
            size = data[pos]
            pos += 1
            if size >= 0x80:
                size, pos = read_varint(data, pos - 1)
            if size & 1:  # below zero: no key
                keyless.append(index)
            else:
                pos += size >> 1
            size = data[pos]
            pos += 1
            if size >= 0x80:
                size, pos = read_varint(data, pos - 1)
            if not size & 1:
                pos += size >> 1
            if data[pos]:
                pos, count = _skip_headers(data, pos, most_headers)
                most_headers -= count
            else:
                pos += 1
            if pos != end and sized:
                raise invalid(f"record {index} does not fill its length")
            if delta > highest:
                highest = delta
            if delta < lowest:
                lowest = delta
    except _TooManyError:
        pass
    except IndexError:
        if whole:
            raise
    else:
        if pos != len(data) and whole:
            raise invalid("bytes behind the last record")
    return Survey(highest, lowest, tuple(keyless), in_order)


def _skip_headers(data: bytes, pos: int, most: int) -> tuple[int, int]:
    """Return the position behind a record's headers, and their number. A header needs a key, but no
    value. Raises _TooManyError if there are more than `most`.
    """
    count, pos = _signed(data, pos)
    if not 0 <= count <= len(data):
        raise invalid(f"{count} headers")
    if count > most:
        raise _TooManyError
    for _ in range(count):
        size = data[pos]
        pos += 1
        if size >= 0x80:
            size, pos = read_varint(data, pos - 1)
        if size & 1:
            raise invalid("a header without a key")
        pos += size >> 1
        size = data[pos]
        pos += 1
        if size >= 0x80:
            size, pos = read_varint(data, pos - 1)
        if not size & 1:
            pos += size >> 1
    return pos, count


def too_large(size: int) -> BatchRefused:
    """Return the refusal of a compressed record's size (REC-44-1)."""
    return invalid(f"a record of {size} bytes")


class Measured(NamedTuple):
    """Sizes and deltas of one record. Offset and timestamp are relative to the batch's; a size is
    -1 for null.
    """

    offset_delta: int
    timestamp_delta: int
    key_size: int
    value_size: int


def measure_records(
    data: bytes, record_count: int, budget: Budget, *, sized: bool
) -> Iterator[Measured]:
    """Yield the records in plain bytes, checking each in turn, until the budget ends. `sized`: each
    record must fill its size exactly. Raises BatchRefused INVALID_RECORD (87).
    """
    pos = 0
    try:
        for index in range(record_count):
            size, pos = _signed(data, pos)
            end = pos + size
            timestamp, pos = read_varlong(data, pos + 1)
            offset, pos = _signed(data, pos)
            key_size, pos = _signed(data, pos)
            value_size, pos = _signed(data, pos + max(key_size, 0))
            pos, headers = _skip_headers(data, pos + max(value_size, 0), budget.left)
            if pos != end and sized:
                raise invalid(f"record {index} does not fill its length")
            if budget.left <= headers:
                return
            budget.spend(1 + headers)
            yield Measured(offset, signed(timestamp), max(key_size, -1), max(value_size, -1))
    except (IndexError, VarintTooLong) as fault:
        raise _ends(fault) from None
    except _TooManyError:
        return


def _ends(fault: IndexError | VarintTooLong) -> BatchRefused:
    """Return the refusal for the fault that ended a walk."""
    return invalid(str(fault) if isinstance(fault, VarintTooLong) else "the records end early")


def wrapped(timestamp: int) -> int:
    """Return a sum of timestamps as Java's 64 bits hold it."""
    return (timestamp + _SIGN & _MASK) - _SIGN


def _record_size(data: bytes, pos: int) -> tuple[int, int]:
    """Like `read_varint`, for a record's size: too many bytes make Kafka fail (-1)."""
    try:
        return read_varint(data, pos)
    except VarintTooLong:
        raise BatchRefused(
            ErrorCode.UNKNOWN_SERVER_ERROR, "a record size of more than five bytes"
        ) from None


def _signed(data: bytes, pos: int) -> tuple[int, int]:
    value, pos = read_varint(data, pos)
    return signed(value), pos


def _bytes(data: bytes, pos: int) -> tuple[bytes | None, int]:
    size, pos = _signed(data, pos)
    if size < 0:
        return None, pos
    if pos + size > len(data):
        raise invalid("a record that does not fit its batch")
    return data[pos : pos + size], pos + size


def read_records(header: BatchHeader, payload: bytes) -> Iterator[Record]:
    """Yield the records in `payload`, the decompressed bytes behind the header. Raises BatchRefused
    87 and -1 as `survey`.
    """
    pos = 0
    append_time = header.attributes & LOG_APPEND_TIME
    try:
        for _ in range(header.record_count):
            length, pos = _record_size(payload, pos)
            end = pos + ((length >> 1) ^ -(length & 1))
            timestamp, pos = read_varlong(payload, pos + 1)
            timestamp = header.base_timestamp + ((timestamp >> 1) ^ -(timestamp & 1))
            delta, pos = _signed(payload, pos)
            key, pos = _bytes(payload, pos)
            value, pos = _bytes(payload, pos)
            count, pos = _signed(payload, pos)
            headers: list[tuple[str, bytes | None]] = []
            for _ in range(count):
                name, pos = _bytes(payload, pos)
                content, pos = _bytes(payload, pos)
                headers.append(((name or b"").decode(errors="replace"), content))
            if pos != end:
                raise invalid("a record that does not fit its batch")
            timestamp = header.max_timestamp if append_time else wrapped(timestamp)
            yield Record(header.base_offset + delta, timestamp, key, value, tuple(headers))
    except (IndexError, VarintTooLong) as fault:
        raise _ends(fault) from None


def encode_record(record: Record, base_offset: int, base_timestamp: int) -> bytes:
    """Return one record with its length in front."""
    body = bytearray(1)
    put_varint(body, record.timestamp - base_timestamp)
    put_varint(body, record.offset - base_offset)
    put_sized(body, record.key)
    put_sized(body, record.value)
    put_varint(body, len(record.headers))
    for name, content in record.headers:
        put_sized(body, name.encode())
        put_sized(body, content)
    out = bytearray()
    put_varint(out, len(body))
    return bytes(out + body)


def build_batch(
    values: Iterable[bytes | tuple[bytes | None, bytes | None] | Record | None],
    *,
    timestamp: int = 0,
    base_offset: int = 0,
    leader_epoch: int = -1,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = -1,
    base_sequence: int = NO_SEQUENCE,
    attributes: int = 0,
    compress: Callable[[bytes], bytes] | None = None,
) -> bytes:
    """Build a whole batch. `values`: values, (key, value) pairs or Records; the first two kinds get
    `timestamp` and the next offset. `attributes` contains the number of the codec that
    `compress` uses.
    """
    records: list[Record] = []
    for offset, item in enumerate(values, base_offset):
        if isinstance(item, Record):
            records.append(item)
        elif isinstance(item, tuple):
            records.append(Record(offset, timestamp, item[0], item[1]))
        else:
            records.append(Record(offset, timestamp, None, item))
    first = records[0].timestamp if records else timestamp
    payload = b"".join(encode_record(record, base_offset, first) for record in records)
    if compress is not None:
        payload = compress(payload)
    header = BatchHeader(
        base_offset,
        HEADER_SIZE - 12 + len(payload),
        leader_epoch,
        MAGIC,
        0,
        attributes,
        records[-1].offset - base_offset if records else -1,
        first,
        max((record.timestamp for record in records), default=first),
        producer_id,
        producer_epoch,
        base_sequence,
        len(records),
    )
    return seal(header, payload)
