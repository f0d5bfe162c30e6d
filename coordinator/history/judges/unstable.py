"""Judges that a read_committed consumer gets no committed offset that an open transaction may
change.

The log does not have the partitions of an OffsetFetch. They are those that the client was
assigned since its last OffsetFetch was answered.
"""

from __future__ import annotations

from typing import Final

from coordinator.events.groups import GroupDeleted, GroupLoaded, GroupUnloaded
from coordinator.events.groups.offsets import OffsetsPending, OffsetsRemoved, PendingOffsetsEnded
from coordinator.events.handlers import on
from coordinator.events.members import (
    MemberStarted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    RecordsPolled,
)
from coordinator.events.wire import RequestAnswered, RequestRefused, RequestSeen

from .base import Judge, Line

_COMMITTED: Final = "read_committed"

_Key = tuple[str, str]
"""Group and client."""
_Place = tuple[str, int]


class UnstableOffsetsAreWithheld(Judge):
    """Judges that OffsetFetch withholds offsets of open transactions from read_committed
    consumers."""

    name = "unstable_offsets_withheld"
    promise = (
        "an OffsetFetch of a consumer with isolation.level=read_committed is refused with UNSTABLE_OFFSET_COMMIT while an open "
        "transaction contains an offset of one of its partitions (OF-4, KIP-447)"
    )
    needs = frozenset({"group", "member", "wire"})
    unasked = True

    def __init__(self) -> None:
        super().__init__()
        self._isolation: dict[_Key, str] = {}
        self._new: dict[_Key, list[set[_Place]]] = {}
        """Assignments of each client since its last OffsetFetch was answered, by callback."""
        self._asked: dict[int, tuple[_Key, frozenset[_Place]]] = {}
        self._pending: dict[str, dict[int, set[_Place]]] = {}
        self._suspects: dict[_Key, list[tuple[Line, _Place]]] = {}
        """Responses to clients whose isolation level is not known yet."""

    @on(RequestSeen)
    def _seen(self, line: Line, event: RequestSeen) -> None:
        whose = line.group or "", event.client
        new = self._new.get(whose)
        if event.api == "offset_fetch" and new:
            alone = frozenset(new[0]) if len(new) == 1 else frozenset[_Place]()
            self._asked[line.seq] = whose, alone

    @on(RequestAnswered, RequestRefused)
    def _ended(self, line: Line, event: RequestAnswered | RequestRefused) -> None:
        if line.cause is None or line.cause not in self._asked:
            return
        whose, places = self._asked.pop(line.cause)
        if isinstance(event, RequestAnswered):
            self._new.pop(whose, None)
            self._answered(line, whose, places)

    def _answered(self, line: Line, whose: _Key, places: frozenset[_Place]) -> None:
        pending = set[_Place]().union(*self._pending.get(whose[0], {}).values())
        unstable = min(places & pending, default=None)
        if unstable is None:
            return
        if self._isolation.get(whose) == _COMMITTED:
            self._accuse(line, whose, unstable)
        elif whose not in self._isolation:
            self._suspects.setdefault(whose, []).append((line, unstable))

    def _accuse(self, line: Line, whose: _Key, place: _Place) -> None:
        self.blame(
            line,
            f"{whose[1]} of group {whose[0]}, which reads committed records, receives the offset of {place[0]}-{place[1]} "
            "while an open transaction may change it",
        )

    @on(RecordsPolled)
    def _polled(self, line: Line, event: RecordsPolled) -> None:
        whose = line.group or "", event.client
        if whose not in self._isolation:
            self._isolation[whose] = event.isolation
            if event.isolation == _COMMITTED:
                for answer, place in self._suspects.pop(whose, ()):
                    self._accuse(answer, whose, place)

    @on(PartitionsAssigned)
    def _assigned(self, line: Line, event: PartitionsAssigned) -> None:
        if event.partitions:
            whose = line.group or "", event.client
            self._new.setdefault(whose, []).append(set(event.partitions))

    @on(PartitionsRevoked, PartitionsLost, MemberStarted)
    def _owns_less(
        self, line: Line, event: PartitionsRevoked | PartitionsLost | MemberStarted
    ) -> None:
        self._new.pop((line.group or "", event.client), None)

    def _of(self, line: Line) -> dict[int, set[_Place]]:
        """Return the pending offsets of a group, by producer id."""
        return self._pending.setdefault(line.group or "", {})

    @on(OffsetsPending)
    def _is_pending(self, line: Line, event: OffsetsPending) -> None:
        self._of(line).setdefault(event.producer_id, set()).update(
            (row.topic, row.partition) for row in event.offsets
        )

    @on(PendingOffsetsEnded)
    def _are_decided(self, line: Line, event: PendingOffsetsEnded) -> None:
        self._of(line).pop(event.producer_id, None)

    @on(OffsetsRemoved)
    def _removed(self, line: Line, event: OffsetsRemoved) -> None:
        for places in self._of(line).values():
            places.difference_update(event.partitions)

    @on(GroupDeleted, GroupUnloaded, GroupLoaded)
    def _begins_anew(self, line: Line, _: GroupDeleted | GroupUnloaded | GroupLoaded) -> None:
        self._of(line).clear()
