"""Classic rebalances as spans of time, and generations, for readers that need no causes, members or
words; `timeline` has those.

A rebalance begins with RebalanceStarted, in a consumer group (KIP-848) with each GroupEpochBumped
(`settlings`). It is completed when a classic group goes from CompletingRebalance to Stable, as
Kafka's `group-completed-rebalance-count` counts; `classic_groups` reports that.

Partitions that move with a generation belong to the rebalance that began last in the group. So
do those that move with the GenerationStored of a static member that was replaced.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from coordinator.events.groups import (
    GenerationStarted,
    GenerationStored,
    GroupDeleted,
    GroupEmptied,
    GroupUnloaded,
    RebalanceStarted,
)
from coordinator.events.groups.consumer import ConsumerGroupUpgraded, GroupEpochBumped
from coordinator.events.handlers import Reader, on
from coordinator.events.line import Line

from ..ownership.moves import NOTHING, Moved, Moves

BEGUN: Final = frozenset({RebalanceStarted, GroupEpochBumped})
"""Classes of the events with which rebalances begin."""


class Span:
    """A rebalance, from its start until its generation was stored; None: that never happened."""

    __slots__ = ("_over", "moved", "seq", "started_ms", "stored_ms")

    def __init__(self, line: Line) -> None:
        self.seq = line.seq
        self.started_ms = line.at_ms
        self.stored_ms: int | None = None
        self.moved = NOTHING
        self._over = False

    def stored(self, at_ms: int) -> None:
        """Note that a generation was stored: the first one ends the rebalance."""
        if not self._over:
            self.stored_ms, self._over = at_ms, True

    def called_off(self) -> None:
        """End the rebalance without completion, because its group is gone."""
        self._over = True


class Spans(Reader):
    """The rebalances of all groups, by the number of the line with which each began: call `see`
    for lines of stream `group`. `moves` must have seen each line before."""

    def __init__(self, moves: Moves) -> None:
        self._moves = moves
        self.all: dict[int, Span] = {}
        self._last: dict[str, Span] = {}

    @on(RebalanceStarted)
    def _started(self, line: Line, _: RebalanceStarted) -> None:
        self._last[line.group or ""] = self.all[line.seq] = Span(line)

    @on(GenerationStored)
    def _stored(self, line: Line, _: GenerationStored) -> None:
        span = self._last.get(line.group or "")
        if span is not None:
            span.moved = span.moved.plus(self._moves.last)
            span.stored(line.at_ms)

    @on(GroupDeleted, GroupUnloaded)
    def _over(self, line: Line, _: GroupDeleted | GroupUnloaded) -> None:
        span = self._last.get(line.group or "")
        if span is not None:
            span.called_off()

    def moved(self, seq: int) -> Moved:
        """Return the moves with the rebalance that began with this line."""
        span = self.all.get(seq)
        return NOTHING if span is None else span.moved

    def last(self, group: str) -> Span | None:
        """Return the latest rebalance of a group."""
        return self._last.get(group)


class Generation:
    """One generation of a group: the lines with which it began and was stored, and the line number
    with which its rebalance began."""

    __slots__ = ("group", "rebalance", "started", "stored")

    def __init__(self, group: str, started: Line, rebalance: int | None) -> None:
        self.group = group
        self.started = started
        self.stored: Line | None = None
        self.rebalance = rebalance


class Generations(Reader):
    """The generations of all classic groups: call `see` for lines of the stream `group`; `spans`
    must have seen each line before. `ended` is called with each generation when it is over and,
    at the end of the log, with the others."""

    def __init__(self, ended: Callable[[Generation], object], spans: Spans) -> None:
        self._ended = ended
        self._spans = spans
        self._going: dict[str, Generation] = {}

    @on(GenerationStarted)
    def _started(self, line: Line, _: GenerationStarted) -> None:
        group = line.group or ""
        self._end(group)
        span = self._spans.last(group)
        self._going[group] = Generation(group, line, None if span is None else span.seq)

    @on(GenerationStored)
    def _stored(self, line: Line, _: GenerationStored) -> None:
        going = self._going.get(line.group or "")
        if going is not None and going.stored is None:
            going.stored = line

    @on(GroupEmptied, GroupDeleted, ConsumerGroupUpgraded)
    def _over(self, line: Line, _: object) -> None:
        self._end(line.group or "")

    def finish(self) -> None:
        """Report the last generation of each group."""
        for group in list(self._going):
            self._end(group)

    def _end(self, group: str) -> None:
        going = self._going.pop(group, None)
        if going is not None:
            self._ended(going)
