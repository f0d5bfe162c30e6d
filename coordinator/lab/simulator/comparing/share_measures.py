"""The outcomes of the records of a run's share groups (KIP-932), read from the event log alone:
the measures that `coordinator ab` compares. This module must not know brokers, members or the
world."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from coordinator.events.data import RecordsAppended
from coordinator.events.handlers import Reader, on
from coordinator.events.line import Line
from coordinator.events.share_partitions import (
    AcknowledgedRange,
    RecordRange,
    RecordsAcknowledged,
    RecordsAcquired,
    RecordsReleased,
)
from coordinator.history.world.accepted_lines import accepted

_LOCK_ENDED: Final = "the lock ended"
_GIVEN_UP: Final = frozenset({"Archiving", "Archived"})


class ShareMeasures(NamedTuple):
    """The measures of one run. `per_s`: records accepted each second, from the first to the last
    delivery."""

    accepted: float
    per_s: float
    redelivered: float
    given_up: float
    locks_ended: float
    seconds_to_accept: float
    slowest_s: float


NAMES: Final = (
    "accepted",
    "accepted a second",
    "delivered again",
    "given up",
    "locks ended",
    "time to accept, s",
    "the slowest, s",
)


def measure_shares(lines: Iterable[Line]) -> ShareMeasures:
    """Return the measures of all share groups together. `redelivered`: deliveries of records
    that had been delivered before. `given_up`: records that were rejected, or released after
    their last delivery. `locks_ended`: records whose lock ended. `seconds_to_accept`: average
    time from writing a record to its acceptance; `slowest_s`: the longest."""
    outcome = _Outcome()
    for line in accepted(lines):
        outcome.see(line)
    return outcome.measures()


class _Outcome(Reader):
    """The outcomes of the records so far."""

    def __init__(self) -> None:
        self._written: dict[tuple[str, int], _Written] = {}
        self._accepted = self._redelivered = self._given_up = self._ended = 0
        self._waited_ms = self._slowest_ms = 0
        self._first_ms: int | None = None
        self._last_ms = 0

    def measures(self) -> ShareMeasures:
        busy_s = (self._last_ms - (self._first_ms or 0)) / 1000
        accepted = self._accepted
        return ShareMeasures(
            accepted,
            accepted / busy_s if busy_s else 0.0,
            self._redelivered,
            self._given_up,
            self._ended,
            self._waited_ms / accepted / 1000 if accepted else 0.0,
            self._slowest_ms / 1000,
        )

    @on(RecordsAppended)
    def _appended(self, line: Line, event: RecordsAppended) -> None:
        self._records_of(line).append(event.offset, line.at_ms)

    @on(RecordsAcquired)
    def _acquired(self, line: Line, event: RecordsAcquired) -> None:
        self._redelivered += sum(_size(of) for of in event.records if of.delivery_count > 1)
        if event.records:
            self._last_ms = line.at_ms
            if self._first_ms is None:
                self._first_ms = line.at_ms

    @on(RecordsAcknowledged)
    def _acknowledged(self, line: Line, event: RecordsAcknowledged) -> None:
        written = self._records_of(line)
        for of in event.records:
            if of.acknowledgement == "accept":
                self._accepted += _size(of)
                waits = [line.at_ms - at_ms for at_ms in written.instants(of)]
                self._waited_ms += sum(waits)
                self._slowest_ms = max(self._slowest_ms, *waits, 0)
            elif of.acknowledgement in ("reject", "release") and of.state in _GIVEN_UP:
                self._given_up += _size(of)

    @on(RecordsReleased)
    def _released(self, _: Line, event: RecordsReleased) -> None:
        if event.reason == _LOCK_ENDED:
            self._ended += sum(map(_size, event.records))
        self._given_up += sum(_size(of) for of in event.records if of.state in _GIVEN_UP)

    def _records_of(self, line: Line) -> _Written:
        return self._written.setdefault((line.topic or "", line.partition or 0), _Written())


def _size(of: RecordRange | AcknowledgedRange) -> int:
    return of.last_offset - of.first_offset + 1


class _Written:
    """The instants at which the records of a partition were written."""

    def __init__(self) -> None:
        self._offsets: list[int] = []
        self._at_ms: list[int] = []

    def append(self, offset: int, at_ms: int) -> None:
        """Note a batch that begins at an offset."""
        self._offsets.append(offset)
        self._at_ms.append(at_ms)

    def instants(self, of: AcknowledgedRange) -> Iterator[int]:
        """Yield the instant at which each record of a range was written."""
        for offset in range(of.first_offset, of.last_offset + 1):
            batch = bisect_right(self._offsets, offset) - 1
            if batch >= 0:
                yield self._at_ms[batch]
