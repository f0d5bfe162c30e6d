"""Sentences about obstacles of groups and clients. `coordinator/history/world/obstacles.py`
finds them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from coordinator.base.counting import how_many
from coordinator.events.faults import RequestFaultBegan
from coordinator.events.line import Line
from coordinator.verbs import ROWS

from ..world.obstacles import (
    EpochAwaited,
    JoinsAwaited,
    NoCoordinator,
    Obstacle,
    SyncAwaited,
    TargetAwaited,
    Undone,
    obstacles,
    of_group,
)
from ..world.outside_groups import Tried
from ..world.timeline import Timeline
from ..world.views import GroupView, Note
from . import notes, outside
from .formatting import instant, listed, partitions, printable
from .verb_sentences import deed

_MOST_NAMED = 5
_KINDS: Final[Mapping[type, str]] = {
    Undone: "verb",
    NoCoordinator: "no-coordinator",
    JoinsAwaited: "joins-awaited",
    SyncAwaited: "sync-awaited",
    TargetAwaited: "target-awaited",
    EpochAwaited: "epoch-awaited",
    Note: "refused",
    Tried: "no-group-reached",
}


def as_text(timeline: Timeline, groups: Iterable[GroupView]) -> Iterator[str]:
    """Yield the end of `coordinator explain`: obstacles at the end of the log, except refusals,
    which stand before."""
    found: list[Obstacle] = [Undone(line) for line in timeline.standing_deeds()]
    found += [each for view in groups for each in of_group(view, timeline.end_ms)]
    if found:
        yield ""
        yield f"in the way at the end, at {instant(timeline.end_ms)}:"
        yield from (f"  {sentence(each)}" for each in found)


def as_plain(timeline: Timeline, group: str | None = None) -> list[dict[str, object]]:
    """Return the obstacles as plain values for JSON."""
    return [
        {"kind": _KINDS[type(each)], "group": _group(each), "text": sentence(each)}
        for each in obstacles(timeline, group)
    ]


def _group(obstacle: Obstacle) -> str | None:
    match obstacle:
        case Undone(line) | Tried(line):
            return line.group
        case Note():
            return obstacle.line.group
        case _:
            return obstacle.group


def sentence(obstacle: Obstacle) -> str:
    """Return an obstacle as one or two sentences, with the instant since which it exists."""
    match obstacle:
        case Undone(line):
            return _undone(line)
        case NoCoordinator(group, since_ms, broker):
            who = "its coordinator" if broker is None else f"broker {broker}"
            return (
                f"Group {printable(group)} has had no coordinator since {instant(since_ms)}: "
                f"{who} unloaded it, and no broker has loaded it since."
            )
        case JoinsAwaited():
            return _joins(obstacle)
        case SyncAwaited(group, since_ms, generation, leader):
            return (
                f"Group {printable(group)} has been CompletingRebalance since {instant(since_ms)}: "
                f"its leader {leader} has not sent the SyncGroup with the assignment of generation {generation}."
            )
        case TargetAwaited(group, epoch):
            return f"Group {printable(group)} is Assigning: there is no target assignment for its epoch {epoch} yet."
        case EpochAwaited():
            return _epoch(obstacle)
        case Tried():
            return outside.told(obstacle)
        case _:
            return f"From {instant(obstacle.at_ms)} on: {notes.told(obstacle)}"


def _undone(line: Line) -> str:
    event = line.event
    if isinstance(event, RequestFaultBegan):
        return f"A fault of requests has been in force since {instant(line.at_ms)}: {printable(event.fault)}."
    end = ROWS[line.name].undone_by
    never = "it has not been changed since" if end == line.name else f"no {end} has come since"
    return f"At {instant(line.at_ms)} {deed(line)}, and {never}."


def _joins(awaited: JoinsAwaited) -> str:
    known = awaited.joined + len(awaited.missing)
    have = "has" if awaited.joined == 1 or known == 1 else "have"
    head = (
        f"Group {printable(awaited.group)} has been PreparingRebalance since {instant(awaited.since_ms)}: "
        f"{awaited.joined} of {how_many(known, 'member')} {have} joined"
    )
    late = [
        f"{name} has not (its last request in the log is from {instant(seen_ms)})"
        for name, seen_ms in list(awaited.missing.items())[:_MOST_NAMED]
    ]
    return f"{head}; {'; '.join([*late, *_more(len(awaited.missing))])}." if late else f"{head}."


def _epoch(awaited: EpochAwaited) -> str:
    late = [
        f"{name} is at member epoch {epoch}"
        + (f" and has yet to revoke {partitions(revoking)}" if revoking else "")
        for name, (epoch, revoking) in list(awaited.late.items())[:_MOST_NAMED]
    ]
    return (
        f"Group {printable(awaited.group)} is Reconciling towards epoch {awaited.epoch}: "
        f"{listed([*late, *_more(len(awaited.late))])}."
    )


def _more(members: int) -> list[str]:
    more = members - _MOST_NAMED
    return [f"{more} more likewise"] if more > 0 else []
