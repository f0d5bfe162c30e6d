"""Events of stream `data`: which records went where, without the records; and connections of a
simulation. Written only when asked for (`EventLog.data`), for records come by the thousand. The
lines carry broker, topic and partition as places.
"""

from __future__ import annotations

from typing import NamedTuple


class RecordsAppended(NamedTuple):
    """A producer's batch is in a partition's log. A batch that is sent again and known has no
    line."""

    offset: int
    last_offset: int
    producer_id: int
    producer_epoch: int
    sequence: int
    """-1: none."""
    transactional: bool
    acks: int
    client: str
    peer: str


class RecordsServed(NamedTuple):
    """Records were sent to a client that asked from `offset` on."""

    offset: int
    last_offset: int
    isolation: str
    client: str
    peer: str


class MarkerWritten(NamedTuple):
    """A transaction has ended in a partition."""

    offset: int
    producer_id: int
    producer_epoch: int
    committed: bool


class RecordsRecompressed(NamedTuple):
    """A producer's batch was compressed anew, as its topic's compression.type says."""

    offset: int
    last_offset: int
    codec: str
    """It is kept in this codec: uncompressed, gzip, snappy, lz4 or zstd."""
    codec_before: str
    """The producer sent it in this one."""
    bytes: int
    bytes_before: int


class SegmentRolled(NamedTuple):
    """A segment of a partition's log began."""

    offset: int
    reason: str
    """The setting by which it began: segment.bytes, segment.ms or segment.index.bytes; `retention`:
    all before it was deleted."""


class ConnectionOpened(NamedTuple):
    """A client has connected."""

    peer: str
    listener: str


class ConnectionClosed(NamedTuple):
    """A connection has ended; `client`: the client id of its latest request."""

    peer: str
    client: str


Event = (
    RecordsAppended
    | RecordsServed
    | MarkerWritten
    | SegmentRolled
    | RecordsRecompressed
    | ConnectionOpened
    | ConnectionClosed
)
