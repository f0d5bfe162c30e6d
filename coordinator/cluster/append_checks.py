"""What a topic's configuration demands of the records of a batch, before the batch may be appended.

Owns the refusals of single records with Kafka's words (KIP-467): missing keys of compacted topics, timestamps out of bounds
(KIP-32, KIP-937), records that do not fill their batch. Rule: look at the header and walk once over uncompressed records;
read records one by one, or open a compressed batch, only where that leaves a doubt. Refuses to know logs and producers.
"""

from __future__ import annotations

from typing import NamedTuple

from ..errors import ErrorCode
from .compression import decompress, plausible
from .record_codec import Record, read_records, survey
from .records import CRC_START, HEADER_SIZE, LOG_APPEND_TIME, NO_TIMESTAMP, BatchHeader, BatchRefused, RecordError

RECORDS = HEADER_SIZE - CRC_START
"""Where records begin in the checksummed part of a batch."""


class LogConfig(NamedTuple):
    """What a topic's configuration says about appending. Kafka's names stand beside."""

    max_message_bytes: int = 1_048_588  # max.message.bytes
    append_time: bool = False  # message.timestamp.type=LogAppendTime
    timestamp_before_max_ms: int = (1 << 63) - 1  # message.timestamp.before.max.ms
    timestamp_after_max_ms: int = 3_600_000  # message.timestamp.after.max.ms
    compacted: bool = False  # compact in cleanup.policy: every record needs a key
    segment_bytes: int = 1 << 30  # segment.bytes: no batch may be longer
    producer_id_expiration_ms: int = 86_400_000  # producer.id.expiration.ms


_NO_TIMESTAMP = -1
"""Kafka looks for the highest timestamp from here on up."""


def check_records(header: BatchHeader, body: bytes, config: LogConfig, now_ms: int, where: str) -> int:
    """The batch's true highest timestamp, as far as it can be known without opening it. Raises BatchRefused 87 and 32."""
    highest, lowest = header.max_timestamp, min(header.base_timestamp, header.max_timestamp)
    keyless: tuple[int, ...] = ()
    if header.codec:
        if not plausible(header.codec, body[RECORDS:]):
            raise BatchRefused(ErrorCode.UNKNOWN_SERVER_ERROR, f"not compressed by codec {header.codec}")
    else:
        seen = survey(body, header.record_count, RECORDS)
        keyless = seen.keyless if config.compacted else ()
        if not header.attributes & LOG_APPEND_TIME:
            highest, lowest = header.base_timestamp + seen.max_timestamp_delta, header.base_timestamp + seen.min_timestamp_delta
            if lowest < -1 << 63 or highest >= 1 << 63:  # some have wrapped
                timestamps = [record.timestamp for record in read_records(header, body[RECORDS:])]
                highest, lowest = max(timestamps), min(timestamps)
            highest = max(highest, _NO_TIMESTAMP)
    doubtful = bool(header.attributes & LOG_APPEND_TIME) or (config.compacted and header.codec)
    if not config.append_time:
        doubtful = doubtful or highest > now_ms + config.timestamp_after_max_ms or lowest < now_ms - config.timestamp_before_max_ms
    if keyless or doubtful:
        _refuse_records(header, body, config, now_ms, where)
    return highest


def _refuse_records(header: BatchHeader, body: bytes, config: LogConfig, now_ms: int, where: str) -> None:
    """Look at each record; raise BatchRefused if any is at fault: 32 if one has a bad timestamp, else 87."""
    try:
        payload = decompress(header.codec, body[RECORDS:])
    except ValueError as error:
        raise BatchRefused(ErrorCode.UNKNOWN_SERVER_ERROR, str(error)) from None
    if payload is None:
        return
    errors: list[RecordError] = []
    timestamps = False
    for index, record in enumerate(read_records(header, payload)):
        text = f"Compacted topic cannot accept message without key in topic partition {where}"
        if not config.compacted or record.key is not None:
            text = _timestamp_fault(header, record, config, now_ms)
            timestamps = timestamps or bool(text)
        if text:
            errors.append(RecordError(index, text))
    if not errors:
        return
    if timestamps:
        message = "One or more records have been rejected due to invalid timestamp"
        raise BatchRefused(ErrorCode.INVALID_TIMESTAMP, message, message=message, records=tuple(errors))
    shown = ", ".join(f"RecordError(batchIndex={error.at}, message='{error.message}')" for error in errors[:3])
    message = (f"One or more records have been rejected due to {len(errors)} record errors in total, "
               f"and only showing the first three errors at most: [{shown}]")
    raise BatchRefused(ErrorCode.INVALID_RECORD, message, message=message, records=tuple(errors))


def _timestamp_fault(header: BatchHeader, record: Record, config: LogConfig, now_ms: int) -> str:
    """What is wrong with a record's timestamp (KIP-32, KIP-937), or ""."""
    if not config.append_time and record.timestamp != NO_TIMESTAMP:
        low, high = now_ms - config.timestamp_before_max_ms, now_ms + config.timestamp_after_max_ms
        if low <= record.timestamp <= high:
            return ""
        return (f"Timestamp {record.timestamp} of message with offset {record.offset} is out of range. "
                f"The timestamp should be within [{low}, {high}]")
    if header.attributes & LOG_APPEND_TIME:
        sizes = f"key={len(record.key or b'')} bytes, value={len(record.value or b'')} bytes"
        return (f"Invalid timestamp type in message DefaultRecord(offset={record.offset}, timestamp={record.timestamp}, {sizes}). "
                "Producer should not set timestamp type to LogAppendTime.")
    return ""
