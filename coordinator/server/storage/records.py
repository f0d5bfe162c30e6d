"""Record batches, format v2: parsing and checking of the batch header.

Owns the 61-byte header, CRC-32C, and the refusals of invalid batches in Kafka's order. A batch
stays as its producer sent it, except for the fields outside its checksum. Does not know logs,
topics, or the records inside (`record_codec`).

Sources: KIP-98 (format v2), KIP-32 (timestamps), KIP-467 (errors per record); order of checks as
seen in Kafka 4.4.0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from struct import Struct
from typing import NamedTuple

from coordinator.base.errors import ErrorCode

NO_TIMESTAMP = -1
NO_PRODUCER_ID = -1
NO_SEQUENCE = -1
MAGIC = 2
HEADER_SIZE = 61
PRODUCER_ID_END = 51
"""Kafka reads so much of every batch before it looks whether its header is whole."""
CRC_OFFSET = 17
# the checksum covers everything from the attributes on: offsets and leader epoch can be stamped
CRC_START = 21
CODEC_MASK = 0x07
LOG_APPEND_TIME = 0x08
TRANSACTIONAL = 0x10
CONTROL = 0x20
KNOWN_ATTRIBUTES = 0x7F
"""All bits that have a meaning; the highest, 0x40, is the delete horizon of compaction (KIP-534).
"""
GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4

_HEADER = Struct(">qiibIhiqqqhii")
_STAMP = Struct(">qiibI")
_LENGTH = Struct(">i")
_TIMES = Struct(">qq")
_MIN_LENGTH = 14  # of anything that was ever called a message


class RecordError(NamedTuple):
    """Fault of one record in a refused batch (KIP-467). `at`: index of the record in the batch."""

    at: int
    message: str


class BatchRefused(Exception):
    """Refusal of a batch. `error` and `records` go on the wire; `message` too, where Kafka sends
    one.
    """

    def __init__(
        self,
        error: ErrorCode,
        reason: str,
        *,
        message: str | None = None,
        records: tuple[RecordError, ...] = (),
    ) -> None:
        super().__init__(reason)
        self.error = error
        self.message = message
        self.records = records


def invalid(reason: str) -> BatchRefused:
    """Return a refusal with INVALID_RECORD (87)."""
    return BatchRefused(ErrorCode.INVALID_RECORD, reason)


def _corrupt(reason: str) -> BatchRefused:
    return BatchRefused(ErrorCode.CORRUPT_MESSAGE, reason, message=reason)


class BatchHeader(NamedTuple):
    """Header of a batch. `length`: bytes after this field; timestamps are wall-clock milliseconds."""

    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def size(self) -> int:
        """Bytes of the whole batch."""
        return self.length + 12

    @property
    def codec(self) -> int:
        """Compression codec: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd."""
        return self.attributes & CODEC_MASK

    @property
    def has_producer(self) -> bool:
        """True if the batch has a producer id, so an idempotent producer sent it."""
        return self.producer_id > NO_PRODUCER_ID

    @property
    def last_offset(self) -> int:
        """Offset of the last record, if `base_offset` is the real one."""
        return self.base_offset + self.last_offset_delta

    @property
    def last_sequence(self) -> int:
        """Sequence number of the last record; numbers wrap from 2^31-1 to 0."""
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return (self.base_sequence + self.last_offset_delta) & 0x7FFFFFFF

    def __str__(self) -> str:
        return f"batch {self.base_offset}..{self.last_offset}, {self.record_count} records, {self.size} bytes"


def parse_header(data: bytes, pos: int = 0) -> BatchHeader:
    """Return the header of the batch at `pos`; 61 bytes must be there."""
    return BatchHeader._make(_HEADER.unpack_from(data, pos))


def crc32c(data: bytes) -> int:
    """Return the CRC-32C (Castagnoli)."""
    return _checksum()(data)


@cache
def _checksum() -> Callable[[bytes], int]:
    """Return the checksum function, imported at first use to keep start-up fast. If the library is
    not available (Python in a web page), use a slow table.
    """
    value: Callable[[bytes], int]
    try:
        from google_crc32c import value
    except ImportError:
        from coordinator.wire.plain_crc32c import value
    return value


def is_transactional(data: bytes) -> bool:
    """Return True if the first batch is transactional. Raises BatchRefused 2 if it cannot be a
    batch (with a message: Kafka checks this first and refuses the whole request).
    """
    size = _next_size(data, 0)
    return (
        size is not None
        and size > CRC_START + 1
        and data[16] == MAGIC
        and bool(data[CRC_START + 1] & TRANSACTIONAL)
    )


def sole_batch(data: bytes, version: int) -> BatchHeader:
    """Return the header of the one batch that a Produce of `version` may contain for a partition.

    Bytes after it that are no whole batch are accepted. Raises BatchRefused: 87 for none,
    several or an old format, 2 for impossible lengths, 76 for zstd and -1 for an unknown codec
    before v7 (later versions: `check_header`). A batch that ends within its header is returned
    with zeros in the missing fields: `PartitionLog.append` refuses it by its `size`.
    """
    size = _next_size(data, 0)
    if size is None:
        raise invalid("no record batch")
    if data[16] != MAGIC:
        raise invalid(f"a batch of format {data[16]}, before 2")
    header = parse_header(data if size >= HEADER_SIZE else data[:size].ljust(HEADER_SIZE, b"\0"))
    if version < 7 and header.codec > ZSTD:
        raise BatchRefused(ErrorCode.UNKNOWN_SERVER_ERROR, f"compression {header.codec}")
    if version < 7 and header.codec == ZSTD:
        raise BatchRefused(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"zstd in Produce v{version}")
    if _next_size(data, size) is not None:
        raise invalid("more than one record batch")
    return header


def _next_size(data: bytes, pos: int) -> int | None:
    """Return the size of the whole batch at `pos`, or None if there is none."""
    left = len(data) - pos
    if left < 12:
        return None
    length: int = _LENGTH.unpack_from(data, pos + 8)[0]
    if length < _MIN_LENGTH:
        raise _corrupt(
            f"Record size {length} is less than the minimum record overhead ({_MIN_LENGTH})"
        )
    if left < CRC_OFFSET:
        return None
    if data[pos + 16] > MAGIC:
        raise _corrupt(
            f"Invalid magic found in record: {data[pos + 16] - (data[pos + 16] >> 7 << 8)}"
        )
    return length + 12 if length + 12 <= left else None


def check_header(header: BatchHeader) -> None:
    """Raise BatchRefused for an invalid codec (-1, as in Kafka), or an invalid count, delta,
    control flag or sequence (87) in a client's batch.
    """
    if header.codec > ZSTD:
        raise BatchRefused(ErrorCode.UNKNOWN_SERVER_ERROR, f"compression {header.codec}")
    if (
        header.last_offset_delta < 0
        or header.record_count <= 0
        or header.last_offset_delta + 1 != header.record_count
    ):
        raise invalid(
            f"{header.record_count} records, last offset delta {header.last_offset_delta}"
        )
    if header.attributes & CONTROL:
        raise invalid("a control batch from a client")
    if header.has_producer and header.base_sequence < 0:
        raise invalid(f"sequence {header.base_sequence} of producer {header.producer_id}")


def stamp(base_offset: int, leader_epoch: int, header: BatchHeader) -> bytes:
    """Return the first 21 bytes of a batch as the log stores it: all before the checksummed part."""
    return _STAMP.pack(base_offset, header.length, leader_epoch, header.magic, header.crc)


def with_max_timestamp(
    header: BatchHeader, body: bytes, max_timestamp: int, *, append_time: bool
) -> tuple[BatchHeader, bytes]:
    """Return the batch with another maximum timestamp and timestamp type, and a new checksum
    (KIP-32).

    `body`: the checksummed part. The base timestamp stays: under append time, readers use the
    maximum for all records. Unknown attribute bits are lost, for Kafka composes the attributes
    anew.
    """
    known = header.attributes & KNOWN_ATTRIBUTES
    attributes = known | LOG_APPEND_TIME if append_time else known & ~LOG_APPEND_TIME
    body = b"".join(
        (
            attributes.to_bytes(2, "big", signed=True),
            body[2:6],
            _TIMES.pack(header.base_timestamp, max_timestamp),
            body[22:],
        )
    )
    return header._replace(
        attributes=attributes, max_timestamp=max_timestamp, crc=crc32c(body)
    ), body


def seal(header: BatchHeader, payload: bytes) -> bytes:
    """Return header and payload as one batch with a correct checksum; all other header fields are
    kept as given, valid or not.
    """
    body = _HEADER.pack(*header)[CRC_START:] + payload
    return stamp(header.base_offset, header.leader_epoch, header._replace(crc=crc32c(body))) + body
