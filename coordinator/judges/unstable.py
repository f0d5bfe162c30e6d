"""Offsets of open transactions: who reads committed records is told none until they are decided.

What an OffsetFetch asks for does not stand in the log: it is what the client was assigned since its
last one was answered.
"""

from __future__ import annotations

from typing import Final

from .base import Judge, Line

_COMMITTED: Final = "read_committed"
_OWNS: Final = frozenset(
    {"PartitionsAssigned", "PartitionsRevoked", "PartitionsLost", "MemberStarted"}
)

_Key = tuple[str, str]
"""Group and client."""
_Place = tuple[str, int]


class UnstableOffsetsAreWithheld(Judge):
    """No committed offset is told to who reads committed records while a transaction may change
    it."""

    name = "unstable_offsets_withheld"
    promise = (
        "the OffsetFetch of a consumer with isolation.level=read_committed is refused with UNSTABLE_OFFSET_COMMIT while an open "
        "transaction has an offset of one of its partitions (OF-4, KIP-447)"
    )
    needs = frozenset({"group", "member", "wire"})
    unasked = True
    looks_at = _OWNS | {
        "RecordsPolled",
        "RequestSeen",
        "RequestAnswered",
        "RequestRefused",
        "OffsetsPending",
        "PendingOffsetsEnded",
        "OffsetsRemoved",
        "GroupDeleted",
        "GroupUnloaded",
        "GroupLoaded",
    }

    def __init__(self) -> None:
        super().__init__()
        self._isolation: dict[_Key, str] = {}
        self._new: dict[_Key, list[set[_Place]]] = {}
        """Assignments of each client since its last fetch was answered, by callback."""
        self._asked: dict[int, tuple[_Key, frozenset[_Place]]] = {}
        self._pending: dict[str, dict[int, set[_Place]]] = {}
        self._suspects: dict[_Key, list[tuple[Line, _Place]]] = {}
        """Answers to clients of which it is not known yet what they read."""

    def see(self, line: Line) -> None:
        stream, kind = line["stream"], line["type"]
        if stream == "wire":
            self._of_wire(line, kind)
        elif stream == "group":
            self._of_group(line, kind, line["group"])
        elif stream == "member" and "group" in line:
            self._of_member(line, kind, (line["group"], line.get("client", "")))

    def _of_wire(self, line: Line, kind: str) -> None:
        if kind == "RequestSeen":
            whose = line.get("group", ""), line.get("client", "")
            new = self._new.get(whose)
            if line.get("api") == "offset_fetch" and new:
                alone = frozenset(new[0]) if len(new) == 1 else frozenset[_Place]()
                self._asked[line["seq"]] = whose, alone
        elif line["cause"] in self._asked:
            whose, places = self._asked.pop(line["cause"])
            if kind == "RequestAnswered":
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
            f"{whose[1]} of group {whose[0]}, which reads committed records, is told the offset of {place[0]}-{place[1]} "
            "while an open transaction may change it",
        )

    def _of_member(self, line: Line, kind: str, whose: _Key) -> None:
        if kind == "RecordsPolled":
            if whose not in self._isolation:
                self._isolation[whose] = line["isolation"]
                if line["isolation"] == _COMMITTED:
                    for answer, place in self._suspects.pop(whose, ()):
                        self._accuse(answer, whose, place)
        elif kind == "PartitionsAssigned":
            named = {(row["topic"], row["partition"]) for row in line["partitions"]}
            if named:
                self._new.setdefault(whose, []).append(named)
        elif kind in _OWNS:
            self._new.pop(whose, None)

    def _of_group(self, line: Line, kind: str, group: str) -> None:
        pending = self._pending.setdefault(group, {})
        if kind == "OffsetsPending":
            pending.setdefault(line["producer_id"], set()).update(
                (row["topic"], row["partition"]) for row in line["offsets"]
            )
        elif kind == "PendingOffsetsEnded":
            pending.pop(line["producer_id"], None)
        elif kind == "OffsetsRemoved":
            for places in pending.values():
                places.difference_update(
                    (row["topic"], row["partition"]) for row in line["partitions"]
                )
        else:
            pending.clear()
