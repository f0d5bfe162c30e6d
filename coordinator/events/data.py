"""Events of stream `data`: offsets of records that were appended and fetched, never the records
themselves; and connections of a simulation.

They are written only on request (`EventLog.data`), because there are thousands of them. The
lines have broker, topic and partition as places.
"""

from __future__ import annotations

from typing import NamedTuple

from .values import LeftOut


class RecordsAppended(NamedTuple):
    """A producer's batch was appended to a partition's log. A duplicate batch, recognised by its
    sequence number, has no line.
    """

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
    """Records were sent to a client that fetched from `offset` on."""

    offset: int
    last_offset: int
    isolation: str
    client: str
    peer: str
    first_offset: LeftOut[int] = None
    """Of the first record that is left, if that at `offset` was compacted away."""


class MarkerWritten(NamedTuple):
    """A transaction marker was written to a partition."""

    offset: int
    producer_id: int
    producer_epoch: int
    committed: bool


class RecordsRecompressed(NamedTuple):
    """A producer's batch was compressed again, because its topic's compression.type says another
    codec.
    """

    offset: int
    last_offset: int
    codec: str
    """The codec in which it is kept: uncompressed, gzip, snappy, lz4 or zstd."""
    codec_before: str
    """The producer sent it in this one."""
    bytes: int
    bytes_before: int


class SegmentRolled(NamedTuple):
    """A new segment of a partition's log was begun."""

    offset: int
    reason: str
    """The setting that caused it: segment.bytes, segment.ms or segment.index.bytes; `retention`:
    all earlier segments were deleted.
    """


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
