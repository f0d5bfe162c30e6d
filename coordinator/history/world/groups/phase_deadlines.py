"""Deadlines of join and sync phases of classic groups: the deadline, the line that set it, and
until when it was in force."""

from __future__ import annotations

from dataclasses import dataclass

from coordinator.events.groups import (
    DelayExtended,
    GenerationStarted,
    GenerationStored,
    GroupDeleted,
    GroupEmptied,
    GroupUnloaded,
    JoinPhaseExtended,
    RebalanceStarted,
)
from coordinator.events.handlers import Reader, on
from coordinator.events.line import Line


@dataclass(slots=True)
class PhaseDeadline:
    """One deadline. `kind`: join or sync. `at_ms` and `seq`: the line that set it. `due_ms`: the
    deadline. `until_ms`: the instant when it ceased to be in force, or None."""

    kind: str
    at_ms: int
    due_ms: int
    until_ms: int | None
    seq: int


class PhaseDeadlines(Reader):
    """The deadlines of one group, in the order in which they were set: call `see` for each of
    its events."""

    def __init__(self) -> None:
        self.all: list[PhaseDeadline] = []
        self._open: dict[str, PhaseDeadline] = {}

    @on(RebalanceStarted, DelayExtended, JoinPhaseExtended)
    def _join_phase(
        self, line: Line, event: RebalanceStarted | DelayExtended | JoinPhaseExtended
    ) -> None:
        self._set("join", line, event.deadline_ms)

    @on(GenerationStarted)
    def _sync_phase(self, line: Line, event: GenerationStarted) -> None:
        self._set("sync", line, event.deadline_ms)

    @on(GenerationStored, GroupEmptied, GroupUnloaded, GroupDeleted)
    def _no_phase(self, line: Line, _: object) -> None:
        self._ends(line)

    def _ends(self, line: Line) -> None:
        for one in self._open.values():
            one.until_ms = line.at_ms
        self._open.clear()

    def _set(self, kind: str, line: Line, due_ms: int) -> None:
        self._ends(line)
        one = PhaseDeadline(kind, line.at_ms, due_ms, None, line.seq)
        self._open[kind] = one
        self.all.append(one)
