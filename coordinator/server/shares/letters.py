"""Format of dead letters: records that say where another record was and why it was given up
(KIP-1191, SH-DLQ-2). Does not know topics or leaders; `dead_letters` writes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..storage.compression import Budget, decompress
from ..storage.record_codec import Record, build_batch, encode_record, read_records
from ..storage.records import CONTROL, HEADER_SIZE, BatchRefused, parse_header

if TYPE_CHECKING:
    from coordinator.core.share_partitions.model import SharePartitionKey

    from ..storage.partition_log import PartitionLog

REJECTED = "Offset rejected by client."
DELIVERED_TOO_OFTEN = "Offset delivery count exceeded the threshold."
MOST_BYTES = 1 << 20
"""So much is read of the source, or opened of a compressed batch, for the letters of one batch."""


def batch_of_letters(
    of: SharePartitionKey,
    offsets: Iterable[int],
    delivery_count: int,
    message: str,
    originals: Mapping[int, Record],
    *,
    wall_ms: int,
    max_bytes: int,
) -> tuple[bytes, int]:
    """Return a batch of letters about the first of these offsets, and their number: at least one,
    else as many as fit into `max_bytes`.
    """
    letters: list[Record] = []
    size = HEADER_SIZE
    for offset in offsets:
        original = originals.get(offset)
        headers = (
            ("__dlq.errors.topic", of.topic.encode()),
            ("__dlq.errors.partition", str(of.partition).encode()),
            ("__dlq.errors.offset", str(offset).encode()),
            ("__dlq.errors.group", of.group_id.encode()),
            ("__dlq.errors.delivery.count", str(delivery_count).encode()),
            ("__dlq.errors.message", message.encode()),
        )
        letter = Record(
            len(letters),
            wall_ms,
            None if original is None else original.key,
            None if original is None else original.value,
            headers,
        )
        size += len(encode_record(letter, 0, wall_ms))
        if letters and size > max_bytes:
            break
        letters.append(letter)
    return build_batch(letters), len(letters)


class Originals(NamedTuple):
    """Original records by offset. `last`: the last offset that was looked at; reading stops after
    `MOST_BYTES`.
    """

    found: dict[int, Record]
    last: int


def originals(log: PartitionLog, first: int, last: int) -> Originals:
    """Return a log's records between two offsets, up to `MOST_BYTES` but at least one batch.
    Deleted records and those that cannot be decompressed are left out.
    """
    found: dict[int, Record] = {}
    if not log.log_start_offset <= first < log.log_end_offset:
        return Originals(found, last)
    seen = first
    data = memoryview(log.read(first, MOST_BYTES, across=True))
    while len(data) >= HEADER_SIZE:
        header = parse_header(bytes(data[:HEADER_SIZE]))
        if header.base_offset > last:
            return Originals(found, last)
        if len(data) < header.size:
            return Originals(found, seen)
        seen = header.last_offset
        if not header.attributes & CONTROL:
            opened = _opened(header.codec, bytes(data[HEADER_SIZE : header.size]))
            if opened is not None:
                try:
                    found |= {
                        record.offset: record
                        for record in read_records(header, opened)
                        if first <= record.offset <= last
                    }
                except BatchRefused:
                    pass  # bytes that only a client with other means could have put there
        data = data[header.size :]
    return Originals(found, last if seen >= min(last, log.log_end_offset - 1) else seen)


def _opened(codec: int, payload: bytes) -> bytes | None:
    try:
        opened = decompress(codec, payload, Budget.for_request(MOST_BYTES))
    except ValueError:
        return None
    return opened.data if opened is not None and opened.whole else None
