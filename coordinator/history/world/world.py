"""The world that a log describes: one fold of its lines for every reader.

    world = World()
    world.subscribe(Membership, print)
    for read in lines:
        for line in world.see(read):  # the lines that count
            ...
    world.finish(end_ms)

`see` decides first whether a line counts (`accepted_lines`), then shows it to the parts of the world.
A part is made when somebody asks for it: parts with a state to look at are attributes (`timeline`,
`consumer_groups`, `classic_groups`, `moves`, `spans`), and what changes is subscribed to by its class:
`Membership`, `Owned`, `WithoutOwner`, `Generation`, `Settling`, `Completed`, `Delivery`. A change that
lasts is reported when it is over or, at the end of the log, with what lasts still.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeVar

from coordinator.events.handlers import Reader
from coordinator.events.line import Line
from coordinator.events.vocabulary import Unknown

from .accepted_lines import AcceptedLines
from .groups.classic_groups import ClassicGroups
from .groups.consumer_groups import ConsumerGroups
from .groups.memberships import Membership, Memberships
from .groups.settlings import Settling, Settlings
from .groups.spans import Generation, Generations, Spans
from .ownership.gaps import Gaps, WithoutOwner
from .ownership.moves import Moves
from .ownership.owners import Believed, Given, Owned, Told
from .shares.deliveries import Deliveries, Delivery
from .timeline import Timeline

See = Callable[[Line], object]
Hear = Callable[[Any], object]
P = TypeVar("P", bound="Part")
C = TypeVar("C")


class Part(Protocol):
    """A part of the world: it sees the lines of some streams."""

    def see(self, line: Line, /) -> object:
        """Fold a line that counts."""


class _ReportsAtTheEnd(Part, Protocol):
    def finish(self) -> None:
        """Report what lasts at the end of the log."""


class Completed(NamedTuple):
    """A classic group's rebalance was completed: it went from CompletingRebalance to Stable."""

    line: Line


class World:
    """The groups, members, owners and leaders of one run.

    `numbered`: count the places where lines are missing, by their numbers. `timeline`: the one to
    fill, such as one that makes sentences.
    """

    def __init__(self, *, numbered: bool = False, timeline: Timeline | None = None) -> None:
        self._accepted = AcceptedLines(numbered=numbered)
        self._accepts = self._accepted.see
        self._timeline = timeline
        self._parts: dict[str, list[Part]] = {}
        """The parts that see the lines of each stream, in the order in which they see them."""
        self._seeing: dict[type[Any], list[See]] = {}
        """Of these parts, those that look at each class of events, as far as lines have come."""
        self._hearing: dict[type[Any], list[Hear]] = {}
        self._finish: list[Callable[[int], None]] = []

    # -- lines in

    def see(self, read: Line) -> Sequence[Line]:
        """Fold the next line of the log, if it counts. Return the lines that count now: this one, a
        commit that was held back and this one, or none."""
        lines = self._accepts(read)
        for line in lines:
            seeing = self._seeing.get(line.kind)
            if seeing is None:
                seeing = self._looking_at(line)
            for see in seeing:
                see(line)
        if not lines and self._timeline is not None:
            self._timeline.pass_over(read)
        return lines

    def finish(self, end_ms: int) -> None:
        """Report what lasts at the end of the log, at this instant."""
        for finish in self._finish:
            finish(end_ms)

    def _looking_at(self, line: Line) -> list[See]:
        """Return what sees lines of this kind: the timeline, then parts of the line's stream."""
        kind, timeline = line.kind, self._timeline
        found: list[See] = [] if timeline is None else [timeline.fold]
        if kind is Unknown:  # of any stream
            return found
        found += [part.see for part in self._parts.get(line.stream, ()) if _looks_at(part, kind)]
        self._seeing[kind] = found
        return found

    # -- changes

    def subscribe(self, kind: type[C], hear: Callable[[C], object]) -> None:
        """Have `hear` called with each change of this class, in the order of the log."""
        hearing = self._hearing.get(kind)
        if hearing is None:
            hearing = self._hearing[kind] = []
            self._begin(kind, hearing)
        hearing.append(hear)

    def _begin(self, kind: type[Any], hearing: list[Hear]) -> None:
        """Make the part that finds the changes of a class."""

        def changed(change: object) -> None:
            for hear in hearing:
                hear(change)

        if kind is Membership:
            self._add(Memberships(changed), "group")
        elif kind is Owned:
            self._add(Given(changed), "group")
            self._add(Told(changed), "member")
            self._add(Believed(changed), "member")
        elif kind is WithoutOwner:
            gaps = Gaps(changed)
            self._see(gaps, "member")
            self._finish.append(gaps.finish)
        elif kind is Generation:
            self._add(Generations(changed, self.spans), "group")
        elif kind is Settling:
            self._add(Settlings(changed, self.consumer_groups, self.moves), "group")
        elif kind is Delivery:
            self._add(Deliveries(changed), "share")
        elif kind is Completed:
            self._see(_Completions(self.classic_groups, changed), "group")
        else:
            raise TypeError(f"{kind.__name__} is no change of the world")

    # -- parts with a state

    @property
    def gaps(self) -> int:
        """Places where lines are missing; 0 if lines are not numbered."""
        return self._accepted.gaps

    @property
    def missing(self) -> int:
        """Lines that are missing in all gaps together."""
        return self._accepted.missing

    @property
    def timeline(self) -> Timeline:
        """Each group's story: rebalances with causes, phases, shares and waits, and notes."""
        if self._timeline is None:
            self._timeline = Timeline()
            self._seeing.clear()
        return self._timeline

    @cached_property
    def classic_groups(self) -> ClassicGroups:
        """State, generation and leader of classic groups."""
        return self._first(ClassicGroups(), "group")

    @cached_property
    def consumer_groups(self) -> ConsumerGroups:
        """Members, epochs and targets of KIP-848 groups."""
        return self._first(ConsumerGroups(), "group")

    @cached_property
    def moves(self) -> Moves:
        """The moves of partitions: `moves.last` has those of the latest line of a group."""
        return self._first(Moves(), "group")

    @cached_property
    def spans(self) -> Spans:
        """The rebalances of classic groups: the length of each, and the partitions that moved."""
        spans = Spans(self.moves)
        self._see(spans, "group")
        return spans

    def _see(self, part: Part, stream: str) -> None:
        self._parts.setdefault(stream, []).append(part)
        self._seeing.clear()

    def _first(self, part: P, stream: str) -> P:
        """Let a part on which others are built see each line before them."""
        self._parts.setdefault(stream, []).insert(0, part)
        self._seeing.clear()
        return part

    def _add(self, part: _ReportsAtTheEnd, stream: str) -> None:
        self._see(part, stream)
        self._finish.append(lambda _: part.finish())


def _looks_at(part: Part, kind: type[Any]) -> bool:
    """Return False if nothing would follow from showing lines of this kind to a part."""
    return type(part).see is not Reader.see or kind in type(part).handlers  # type: ignore[attr-defined]


class _Completions:
    """Reports the lines with which classic groups complete a rebalance."""

    def __init__(self, groups: ClassicGroups, changed: Callable[[Completed], object]) -> None:
        self._groups = groups
        self._changed = changed

    def see(self, line: Line) -> None:
        if self._groups.completed:
            self._changed(Completed(line))
