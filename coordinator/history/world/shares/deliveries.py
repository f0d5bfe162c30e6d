"""Deliveries of records to members of share groups (KIP-932): which records a member acquired, for
how long, and how that ended.

A delivery of many records ends in pieces, each by a line of its own. Records that no member
holds are unknown here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from coordinator.events.handlers import Reader, on
from coordinator.events.line import Line
from coordinator.events.share_partitions import (
    AcknowledgedRange,
    RecordRange,
    RecordsAcknowledged,
    RecordsAcquired,
    RecordsArchived,
    RecordsReleased,
    SharePartitionClosed,
    SharePartitionOpened,
    Span,
)

from ..ranges import put, taken
from .records import LOCK_ENDED, Key, key_of

_SAID: Final = {"accept": "accepted", "release": "released", "reject": "rejected", "gap": "gap"}
OUTCOMES: Final = (*_SAID.values(), "lock ended", "taken back", "archived", "closed", "open")
"""The outcomes of a delivery. `taken back`: without an acknowledgement, although the lock had
not ended. `archived`: the records left the log. `closed`: the leader closed the share partition.
`open`: it has not ended."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Records that one line delivered to a member and whose delivery one line ended. `state`:
    their state after it, or None if the line does not say."""

    key: Key
    first: int
    last: int
    count: int
    member: str
    acquired: Line
    renewals: int = 0
    outcome: str = "open"
    state: str | None = None
    ended: Line | None = None

    @property
    def held_ms(self) -> int | None:
        """Time in ms for which the member had the records; None if it still has them."""
        return None if self.ended is None else self.ended.at_ms - self.acquired.at_ms


class Deliveries(Reader):
    """The deliveries of all share groups in a log. `told` is called with each delivery when it
    has ended and, at the end of the log, with the others. Call `see` for each accepted line of
    the stream `share`."""

    def __init__(self, told: Callable[[Delivery], object]) -> None:
        self._told = told
        self._open: dict[Key, list[Delivery]] = {}
        """The deliveries of a share partition that have not ended, by offset."""

    @on(RecordsAcquired)
    def _acquired(self, line: Line, event: RecordsAcquired) -> None:
        key = key_of(line)
        held = self._open.setdefault(key, [])
        for of in event.records:
            span = (of.first_offset, of.last_offset, of.delivery_count)
            put(held, Delivery(key, *span, event.member_id, line))

    @on(RecordsAcknowledged)
    def _acknowledged(self, line: Line, event: RecordsAcknowledged) -> None:
        for of in event.records:
            if of.acknowledgement == "renew":
                self._renewed(line, of)
            else:
                self._end(line, of, of.state, _SAID[of.acknowledgement])

    @on(RecordsReleased)
    def _released(self, line: Line, event: RecordsReleased) -> None:
        outcome = "lock ended" if event.reason in LOCK_ENDED else "taken back"
        for of in event.records:
            self._end(line, of, of.state, outcome)

    @on(RecordsArchived)
    def _left(self, line: Line, event: RecordsArchived) -> None:
        """Records that a member held were archived with others. Records below the start offset
        are gone without being named."""
        for of in event.records:
            self._end(line, of, of.state, "archived")
        self._end(line, Span(0, event.start_offset - 1), "Archived", "archived")

    @on(SharePartitionOpened, SharePartitionClosed)
    def _served(self, line: Line, _: SharePartitionOpened | SharePartitionClosed) -> None:
        for one in self._open.pop(key_of(line), ()):
            self._told(replace(one, outcome="closed", ended=line))

    def finish(self) -> None:
        """Report the deliveries that have not ended."""
        for held in self._open.values():
            for one in held:
                self._told(one)
        self._open.clear()

    def _renewed(self, line: Line, of: AcknowledgedRange) -> None:
        held = self._open.setdefault(key_of(line), [])
        for one in taken(held, of.first_offset, of.last_offset):
            put(held, replace(one, renewals=one.renewals + 1))

    def _end(
        self, line: Line, of: RecordRange | AcknowledgedRange | Span, state: str, outcome: str
    ) -> None:
        held = self._open.get(key_of(line), [])
        for one in taken(held, of.first_offset, of.last_offset):
            self._told(replace(one, outcome=outcome, state=state, ended=line))
