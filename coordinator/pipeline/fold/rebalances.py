"""Rebalances and generations of classic groups, as the timeline of `coordinator explain` tells
them.

The timeline knows phases, causes, shares and the time without an owner. What it does not count
stands here: how many members came and went on the way, and how many partitions changed hands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ...explain.sentences import why
from ...history.blobs import Partitions, assignment
from ...history.reader import History
from ...history.spans import Generation, Generations
from ...history.views import Change, Rebalance
from .observer import Emit, Line, Subject

_REMOVED_BY_TIME = frozenset(
    {
        "session expired",
        "did not rejoin in time",
        "did not sync in time",
        "first join never completed",
    }
)


class Rebalances(Subject):
    """Tables `rebalances` and `generations`."""

    streams = frozenset({"group"})
    tables = ("rebalances", "generations")

    def __init__(self, emit: Emit, history: History) -> None:
        super().__init__(emit, history)
        self._timeline = history.timeline()
        self._spans = history.spans()
        self._generations = Generations(self._generation_over, self._spans)

    def see(self, line: Line) -> None:
        """A line of stream `group`, after the timeline has seen it."""
        self._generations.see(line)

    def finish(self) -> None:
        """All rebalances, group by group: their time without an owner may grow until the end."""
        self._generations.finish()
        for name, view in self._timeline.groups.items():
            for number, rebalance in enumerate(view.rebalances, 1):
                self.emit("rebalances", self._row(name, number, rebalance))

    def _generation_over(self, group: str, one: Generation) -> None:
        started, stored = one.started, one.stored
        given: set[tuple[str, int]] = set()
        for row in (
            stored["members"]
            if stored is not None and stored["protocol_type"] == "consumer"
            else ()
        ):
            given.update(
                (topic, number)
                for topic, numbers in (assignment(row["assignment"]) or {}).items()
                for number in numbers
            )
        self.emit(
            "generations",
            (
                group,
                started["generation"],
                started["seq"],
                one.rebalance,
                started["at_ms"],
                None if stored is None else stored["seq"],
                None if stored is None else stored["at_ms"],
                started["leader"],
                started["protocol_name"],
                list(started["members"]),
                len({topic for topic, _ in given}),
                len(given),
            ),
        )

    def _row(self, group: str, number: int, one: Rebalance) -> tuple[Any, ...]:
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
            trigger.kind,
            trigger.line.get("reason") if trigger.kind == "MemberRemoved" else None,
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
            one.unowned.partition_ms,
            one.unowned.longest_ms,
            [*(_told(line) for line in one.causes), *_fault(trigger)],
            why(one),
        )


def _kind(change: Change) -> str:
    match change.kind:
        case "MemberJoined":
            return "joined"
        case "MemberRejoined":
            return "rejoined"
        case "MemberReplaced":
            return "fenced"
        case "MemberRemoved" if change.line.get("reason") == "left":
            return "left"
        case "MemberRemoved" if change.line.get("reason") in _REMOVED_BY_TIME:
            return "expired"
    return "other"


def _size(partitions: Partitions) -> int:
    return sum(map(len, partitions.values()))


def _fault(trigger: Change) -> Iterator[str]:
    """The fault of a member that was removed, or its fate: the first cause of
    all."""
    trouble = trigger.note.get("trouble")
    if trouble is not None:
        yield f"{trouble.seq} {trouble.kind} {trouble.client}"


def _told(line: Line) -> str:
    words = (line.get("api"), line.get("member") or line.get("client") or line.get("topic"))
    return " ".join([str(line["seq"]), line["type"], *(word for word in words if word)])
