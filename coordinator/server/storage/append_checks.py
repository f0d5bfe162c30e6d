"""Checks of a batch against its topic's configuration before it is appended.

Owns the refusals of single records with Kafka's texts (KIP-467): missing keys in compacted
topics, timestamps out of bounds (KIP-32, KIP-937), records that do not fill their batch. Each
batch's records are walked over once, those of a compressed batch within a budget that grows with
the request; they are inspected one by one only if the walk leaves a doubt. Does not know logs or
producers.
"""

from __future__ import annotations

from typing import NamedTuple

from coordinator.base.errors import ErrorCode

from .compression import Budget, Opened, decompress
from .record_codec import Measured, Survey, measure_records, survey, survey_opened, wrapped
from .records import (
    CRC_START,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    NO_TIMESTAMP,
    BatchHeader,
    BatchRefused,
    RecordError,
)

RECORDS = HEADER_SIZE - CRC_START
"""The position of the records in the checksummed part of a batch."""


class LogConfig(NamedTuple):
    """Topic configuration for appending, with Kafka's names beside."""

    max_message_bytes: int = 1_048_588  # max.message.bytes
    append_time: bool = False  # message.timestamp.type=LogAppendTime
    timestamp_before_max_ms: int = (1 << 63) - 1  # message.timestamp.before.max.ms
    timestamp_after_max_ms: int = 3_600_000  # message.timestamp.after.max.ms
    compacted: bool = False  # compact in cleanup.policy: every record needs a key
    segment_bytes: int = 1 << 30  # segment.bytes, internal.segment.bytes: no batch may be longer
    # segment.ms, of a compacted topic max.compaction.lag.ms if that is less: so much time is
    # between a segment's batches at most
    segment_ms: int = 604_800_000
    segment_jitter_ms: int = 0  # segment.jitter.ms: it may be so much less
    index_interval_bytes: int = 4_096  # index.interval.bytes
    index_max_bytes: int = 10_485_760  # segment.index.bytes
    producer_id_expiration_ms: int = 86_400_000  # producer.id.expiration.ms
    # compression.type: 0 to 4, uncompressed to zstd; None: as each producer sends it
    codec: int | None = None
    compression_level: int | None = None  # compression.*.level of that codec
    largest_record: int | None = None  # max.decompressed.message.bytes

    @property
    def index_bytes(self) -> int:
        """Size in bytes below which a segment's index is certainly not full."""
        entries = max(min(self.index_max_bytes // 8, self.index_max_bytes // 12 - 1), 0)
        return self.index_interval_bytes * entries

    def lasts_ms(self, offset: int) -> int:
        """Return the time that the segment beginning at an offset lasts. Kafka draws each segment's
        jitter; here it follows from the offset, so that a run can be repeated.
        """
        most = min(self.segment_jitter_ms, self.segment_ms)
        return self.segment_ms - (offset * 2_654_435_761 % (1 << 32) % most if most else 0)


_NO_TIMESTAMP = -1
"""Kafka looks for the highest timestamp from here on up."""
_STEPS_PER_FAULT = 8
"""The cost of wording a record's fault, and of sending it."""


def check_records(
    header: BatchHeader,
    body: bytes,
    config: LogConfig,
    now_ms: int,
    where: str,
    budget: Budget | None = None,
) -> int:
    """Check a batch's records; return its true highest timestamp, as far as it can be known.

    A compressed batch is decompressed and walked over within `budget`; the rest is trusted.
    Raises BatchRefused: INVALID_RECORD (87), INVALID_TIMESTAMP (32), and UNKNOWN_SERVER_ERROR
    (-1) for bytes that cannot be decompressed.
    """
    highest = header.max_timestamp
    lowest = min(header.base_timestamp, highest)
    opened = None
    if header.codec:
        opened, seen = _walked(
            header, body, budget or Budget.for_request(len(body)), config.largest_record
        )
        if opened is None:
            return highest
    else:
        seen = survey(body, header.record_count, RECORDS)  # not cut out: the hot path
    if (
        not header.attributes & LOG_APPEND_TIME
        and seen.min_timestamp_delta <= seen.max_timestamp_delta
    ):
        found, lowest = (
            header.base_timestamp + seen.max_timestamp_delta,
            header.base_timestamp + seen.min_timestamp_delta,
        )
        if lowest < -1 << 63 or found >= 1 << 63:
            found, lowest = _wrapped_bounds(
                header, body[RECORDS:] if opened is None else opened.data
            )
        highest = max(found, _NO_TIMESTAMP if opened is None or opened.whole else highest)
    doubtful = bool(header.attributes & LOG_APPEND_TIME)
    if not config.append_time:
        doubtful = (
            doubtful
            or highest > now_ms + config.timestamp_after_max_ms
            or lowest < now_ms - config.timestamp_before_max_ms
        )
    if doubtful or (config.compacted and seen.keyless):
        _refuse_records(
            header, body[RECORDS:] if opened is None else opened.data, config, now_ms, where
        )
    if (
        opened is not None and not seen.in_order
    ):  # Kafka builds the batch anew, for which it has not read enough (-1)
        raise BatchRefused(
            ErrorCode.UNKNOWN_SERVER_ERROR, "offsets within the batch are not consecutive"
        )
    return highest


def _walked(
    header: BatchHeader, body: bytes, budget: Budget, largest: int | None
) -> tuple[Opened | None, Survey]:
    """Return the decompressed bytes (None: the codec is not available) and the findings of a walk
    over the records.
    """
    try:
        opened = decompress(header.codec, body[RECORDS:], budget)
    except ValueError as error:
        raise BatchRefused(ErrorCode.UNKNOWN_SERVER_ERROR, str(error)) from None
    if opened is None:
        return None, _NOTHING_SEEN
    walked = min(header.record_count, budget.left)
    seen = survey_opened(opened, header.record_count, budget, largest)
    return opened._replace(whole=opened.whole and walked == header.record_count), seen


_NOTHING_SEEN = Survey(-1 << 63, 1 << 63, ())


def _wrapped_bounds(header: BatchHeader, data: bytes) -> tuple[int, int]:
    """Return the highest and lowest timestamp if a sum exceeds 64 bits."""
    budget = Budget.for_request(len(data))
    timestamps = [
        wrapped(header.base_timestamp + record.timestamp_delta)
        for record in measure_records(data, header.record_count, budget, sized=not header.codec)
    ]
    return max(timestamps), min(timestamps)


def _refuse_records(
    header: BatchHeader, data: bytes, config: LogConfig, now_ms: int, where: str
) -> None:
    """Check each record and raise BatchRefused if any is invalid: INVALID_TIMESTAMP if a timestamp
    is, else INVALID_RECORD.
    """
    errors: list[RecordError] = []
    timestamps = False
    keyless = f"Compacted topic cannot accept message without key in topic partition {where}"
    budget = Budget.for_request(len(data) if not header.codec else header.size)
    for index, record in enumerate(
        measure_records(data, header.record_count, budget, sized=not header.codec)
    ):
        text = keyless
        if not config.compacted or record.key_size >= 0:
            text = _timestamp_fault(header, record, config, now_ms)
            timestamps = timestamps or bool(text)
        if text:
            errors.append(RecordError(index, text))
            budget.spend(_STEPS_PER_FAULT)
    if not errors:
        return
    if timestamps:
        message = "One or more records have been rejected due to invalid timestamp"
        raise BatchRefused(
            ErrorCode.INVALID_TIMESTAMP, message, message=message, records=tuple(errors)
        )
    shown = ", ".join(
        f"RecordError(batchIndex={error.at}, message='{error.message}')" for error in errors[:3]
    )
    message = (
        f"One or more records have been rejected due to {len(errors)} record errors in total, "
        f"and only showing the first three errors at most: [{shown}]"
    )
    raise BatchRefused(ErrorCode.INVALID_RECORD, message, message=message, records=tuple(errors))


def _timestamp_fault(header: BatchHeader, record: Measured, config: LogConfig, now_ms: int) -> str:
    """Return the fault of a record's timestamp (KIP-32, KIP-937), or ""."""
    timestamp = header.max_timestamp
    if not header.attributes & LOG_APPEND_TIME:
        timestamp = wrapped(header.base_timestamp + record.timestamp_delta)
    offset = header.base_offset + record.offset_delta
    if not config.append_time and timestamp != NO_TIMESTAMP:
        low, high = now_ms - config.timestamp_before_max_ms, now_ms + config.timestamp_after_max_ms
        if low <= timestamp <= high:
            return ""
        return (
            f"Timestamp {timestamp} of message with offset {offset} is out of range. "
            f"The timestamp should be within [{low}, {high}]"
        )
    if header.attributes & LOG_APPEND_TIME:
        # Of a compressed record Kafka reads no more than sizes here; of a plain one, those of
        # nothing are 0.
        name, least = ("PartialDefaultRecord", -1) if header.codec else ("DefaultRecord", 0)
        sizes = (
            f"key={max(record.key_size, least)} bytes, value={max(record.value_size, least)} bytes"
        )
        return (
            f"Invalid timestamp type in message {name}(offset={offset}, timestamp={timestamp}, {sizes}). "
            "Producer should not set timestamp type to LogAppendTime."
        )
    return ""
