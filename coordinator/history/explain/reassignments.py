"""Reassignments of partitions in an event log (KIP-455): each from its start to its end, its
progress, and what it waits for.

Reads the stream `cluster` alone; it must not know how a cluster works. The words are the
controller's: AR are all replicas, OAR the original ones, RAR the target. A replica that is added
is a NewReplica until it is in sync, then an OnlineReplica. One that is removed becomes an
OfflineReplica, then a NonExistentReplica.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from coordinator.events.cluster import (
    BrokerFenced,
    BrokerUnfenced,
    PartitionChange,
    PartitionChanged,
    PartitionsAdded,
    ReassignmentProgressed,
    ReassignmentStep,
    TopicCreated,
    TopicDeleted,
)
from coordinator.events.handlers import Reader, on
from coordinator.events.line import Line

from .formatting import duration, instant, printable

Outcome = Literal["in progress", "completed", "cancelled", "topic deleted"]


@dataclass(slots=True)
class Step:
    """One step of a reassignment, as text."""

    at_ms: int
    seq: int
    text: str


@dataclass(slots=True)
class Reassignment:
    """One reassignment of a partition. `original` (OAR) and `target` (RAR) are broker ids,
    preferred leader first."""

    topic: str
    partition: int
    seq: int
    began_ms: int
    original: list[int]
    target: list[int]
    adding: list[int]
    removing: list[int]
    leader: int
    isr: list[int]
    outcome: Outcome = "in progress"
    ended_ms: int | None = None
    behind: dict[int, tuple[int, int]] = field(default_factory=dict)
    """For each broker that is added: its log end offset, and the number of records that it
    lacks."""
    steps: list[Step] = field(default_factory=list)

    @property
    def missing(self) -> list[int]:
        """The targets that are not in sync."""
        return [broker for broker in self.target if broker not in self.isr]


class Reassignments(Reader):
    """All reassignments of a log: call `see` for each line in order."""

    def __init__(self) -> None:
        self.all: list[Reassignment] = []
        self._running: dict[tuple[str, int], Reassignment] = {}
        self._fenced: dict[int, str] = {}
        self._latest: dict[tuple[str, int], Reassignment] = {}
        self._first_steps: dict[tuple[str, int], Step] = {}
        self._placed: dict[tuple[str, int], list[int]] = {}
        """Replicas of partitions that are not being reassigned, preferred leader first, as far
        as the log tells."""

    def follow(self, lines: Iterable[Line]) -> Iterator[Line]:
        """Yield the lines unchanged, and note each. Raises LogError for a line that lacks a
        field of its type."""
        for line in lines:
            self.see(line)
            yield line

    @on(BrokerFenced)
    def _broker_fenced(self, line: Line, event: BrokerFenced) -> None:
        text = f"broker {event.broker} is fenced: {printable(event.reason)}"
        self._broker(line, event.broker, text)
        self._fenced[event.broker] = event.reason

    @on(BrokerUnfenced)
    def _broker_back(self, line: Line, event: BrokerUnfenced) -> None:
        if self._fenced.pop(event.broker, None) is not None:
            self._broker(line, event.broker, f"broker {event.broker} is back")

    @on(TopicDeleted)
    def _topic_deleted(self, line: Line, event: TopicDeleted) -> None:
        for key in [key for key in self._running if key[0] == event.topic]:
            text = "its topic was deleted, and it with it"
            self._end(self._running.pop(key), line, "topic deleted", text)

    def waits_for(self, one: Reassignment) -> list[str]:
        """Return what a reassignment in progress waits for, as phrases."""
        waits = []
        for broker in one.missing:
            if broker in self._fenced:
                waits.append(
                    f"broker {broker}, which is fenced ({printable(self._fenced[broker])})"
                )
            elif broker in one.behind and one.behind[broker][1]:
                end, lacking = one.behind[broker]
                waits.append(
                    f"broker {broker} to catch up: it has {end} of {end + lacking} records"
                )
            else:
                waits.append(f"broker {broker} to come into sync")
        both = [broker for broker in one.adding if broker in one.removing]
        if both:
            waits.append(
                f"a cancellation: {_text(both)} is both added and removed, so it never ends by itself"
            )
        return waits

    # -- lines

    @on(TopicCreated, PartitionsAdded)
    def _place(self, line: Line, event: TopicCreated | PartitionsAdded) -> None:
        first = event.first if isinstance(event, PartitionsAdded) else 0
        self._placed |= {
            (event.topic, first + index): list(replicas)
            for index, replicas in enumerate(event.replicas)
        }

    @on(PartitionChanged)
    def _partition(self, line: Line, event: PartitionChanged) -> None:
        key = event.topic, event.partition
        running = self._running.get(key)
        if event.what is PartitionChange.REASSIGNMENT_STARTED:
            self._start(line, event, running)
            return
        if not event.adding and not event.removing:
            self._placed[key] = event.replicas
        if running is None:
            return
        if event.what is PartitionChange.REASSIGNMENT_COMPLETED:
            self._moves(running, line, event)
            gone = (
                f"; {_text(running.removing)} is gone (OfflineReplica, NonExistentReplica)"
                if running.removing
                else ""
            )
            text = f"completed: AR is {_text(event.replicas)}{gone}"
            self._end(self._running.pop(key), line, "completed", text)
        elif event.what is PartitionChange.REASSIGNMENT_CANCELLED:
            text = f"cancelled: AR is {_text(event.replicas)} again"
            self._end(self._running.pop(key), line, "cancelled", text)
        else:
            self._moves(running, line, event)

    def _start(self, line: Line, event: PartitionChanged, running: Reassignment | None) -> None:
        replicas, adding, removing = event.replicas, event.adding, event.removing
        original = running.original if running is not None else self._original(event)
        target = [broker for broker in replicas if broker not in removing]
        told = (
            f"AR {_text(replicas)}, OAR {_text(original)}, RAR {_text(target)}; adding {_text(adding)} (NewReplica), "
            f"removing {_text(removing)}"
        )
        if running is not None:
            running.target, running.adding, running.removing = target, adding, removing
            running.steps.append(_step(line, f"replaced by another target: {told}"))
            return
        one = self._running[event.topic, event.partition] = Reassignment(
            event.topic,
            event.partition,
            line.seq,
            line.at_ms,
            original,
            target,
            adding,
            removing,
            event.leader,
            event.isr,
            steps=[_step(line, told)],
        )
        first = self._first_steps.pop((one.topic, one.partition), None)
        if first is not None:
            one.steps.insert(0, first)
        self._latest[one.topic, one.partition] = one
        self.all.append(one)

    def _original(self, event: PartitionChanged) -> list[int]:
        """Return the replicas before the reassignment in their own order. If the log began
        later, return them in the order of AR, which begins with the target."""
        there = [broker for broker in event.replicas if broker not in event.adding]
        placed = self._placed.get((event.topic, event.partition), there)
        return placed if set(placed) == set(there) else there

    def _moves(self, one: Reassignment, line: Line, event: PartitionChanged) -> None:
        for broker in event.isr:
            if broker not in one.isr:
                new = " (OnlineReplica)" if broker in one.adding else ""
                one.steps.append(_step(line, f"broker {broker} is in sync{new}"))
        for broker in one.isr:
            if broker not in event.isr and broker in event.replicas:
                text = f"broker {broker} is out of sync: {printable(event.reason)}"
                one.steps.append(_step(line, text))
        if event.leader != one.leader:
            who = "no broker leads" if event.leader < 0 else f"broker {event.leader} leads"
            why = (
                f", for {one.leader} is not among the targets"
                if one.leader not in one.target
                else f": {printable(event.reason)}"
            )
            one.steps.append(_step(line, who + why))
        one.isr, one.leader = event.isr, event.leader

    @on(ReassignmentProgressed)
    def _progress(self, line: Line, event: ReassignmentProgressed) -> None:
        running = self._running.get((event.topic, event.partition))
        if running is None:
            return
        running.behind = {row.broker: (row.log_end, row.behind) for row in event.replicas}
        parts = [
            f"broker {broker} has {end} of {end + lacking} records"
            for broker, (end, lacking) in running.behind.items()
        ]
        running.steps.append(_step(line, ", ".join(parts)))

    @on(ReassignmentStep)
    def _took_step(self, line: Line, event: ReassignmentStep) -> None:
        """Note a step of a ZooKeeper-era controller: its first step is logged before the
        reassignment begins, its last ones after the end."""
        key = event.topic, event.partition
        step = _step(line, f"step {event.step}: {printable(event.text)}")
        if event.step == 1:
            self._first_steps[key] = step
        elif key in self._latest:
            self._latest[key].steps.append(step)

    def _broker(self, line: Line, broker: int, text: str) -> None:
        for one in self._running.values():
            if broker in one.target or broker in one.original:
                one.steps.append(_step(line, text))

    def _end(self, one: Reassignment, line: Line, outcome: Outcome, text: str) -> None:
        one.outcome, one.ended_ms = outcome, line.at_ms
        one.steps.append(_step(line, text))


def _step(line: Line, text: str) -> Step:
    return Step(line.at_ms, line.seq, text)


def as_text(found: Reassignments) -> Iterator[str]:
    """Yield all reassignments as text."""
    for one in found.all:
        took = "" if one.ended_ms is None else f" after {duration(one.ended_ms - one.began_ms)}"
        yield ""
        way = f"from {_text(one.original)} to {_text(one.target)}"
        yield f"reassignment of {printable(one.topic)}-{one.partition} {way}: {one.outcome}{took}"
        for step in one.steps:
            yield f"  {instant(step.at_ms)}  {step.text}"
        if one.outcome == "in progress":
            yield from (f"  it waits for {wait}" for wait in found.waits_for(one))


def as_plain(found: Reassignments) -> list[Mapping[str, Any]]:
    """Return all reassignments as plain values."""
    return [
        {
            "topic": one.topic,
            "partition": one.partition,
            "seq": one.seq,
            "outcome": one.outcome,
            "began_ms": one.began_ms,
            "ended_ms": one.ended_ms,
            "original": one.original,
            "target": one.target,
            "adding": one.adding,
            "removing": one.removing,
            "waits_for": found.waits_for(one) if one.outcome == "in progress" else [],
            "steps": [
                {"at_ms": step.at_ms, "seq": step.seq, "text": step.text} for step in one.steps
            ],
        }
        for one in found.all
    ]


def _text(brokers: Iterable[int]) -> str:
    return ",".join(map(str, brokers)) or "none"
