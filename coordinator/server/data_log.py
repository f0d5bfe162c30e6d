"""The data stream of the event log: which records were appended to which partition and served to
whom, and who was connected.

Written only while `EventLog.data` is on: records come by the thousand. Owns the lines' fields.
Batches that were appended before (a producer sent them again) make no line. Does not depend on what
records hold.
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

from .storage.encoders import NAMES

if TYPE_CHECKING:
    from coordinator.events import EventLog

    from .cluster.model import Partition
    from .requests.call import Call
    from .storage.partition_log import Appended, Marker
    from .storage.records import BatchHeader

_HEADER_END = 27


class Writer(NamedTuple):
    """A broker that writes records of its own accord."""

    now: int
    client_id: str
    peer: str = ""


def on(log: EventLog | None) -> EventLog | None:
    """The log, if it takes lines of this stream now."""
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
    """A batch is in a log, of a producer that asked for it or of a broker."""
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
    """A batch was compressed anew. `size`: bytes of it as it is kept."""
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
    """Records leave for a client that asked for them from `offset` on; the last batch may be cut
    short. What is taken out of the answer, since its client may not read it, does not leave."""
    if log is not None and on(log) and (call.sees is None or call.sees(topic)):
        last = _last_offset(records)
        if last is not None:
            isolation = "read_committed" if committed else "read_uncommitted"
            log.append(
                RecordsServed(offset, last, isolation, call.client_id, call.peer),
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
    """The end of a transaction is in a log."""
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
    """A segment of a log began, by a setting."""
    if log is not None and on(log):
        log.append(
            SegmentRolled(partition.log.active_offset, by),
            at_ms=now,
            broker=node,
            topic=partition.topic,
            partition=partition.index,
        )


def opened(log: EventLog | None, node: int, peer: str, listener: str, now: int) -> None:
    """A client has connected."""
    if log is not None and on(log):
        log.append(ConnectionOpened(peer, listener), at_ms=now, broker=node)


def closed(log: EventLog | None, node: int, peer: str, client_id: str, now: int) -> None:
    """A connection has ended, whoever ended it. `client_id`: of its latest request."""
    if log is not None and on(log):
        log.append(ConnectionClosed(peer, client_id), at_ms=now, broker=node)


def _last_offset(records: bytes) -> int | None:
    """The offset of the last record in whole batches; None: there is no whole batch."""
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
