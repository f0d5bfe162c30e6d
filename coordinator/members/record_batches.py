"""Record batches (format v2) at the client's end: built to be produced, parsed after a fetch.

Owns the layout of a batch and its records, and the checksum. Plain and gzip batches are read;
another compression raises WireError with its name. Does not know requests, or how brokers keep
logs.

Sources: KIP-98 (format v2), KIP-32 (timestamps).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from struct import Struct, error
from typing import Final, NamedTuple

from coordinator.wire.primitives import WireError
from coordinator.wire.varints import put_varint, read_varlong

_HEADER = Struct(">qiibIhiqqqhii")
_CHECKED = Struct(">hiqqqhii")
_CONTROL_KEY = Struct(">hh")
_HEADER_SIZE: Final = 61
_CHECKED_FROM: Final = 21
_MAGIC: Final = 2
_CODEC, _TRANSACTIONAL, _CONTROL = 0x07, 0x10, 0x20
_GZIP: Final = 1
_CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")
_ABORT: Final = 0
_BELOW: Final = 64
_OF_ONE_BYTE: Final = tuple([bytes([number << 1]) for number in range(_BELOW)])
"""The numbers from 0 on, as varints."""
_NULL: Final = b"\1"  # the length -1


class NewRecord(NamedTuple):
    """A record to be produced. `timestamp`: Unix milliseconds."""

    key: bytes | None
    value: bytes | None
    timestamp: int


class ReadRecord(NamedTuple):
    """A fetched record. `timestamp`: Unix milliseconds."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None


class ReadBatch(NamedTuple):
    """A fetched batch: records, or with `control` a transaction marker, which `aborts` or commits."""

    base_offset: int
    last_offset: int
    leader_epoch: int
    producer_id: int
    transactional: bool
    control: bool
    aborts: bool
    records: tuple[ReadRecord, ...]


def build_batch(
    records: Sequence[NewRecord],
    *,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    transactional: bool = False,
) -> bytes:
    """Return one uncompressed batch of at least one record."""
    base = latest = records[0].timestamp
    pieces: list[bytes] = []
    for delta, (key, value, timestamp) in enumerate(records):
        if timestamp > latest:
            latest = timestamp
        body = (  # no attributes, no headers
            b"\0"
            + (b"\0" if timestamp == base else _varint(timestamp - base))
            + (_OF_ONE_BYTE[delta] if delta < _BELOW else _varint(delta))
            + (_NULL if key is None else _sized(key))
            + (_NULL if value is None else _sized(value))
            + b"\0"
        )
        size = len(body)
        pieces += (_OF_ONE_BYTE[size] if size < _BELOW else _varint(size)), body
    payload = b"".join(pieces)
    attributes = _TRANSACTIONAL if transactional else 0
    checked = (
        _CHECKED.pack(
            attributes,
            len(records) - 1,
            base,
            latest,
            producer_id,
            producer_epoch,
            base_sequence,
            len(records),
        )
        + payload
    )
    header = _HEADER.pack(
        0, len(checked) + 9, -1, _MAGIC, _crc32c(checked), 0, 0, 0, 0, 0, 0, 0, 0
    )[:_CHECKED_FROM]
    return header + checked


def _varint(value: int) -> bytes:
    out = bytearray()
    put_varint(out, value)
    return bytes(out)


def _sized(value: bytes) -> bytes:
    """Return bytes with their length in front."""
    size = len(value)
    return (_OF_ONE_BYTE[size] if size < _BELOW else _varint(size)) + value


def read_batches(data: bytes) -> Iterator[ReadBatch]:
    """Yield the whole batches in `data`, in order; a truncated one at the end is left out. Raises
    WireError.
    """
    pos = 0
    while pos + 12 <= len(data):
        length = int.from_bytes(data[pos + 8 : pos + 12], "big", signed=True)
        end = pos + 12 + length
        if end > len(data):
            return
        if length < _HEADER_SIZE - 12:
            raise WireError(f"a record batch of {length + 12} bytes")
        yield _read_batch(data[pos:end])
        pos = end


def _read_batch(data: bytes) -> ReadBatch:
    (
        base,
        _,
        epoch,
        magic,
        crc,
        attributes,
        last_delta,
        base_timestamp,
        latest,
        producer,
        _,
        _,
        count,
    ) = _HEADER.unpack_from(data)
    if magic != _MAGIC:
        raise WireError(f"a record batch of format {magic}: 2 is read")
    if _crc32c(data[_CHECKED_FROM:]) != crc:
        raise WireError(f"the record batch at offset {base} fails its checksum")
    control = bool(attributes & _CONTROL)
    try:
        records = _records(
            _opened(data[_HEADER_SIZE:], attributes & _CODEC), base, base_timestamp, count
        )
        aborts = control and _CONTROL_KEY.unpack_from(records[0].key or b"")[1] == _ABORT
    except (IndexError, error) as fault:
        raise WireError(f"the record batch at offset {base} ends early") from fault
    if attributes & 0x08:  # append time: the batch's own holds for all
        records = tuple(record._replace(timestamp=latest) for record in records)
    return ReadBatch(
        base,
        base + last_delta,
        epoch,
        producer,
        bool(attributes & _TRANSACTIONAL),
        control,
        aborts,
        () if control else records,
    )


def _opened(payload: bytes, codec: int) -> bytes:
    if codec == 0:
        return payload
    if codec != _GZIP:
        name = _CODECS[codec] if codec < len(_CODECS) else str(codec)
        raise WireError(
            f"a record batch compressed with {name}: this consumer reads plain and gzip batches"
        )
    from zlib import MAX_WBITS, decompress
    from zlib import error as damaged

    try:
        return decompress(payload, MAX_WBITS | 16)
    except damaged as fault:
        raise WireError(f"a gzip batch cannot be opened: {fault}") from fault


def _records(payload: bytes, base: int, base_timestamp: int, count: int) -> tuple[ReadRecord, ...]:
    pos, available = 0, len(payload)
    records: list[ReadRecord] = []
    for _ in range(count):
        length, pos = payload[pos], pos + 1  # most numbers are of one byte
        if length >= 0x80:
            length, pos = read_varlong(payload, pos - 1)
        end = pos + ((length >> 1) ^ -(length & 1))
        timestamp, pos = payload[pos + 1], pos + 2
        if timestamp >= 0x80:
            timestamp, pos = read_varlong(payload, pos - 1)
        timestamp = (timestamp >> 1) ^ -(timestamp & 1)
        delta, pos = payload[pos], pos + 1
        if delta >= 0x80:
            delta, pos = read_varlong(payload, pos - 1)
        delta = (delta >> 1) ^ -(delta & 1)
        key, pos = (None, pos + 1) if payload[pos] == 1 else _bytes(payload, pos)
        value, pos = _bytes(payload, pos)
        if end > available:
            raise IndexError
        records.append(ReadRecord(base + delta, base_timestamp + timestamp, key, value))
        pos = end
    return tuple(records)


@cache
def _checksum() -> Callable[[bytes], int]:
    """Return the function that computes CRC-32C."""
    try:
        from google_crc32c import value
    except ModuleNotFoundError:  # no build of it: WebAssembly
        from coordinator.wire.plain_crc32c import value

    found: Callable[[bytes], int] = value
    return found


def _crc32c(data: bytes) -> int:
    return _checksum()(data)


def _bytes(data: bytes, pos: int) -> tuple[bytes | None, int]:
    size = data[pos]
    pos += 1
    if size >= 0x80:
        size, pos = read_varlong(data, pos - 1)
    if size & 1:  # below zero
        return None, pos
    end = pos + (size >> 1)
    return data[pos:end], end
