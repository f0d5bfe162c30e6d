"""States of the records of share partitions over time (KIP-932), and the two offsets between which
records are in flight: the start offset (SPSO) and the offset behind the last of them (SPEO).

Records before the start offset are done; those after the end offset have not been delivered.
This module must not know the records in the partition's log.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, get_args

from coordinator.events.line import Line
from coordinator.events.share_partitions import (
    UNLOADED,
    AcknowledgedRange,
    RecordRange,
    RecordsAcknowledged,
    RecordsAcquired,
    RecordsArchived,
    RecordsReleased,
    SharePartitionClosed,
    SharePartitionOpened,
)

from ..ranges import put, taken
from .records import Key, key_of

Change = (
    SharePartitionOpened
    | RecordsAcquired
    | RecordsAcknowledged
    | RecordsReleased
    | RecordsArchived
    | SharePartitionClosed
)
"""Events that change records in flight."""
_CHANGES: Final = frozenset(get_args(Change))
HELD: Final = "Acquired"


@dataclass(frozen=True, slots=True)
class Stay:
    """Records that are in one state from an instant on. `member`: the member that holds them, if
    they are acquired. `until_ms`: the end, or None."""

    first: int
    last: int
    state: str
    delivery_count: int
    member: str | None
    since_ms: int
    until_ms: int | None = None


class InFlight:
    """The records in flight of one share partition, in the order of offsets, and its start and
    end offset; both are None while no leader serves it."""

    __slots__ = ("end", "pieces", "start")

    def __init__(self) -> None:
        self.start: int | None = None
        self.end: int | None = None
        self.pieces: list[Stay] = []


class ShareStays:
    """All share partitions in a log. `told` is called with each stay of records in a state when
    it has ended. Call `see` for each accepted line of the stream `share`."""

    def __init__(self, told: Callable[[Key, Stay], None]) -> None:
        self.partitions: dict[Key, InFlight] = {}
        self._told = told

    def see(self, line: Line) -> InFlight | None:
        """Handle the next line; return the share partition that it changes, or None."""
        if line.kind not in _CHANGES:
            return None
        key, at_ms = key_of(line), line.at_ms
        event: Change = line.event
        there = self.partitions.setdefault(key, InFlight())
        if isinstance(event, SharePartitionClosed) and event.reason == UNLOADED:
            for held in [piece for piece in there.pieces if piece.state == HELD]:
                self._end(key, taken(there.pieces, held.first, held.last), at_ms)
            return there
        if isinstance(event, SharePartitionOpened | SharePartitionClosed):
            self._end(key, there.pieces, at_ms)
            there.pieces, there.start, there.end = [], None, None
            if isinstance(event, SharePartitionClosed):
                return there
        for of in event.records:
            if not isinstance(of, AcknowledgedRange) or of.acknowledgement != "renew":
                self._changed(key, there, line, of)
        start = there.start = max(event.start_offset, 0)
        self._end(key, taken(there.pieces, 0, start - 1), at_ms)
        last = there.pieces[-1].last if there.pieces else start - 1
        there.end = max(last + 1, there.end or 0, start)
        return there

    def _changed(
        self, key: Key, there: InFlight, line: Line, of: RecordRange | AcknowledgedRange
    ) -> None:
        first, last, at_ms = of.first_offset, of.last_offset, line.at_ms
        self._end(key, taken(there.pieces, first, last), at_ms)
        held_by = line.member if of.state == HELD else None
        put(
            there.pieces,
            Stay(first, last, of.state, of.delivery_count, held_by, at_ms),
        )

    def _end(self, key: Key, stays: list[Stay], at_ms: int) -> None:
        for each in stays:
            self._told(key, replace(each, until_ms=at_ms))
