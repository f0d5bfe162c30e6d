"""Record batches as bytes: built to order, also broken ones, and read back as plain values.

Knows the version 2 batch layout and CRC-32C, nothing of logs. Built by hand here so that a
scenario's bytes owe nothing to the code they test. Values are hex text, as everywhere in scenarios.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import google_crc32c

HEAD = struct.Struct(">qiibI")  # base offset, length, leader epoch, magic, crc
BODY = struct.Struct(
    ">hiqqqhii"
)  # attributes, last offset delta, first and last timestamp, producer id, epoch, sequence, count
TIMESTAMP_MS = 1_700_000_000_000
"""The timestamp of the first record unless told otherwise: fixed, so that transcripts repeat."""

COMPRESSIONS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}


class Producer(NamedTuple):
    """Who wrote a batch; all -1 for a producer that is not idempotent."""

    producer_id: int = -1
    epoch: int = -1
    sequence: int = -1


def zigzag(number: int) -> bytes:
    """A zigzag varint."""
    number = number << 1 if number >= 0 else (-number << 1) - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def record(
    value: bytes, offset_delta: int, timestamp_delta_ms: int = 0, key: bytes | None = None
) -> bytes:
    """One record of a batch."""
    key_bytes = zigzag(-1) if key is None else zigzag(len(key)) + key
    body = (
        b"\x00"
        + zigzag(timestamp_delta_ms)
        + zigzag(offset_delta)
        + key_bytes
        + zigzag(len(value))
        + value
        + zigzag(0)
    )
    return zigzag(len(body)) + body


def batch(
    *values: bytes,
    producer: Producer = Producer(),
    attributes: int = 0,
    timestamp_ms: int = TIMESTAMP_MS,
    step_ms: int = 0,
    base_offset: int = 0,
    magic: int = 2,
    count: int | None = None,
    last_offset_delta: int | None = None,
    break_crc: bool = False,
    key: bytes | None = None,
) -> str:
    """A batch of `values`, `step_ms` apart; what is named beyond that is written as told, right or
    wrong."""
    records = b"".join(record(value, i, i * step_ms, key) for i, value in enumerate(values))
    size = len(values) if count is None else count
    last = len(values) - 1 if last_offset_delta is None else last_offset_delta
    body = (
        BODY.pack(
            attributes,
            last,
            timestamp_ms,
            timestamp_ms + (len(values) - 1) * step_ms,
            *producer,
            size,
        )
        + records
    )
    crc = google_crc32c.value(body) ^ (0xFFFF if break_crc else 0)
    return (HEAD.pack(base_offset, len(body) + 9, -1, magic, crc) + body).hex()


def read(data: str | None) -> list[Any] | None:
    """What a set of records says, batch by batch: all fields of the header, and the records' bytes
    as they stand."""
    if data is None:
        return None
    raw, found = bytes.fromhex(data), []
    while len(raw) >= HEAD.size + BODY.size:
        base_offset, length, leader_epoch, magic, crc = HEAD.unpack_from(raw)
        if length < HEAD.size + BODY.size - 12:
            break
        attributes, last, first_ms, last_ms, producer_id, epoch, sequence, count = BODY.unpack_from(
            raw, HEAD.size
        )
        end = 12 + length
        found.append(
            {
                "base_offset": base_offset,
                "length": length,
                "leader_epoch": leader_epoch,
                "magic": magic,
                "crc_is_right": crc == google_crc32c.value(raw[HEAD.size : end])
                if len(raw) >= end
                else "cut short",
                "attributes": attributes,
                "last_offset_delta": last,
                "first_timestamp": first_ms if first_ms <= TIMESTAMP_MS + 1_000_000 else "now",
                "max_timestamp": last_ms if last_ms <= TIMESTAMP_MS + 1_000_000 else "now",
                "producer_id": producer_id,
                "producer_epoch": epoch,
                "sequence": sequence,
                "count": count,
                "records": raw[HEAD.size + BODY.size : end].hex()
                if end < 400
                else f"{end - HEAD.size - BODY.size} bytes",
            }
        )
        raw = raw[end:]
    if raw:
        found.append({"bytes_left": len(raw)} if found else {"no batch": raw.hex()})
    return found


def records(data: str | None) -> list[Any]:
    """The records of batches that are not compressed, each with how its batch is counted."""
    raw, found = bytes.fromhex(data or ""), []
    while len(raw) >= HEAD.size + BODY.size:
        base_offset, length, *_ = HEAD.unpack_from(raw)
        *_, count = BODY.unpack_from(raw, HEAD.size)
        at = HEAD.size + BODY.size
        for _ in range(count):
            size, at = _varint(raw, at)
            end = at + size
            _, at = _varint(raw, at + 1)  # behind the attributes: the timestamp's difference
            delta, at = _varint(raw, at)
            key, at = _bytes(raw, at)
            value, at = _bytes(raw, at)
            headers, at = _varint(raw, at)
            named = []
            for _ in range(headers):
                name, at = _bytes(raw, at)
                told, at = _bytes(raw, at)
                named.append([_text(name), _text(told)])
            found.append(
                {
                    "batch": base_offset,
                    "offset": base_offset + delta,
                    "key": _text(key),
                    "value": _text(value),
                    "headers": named,
                }
            )
            at = end
        raw = raw[12 + length :]
    return found


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = raw[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1), at


def _bytes(raw: bytes, at: int) -> tuple[bytes | None, int]:
    size, at = _varint(raw, at)
    return (None, at) if size < 0 else (raw[at : at + size], at + size)


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode()
