"""Deadlines of a classic group's phases: until when a join phase or a sync phase may last, since when
that is so, and when it no longer was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..event_log.reader import Line

_JOIN_PHASE: Final = frozenset({"RebalanceStarted", "DelayExtended", "JoinPhaseExtended"})
_NO_PHASE: Final = frozenset({"GenerationStored", "GroupEmptied", "GroupUnloaded", "GroupDeleted"})


@dataclass(slots=True)
class PhaseDeadline:
    """One deadline. `kind`: join or sync, by its phase. `at_ms` and `seq`: the line that set it;
    `due_ms`: the deadline itself; `until_ms`: when it was no longer in force; None: it is."""

    kind: str
    at_ms: int
    due_ms: int
    until_ms: int | None
    seq: int


class PhaseDeadlines:
    """The deadlines of one group, in the order in which they were set."""

    def __init__(self) -> None:
        self.all: list[PhaseDeadline] = []
        self._open: dict[str, PhaseDeadline] = {}

    def see(self, line: Line) -> None:
        """An event of the group."""
        kind = line["type"]
        if kind in _JOIN_PHASE:
            self._ends(line)
            self._set("join", line)
        elif kind == "GenerationStarted":
            self._ends(line)
            self._set("sync", line)
        elif kind in _NO_PHASE:
            self._ends(line)

    def _set(self, kind: str, line: Line) -> None:
        one = PhaseDeadline(kind, line["at_ms"], line["deadline_ms"], None, line["seq"])
        self._open[kind] = one
        self.all.append(one)

    def _ends(self, line: Line) -> None:
        for one in self._open.values():
            one.until_ms = line["at_ms"]
        self._open.clear()
