"""Tables about rebalances and generations of classic groups, from the timeline of `coordinator
explain`.

The timeline has phases, causes, shares and what each rebalance cost. Counted here: members that
joined and left during the rebalance, and partitions that changed owners.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from coordinator.events.groups import (
    GenerationStarted,
    GenerationStored,
    MemberJoined,
    MemberRejoined,
    MemberRemoved,
    MemberReplaced,
    Removal,
)
from coordinator.events.line import Line
from coordinator.history.explain.cause_sentences import why
from coordinator.history.world.blobs import Partitions, assignment
from coordinator.history.world.groups.spans import Generation
from coordinator.history.world.lost_time.rebalances import Cost
from coordinator.history.world.views import Change, Rebalance
from coordinator.history.world.world import World

from ...named import api_of, client_of
from .observer import Subject

_REMOVED_BY_TIME = frozenset(
    {
        Removal.SESSION_EXPIRED,
        Removal.DID_NOT_REJOIN,
        Removal.DID_NOT_SYNC,
        Removal.NEVER_JOINED,
    }
)


class Rebalances(Subject):
    """Tables `rebalances` and `generations`."""

    tables = ("rebalances", "generations")

    def subscribe(self, world: World) -> None:
        """See Observer."""
        self._timeline, self._spans = world.timeline, world.spans
        world.subscribe(Generation, self._generation_over)

    def finish(self) -> None:
        """Emit all rebalances, group by group: what they cost may grow until the end."""
        for name, view in self._timeline.groups.items():
            costs = self._timeline.lost_time.costs(view, self._timeline.end_ms)
            for number, rebalance in enumerate(view.rebalances, 1):
                self.emit("rebalances", self._row(name, number, rebalance, costs[rebalance.seq]))

    def _generation_over(self, one: Generation) -> None:
        started: GenerationStarted = one.started.event
        stored: GenerationStored | None = None if one.stored is None else one.stored.event
        given: set[tuple[str, int]] = set()
        if stored is not None and stored.protocol_type == "consumer":
            for row in stored.members:
                given.update(
                    (topic, number)
                    for topic, numbers in (assignment(row.assignment) or {}).items()
                    for number in numbers
                )
        self.emit(
            "generations",
            (
                one.group,
                started.generation,
                one.started.seq,
                one.rebalance,
                one.started.at_ms,
                None if one.stored is None else one.stored.seq,
                None if one.stored is None else one.stored.at_ms,
                started.leader,
                started.protocol_name,
                list(started.members),
                len({topic for topic, _ in given}),
                len(given),
            ),
        )

    def _row(self, group: str, number: int, one: Rebalance, cost: Cost) -> tuple[Any, ...]:
        joined, stored = one.generation_ms, one.stored_ms
        happened = Counter(
            _kind(change) for change in [one.trigger, *one.changes] for _ in change.members
        )
        trigger = one.trigger
        return (
            group,
            one.seq,
            number,
            one.generation,
            one.outcome,
            trigger.line.name,
            _reason(trigger),
            list(trigger.members),
            one.started_ms,
            None if joined is None else joined - one.started_ms,
            None if joined is None or stored is None else stored - joined,
            None if stored is None else stored - one.started_ms,
            stored,
            one.ended_ms,
            one.delay_ms,
            one.leader,
            one.assignor,
            len(one.members),
            happened["joined"],
            happened["rejoined"],
            happened["left"],
            happened["expired"],
            happened["fenced"],
            sum(_size(share.added) for share in one.shares),
            sum(_size(share.revoked) for share in one.shares),
            *self._spans.moved(one.seq),
            sum(_size(gone.had) for gone in one.gone),
            *cost.lost,
            cost.longest_ms,
            [*(_told(line) for line in one.causes), *_fault(trigger)],
            why(one),
        )


def _kind(change: Change) -> str:
    match change.line.event:
        case MemberJoined():
            return "joined"
        case MemberRejoined():
            return "rejoined"
        case MemberReplaced():
            return "fenced"
        case MemberRemoved(_, Removal.LEFT):
            return "left"
        case MemberRemoved(_, reason) if reason in _REMOVED_BY_TIME:
            return "expired"
        case _:
            return "other"


def _reason(trigger: Change) -> str | None:
    event = trigger.line.event
    return event.reason if isinstance(event, MemberRemoved) else None


def _size(partitions: Partitions) -> int:
    return sum(map(len, partitions.values()))


def _fault(trigger: Change) -> Iterator[str]:
    """Yield the fault, or the end of the process, of a member that was removed: the first cause
    of all."""
    trouble = trigger.note.get("trouble")
    if trouble is not None:
        yield f"{trouble.seq} {trouble.kind.__name__} {trouble.client}"


def _told(line: Line) -> str:
    words = (api_of(line), line.member or client_of(line) or line.topic)
    return " ".join([str(line.seq), line.name, *(word for word in words if word)])
