"""Records that brokers deleted or compacted by themselves, and the clients that asked for them
afterwards.

A client that asks for a compacted offset gets the next record that is left, so only its request
shows that; a log with the stream `data` has it. Consecutive deletions of a partition by one rule
are one, unless a client asked in between. Sentences are in `explain.deleted_records`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from coordinator.events.cluster import LogCompacted, SegmentsDeleted
from coordinator.events.data import RecordsServed
from coordinator.events.handlers import Reader, on
from coordinator.events.line import Line
from coordinator.events.wire import FetchOutOfRange, FetchWentOn

_MOST: Final = 100
_Place = tuple[str, int]


@dataclass(slots=True)
class Asked:
    """A client that asked for a deleted offset. `went_on`: where it fetched next, or None."""

    at_ms: int
    place: _Place
    event: FetchOutOfRange
    went_on: FetchWentOn | None = None


@dataclass(slots=True)
class Deletion:
    """Deleted offsets of a partition. `event` and `last`: the first and the latest deletion;
    `seq`: the line of the first."""

    seq: int
    place: _Place
    event: SegmentsDeleted
    last: SegmentsDeleted
    began_ms: int
    ended_ms: int
    asked: list[Asked] = field(default_factory=list)

    @property
    def first_offset(self) -> int:
        """The first offset that was deleted."""
        return self.event.first_offset

    @property
    def end_offset(self) -> int:
        """The offset behind the last that was deleted."""
        return self.last.end_offset


@dataclass(slots=True)
class Compaction:
    """A compacted part of a partition. `asked`: for each client the first instant at which it asked
    for a compacted offset, the offset, and that of the first record kept behind it."""

    seq: int
    place: _Place
    event: LogCompacted
    at_ms: int
    asked: dict[str, tuple[int, int, int]] = field(default_factory=dict)


class DeletedRecords(Reader):
    """Follows lines about deletions. `reset`: the client whose story the last line completes, or
    None."""

    def __init__(self) -> None:
        self.found: list[Deletion] = []
        self.compacted: list[Compaction] = []
        self._compacted: dict[_Place, Compaction] = {}
        """The latest compaction of each partition."""
        self.reset: Asked | None = None
        self._latest: dict[_Place, list[Deletion]] = {}
        self._lost: dict[tuple[str, _Place], Asked] = {}

    def deletion_of(self, place: _Place, offset: int) -> Deletion | None:
        """Return the deletion that removed an offset, as far as it is remembered."""
        return next(
            (
                each
                for each in reversed(self._latest.get(place, []))
                if each.first_offset <= offset < each.end_offset
            ),
            None,
        )

    @on(SegmentsDeleted)
    def _deleted(self, line: Line, event: SegmentsDeleted) -> None:
        if event.end_offset <= event.first_offset:
            return  # DeleteRecords had moved the start before
        place = _place(line)
        known = self._latest.setdefault(place, [])
        last = known[-1] if known else None
        if (
            last is not None
            and not last.asked
            and last.end_offset == event.first_offset
            and rule(last.event) == rule(event)
        ):
            last.last, last.ended_ms = event, line.at_ms
            return
        if len(self.found) >= _MOST:
            self._forget()
        deletion = Deletion(line.seq, place, event, event, line.at_ms, line.at_ms)
        known.append(deletion)
        self.found.append(deletion)

    @on(LogCompacted)
    def _was_compacted(self, line: Line, event: LogCompacted) -> None:
        if not event.removed:
            return
        if len(self.compacted) >= _MOST:
            gone = next((each for each in self.compacted if not each.asked), self.compacted[0])
            self.compacted.remove(gone)
        compaction = Compaction(line.seq, _place(line), event, line.at_ms)
        self._compacted[compaction.place] = compaction
        self.compacted.append(compaction)

    @on(RecordsServed)
    def _served(self, line: Line, event: RecordsServed) -> None:
        compaction = self._compacted.get(_place(line)) if self._compacted else None
        if (
            compaction is not None
            and event.first_offset is not None
            and event.offset < compaction.event.end_offset
            and len(compaction.asked) < _MOST
        ):
            compaction.asked.setdefault(
                event.client, (line.at_ms, event.offset, event.first_offset)
            )

    @on(FetchOutOfRange)
    def _asked(self, line: Line, event: FetchOutOfRange) -> None:
        place = _place(line)
        deletion = self.deletion_of(place, event.offset)
        if deletion is not None and len(deletion.asked) < _MOST:
            asked = self._lost[event.peer, place] = Asked(line.at_ms, place, event)
            deletion.asked.append(asked)

    @on(FetchWentOn)
    def _went_on(self, line: Line, event: FetchWentOn) -> None:
        self.reset = self._lost.pop((event.peer, _place(line)), None)
        if self.reset is not None:
            self.reset.went_on = event

    def _forget(self) -> None:
        """Forget the oldest deletion that no client asked for, or the oldest of all."""
        gone = next((each for each in self.found if not each.asked), self.found[0])
        self.found.remove(gone)
        self._latest[gone.place].remove(gone)


def _place(line: Line) -> _Place:
    return line.topic or "", line.partition or 0


def rule(event: SegmentsDeleted) -> tuple[str, int | None]:
    """Return the setting by which segments were deleted, and its value; None for a log start
    that was moved."""
    values = {"retention.ms": event.retention_ms, "retention.bytes": event.retention_bytes}
    return event.reason, values.get(event.reason)
