"""Recompression of a batch into the codec of its topic (compression.type).

A batch that has the topic's codec stays as it is, whatever its level; any other is rebuilt from
its records (CMP-10). Does not know logs or topics.
"""

from __future__ import annotations

from coordinator.base.errors import ErrorCode

from .append_checks import RECORDS
from .compression import decompress
from .encoders import MISSING, NAMES, compress
from .record_codec import encode_record, read_records
from .records import (
    CODEC_MASK,
    CRC_START,
    HEADER_SIZE,
    KNOWN_ATTRIBUTES,
    LOG_APPEND_TIME,
    BatchHeader,
    BatchRefused,
    seal,
)


def recompressed(
    header: BatchHeader, body: bytes, codec: int, level: int | None
) -> tuple[BatchHeader, bytes]:
    """Return a checked batch in another codec: its header and its checksummed part. Raises
    BatchRefused 76, which says what to install, if a codec is not available.
    """
    try:
        opened = decompress(header.codec, body[RECORDS:])
    except ValueError as error:
        raise BatchRefused(ErrorCode.UNKNOWN_SERVER_ERROR, str(error)) from None
    if opened is None:
        raise _cannot(header.codec)
    payload, base = opened.data, header.base_timestamp
    if not header.attributes & LOG_APPEND_TIME and _first_delta(payload):
        records = list(read_records(header, payload))
        base = records[0].timestamp
        payload = b"".join(encode_record(each, header.base_offset, base) for each in records)
    if codec:
        packed = compress(codec, payload, level)
        if packed is None:
            raise _cannot(codec)
        payload = packed
    rebuilt = header._replace(
        length=HEADER_SIZE - 12 + len(payload),
        attributes=header.attributes & KNOWN_ATTRIBUTES & ~CODEC_MASK | codec,
        base_timestamp=base,
    )
    data = seal(rebuilt, payload)
    return rebuilt._replace(crc=int.from_bytes(data[17:21], "big")), data[CRC_START:]


def _first_delta(payload: bytes) -> int:
    """Return the first byte of the first record's timestamp delta; 0: it has the base timestamp."""
    pos = 0
    while payload[pos] >= 0x80:
        pos += 1
    return payload[pos + 2]


def _cannot(codec: int) -> BatchRefused:
    why = (
        f"{NAMES.get(codec, codec)} cannot be used here: {MISSING.format(NAMES.get(codec, codec))}"
    )
    return BatchRefused(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, why, message=why)
