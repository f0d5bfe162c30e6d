"""Writer of the data stream of the event log: records appended and served, transaction markers,
segments, and connections opened and closed.

Writes only while `EventLog.data` is on, for records come by the thousand. A duplicate batch of
an idempotent producer is not logged. Does not look into records. The events are in `events`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coordinator.events.data import (
    ConnectionClosed,
    ConnectionOpened,
    MarkerWritten,
    RecordsAppended,
    RecordsRecompressed,
    RecordsServed,
    SegmentRolled,
)

from .storage.compression import decompress
from .storage.encoders import NAMES
from .storage.record_codec import read_records
from .storage.records import CONTROL, HEADER_SIZE, BatchRefused, parse_header

if TYPE_CHECKING:
    from coordinator.events import EventLog

    from .cluster.model import Partition
    from .requests.call import Call
    from .storage.partition_log import Appended, Marker
    from .storage.records import BatchHeader

_HEADER_END = 27


class Writer(NamedTuple):
    """A broker that appends records without a client's request."""

    now: int
    client_id: str
    peer: str = ""


def on(log: EventLog | None) -> EventLog | None:
    """Return the log if it takes events of the data stream now, else None."""
    return log if log is not None and log.data and log.writable else None


def appended(
    log: EventLog | None,
    node: int,
    call: Call | Writer,
    acks: int,
    topic: str,
    partition: int,
    header: BatchHeader,
    base_offset: int,
) -> None:
    """Log a batch that a producer or a broker appended."""
    if log is not None and on(log):
        log.append(
            RecordsAppended(
                offset=base_offset,
                last_offset=base_offset + header.record_count - 1,
                producer_id=header.producer_id,
                producer_epoch=header.producer_epoch,
                sequence=header.base_sequence,
                transactional=bool(header.attributes & 0x10),
                acks=acks,
                client=call.client_id,
                peer=call.peer,
            ),
            at_ms=call.now,
            broker=node,
            topic=topic,
            partition=partition,
        )


def recompressed(
    log: EventLog | None, node: int, now: int, partition: Partition, placed: Appended, size: int
) -> None:
    """Log that the broker compressed a batch with another codec. `size`: its stored size in bytes."""
    if log is not None and on(log) and placed.sent is not None:
        codec = partition.log.codec_at(placed.base_offset)
        log.append(
            RecordsRecompressed(
                placed.base_offset,
                placed.base_offset + placed.sent.last_offset_delta,
                NAMES.get(codec, "uncompressed"),
                NAMES.get(placed.sent.codec, "uncompressed"),
                size,
                placed.sent.size,
            ),
            at_ms=now,
            broker=node,
            topic=partition.topic,
            partition=partition.index,
        )


def served(
    log: EventLog | None,
    node: int,
    call: Call,
    topic: str,
    partition: int,
    offset: int,
    records: bytes,
    *,
    committed: bool,
) -> None:
    """Log records that are sent to a consumer that fetched from `offset`; the last batch may be cut
    short. Topics that the client may not read are taken out of the answer and not logged.
    """
    if log is not None and on(log) and (call.sees is None or call.sees(topic)):
        last = _last_offset(records)
        if last is not None:
            isolation = "read_committed" if committed else "read_uncommitted"
            log.append(
                RecordsServed(
                    offset,
                    last,
                    isolation,
                    call.client_id,
                    call.peer,
                    first_left(records, offset),
                ),
                at_ms=call.now,
                broker=node,
                topic=topic,
                partition=partition,
            )


def marked(
    log: EventLog | None,
    node: int,
    topic: str,
    partition: int,
    marker: Marker,
    offset: int,
    now: int,
    cause: int | None,
) -> None:
    """Log a transaction marker that was appended."""
    if log is not None and on(log):
        log.append(
            MarkerWritten(offset, marker.producer_id, marker.producer_epoch, marker.committed),
            at_ms=now,
            cause=cause,
            broker=node,
            topic=topic,
            partition=partition,
        )


def rolled(log: EventLog | None, node: int, partition: Partition, by: str, now: int) -> None:
    """Log that a new segment began, and the setting that caused it."""
    if log is not None and on(log):
        log.append(
            SegmentRolled(partition.log.active_offset, by),
            at_ms=now,
            broker=node,
            topic=partition.topic,
            partition=partition.index,
        )


def opened(log: EventLog | None, node: int, peer: str, listener: str, now: int) -> None:
    """Log that a client connected."""
    if log is not None and on(log):
        log.append(ConnectionOpened(peer, listener), at_ms=now, broker=node)


def closed(log: EventLog | None, node: int, peer: str, client_id: str, now: int) -> None:
    """Log that a connection ended, whichever side closed it. `client_id`: that of its latest
    request.
    """
    if log is not None and on(log):
        log.append(ConnectionClosed(peer, client_id), at_ms=now, broker=node)


def first_left(records: bytes, offset: int) -> int | None:
    """Return the offset of the first record if compaction removed the one at `offset`; None if it
    is there, or a marker stands before the first record.
    """
    pos = 0
    while pos + HEADER_SIZE <= len(records):
        header = parse_header(records[pos : pos + HEADER_SIZE])
        end = pos + 12 + header.length
        whole = header.record_count == header.last_offset - header.base_offset + 1
        if end > len(records) or header.attributes & CONTROL:
            return None
        if whole:
            return header.base_offset if header.base_offset > offset else None
        opened = _opened(header, records[pos + HEADER_SIZE : end])
        if opened is None:
            return None
        try:
            for record in read_records(header, opened):
                if record.offset >= offset:
                    return record.offset if record.offset > offset else None
        except BatchRefused:
            return None
        pos = end
    return None


def _opened(header: BatchHeader, payload: bytes) -> bytes | None:
    if not header.codec:
        return payload
    try:
        opened = decompress(header.codec, payload)
    except (ValueError, BatchRefused):
        return None
    return None if opened is None or not opened.whole else opened.data


def _last_offset(records: bytes) -> int | None:
    """Return the offset of the last record in a whole batch, or None if there is no whole batch."""
    pos, last = 0, None
    while pos + _HEADER_END <= len(records):
        end = pos + 12 + int.from_bytes(records[pos + 8 : pos + 12], "big")
        if end > len(records):
            break
        last = int.from_bytes(records[pos : pos + 8], "big") + int.from_bytes(
            records[pos + 23 : pos + 27], "big"
        )
        pos = end
    return last
