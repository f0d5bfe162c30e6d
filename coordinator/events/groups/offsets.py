"""Events of a group's offsets. All of these events are durable: Kafka writes each to
__consumer_offsets (PST-1, PST-5).

Values only. Instants and durations are milliseconds.
"""

from __future__ import annotations

from typing import NamedTuple


class CommittedOffset(NamedTuple):
    """The offset of one partition in a commit. `expire_ms` None: it is kept for the group's
    retention time (OC-8).
    """

    topic: str
    partition: int
    offset: int
    leader_epoch: int
    metadata: str
    expire_ms: int | None


class OffsetsCommitted(NamedTuple):
    """Offsets were committed by a member ("" for a client without membership) (OC-7, OC-8)."""

    member_id: str
    offsets: tuple[CommittedOffset, ...]


class OffsetsPending(NamedTuple):
    """Offsets were committed within a producer's transaction: they are pending until it ends
    (TXN-5).
    """

    member_id: str
    producer_id: int
    offsets: tuple[CommittedOffset, ...]


class PendingOffsetsEnded(NamedTuple):
    """A producer's transaction ended. `partitions`: those whose pending offsets became the
    committed ones; none after an abort, and not those with a later commit (TXN-5).
    """

    producer_id: int
    committed: bool
    partitions: tuple[tuple[str, int], ...]


class OffsetsRemoved(NamedTuple):
    """Committed and pending offsets were removed: they expired, were deleted by OffsetDelete, or
    their topic was deleted (EXP-2, OD-2, EXP-7, TXN-7).
    """

    reason: str
    partitions: tuple[tuple[str, int], ...]
