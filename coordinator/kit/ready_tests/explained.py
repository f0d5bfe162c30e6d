"""Decides whether records that were processed again are explained: the application had fetched and
not committed them when it died, was removed, had a commit refused, or failed by itself.

Any other repetition is charged to the application: it committed too late, or stopped too early.
Records that were committed before they came again are judged by `repeats`. Reads plain lines of
the event log.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from coordinator.base.counting import how_many
from coordinator.events.groups import (
    GenerationStarted,
    GroupLoaded,
    MemberRemoved,
    OffsetsCommitted,
    Removal,
)
from coordinator.events.groups.consumer import ConsumerMemberReconciled, ConsumerMemberRemoved
from coordinator.events.wire import RequestRefused

from .findings import DUPLICATES, CommitSeen, Finding, Line, Processed, TopicPartition
from .holders import Written

_COMMITS = ("offset_commit", "txn_offset_commit")
_NEVER = sys.maxsize


class Break(NamedTuple):
    """An event after which records may be processed again: those that were not `committed` when
    it began, and were written before it ended. `death`: a process died, or was taken for dead."""

    first: int
    end: int
    committed: Mapping[TopicPartition, int]
    death: bool

    def covers(self, place: TopicPartition, offset: int, written: int) -> bool:
        """Return True if a record that was written at this line may be processed again after
        this break."""
        return offset >= self.committed.get(place, 0) and written < self.end


class Broken(NamedTuple):
    """What a test knows of an application's breaks, by lines of the log. `peers`: member ids of
    others. `removed`: members that the test removed. `killed`: when it was killed. `starts`:
    when it was started. `by_itself`: when the test made it fail by itself, from and to. `late`:
    it does not commit when it is about to lose partitions, so that records may come again at
    each rebalance."""

    peers: Collection[str]
    removed: Collection[str]
    killed: Sequence[int]
    starts: Sequence[int]
    by_itself: Sequence[tuple[int, int]]
    late: bool = False


def breaks(lines: Sequence[Line], group: str, known: Broken) -> list[Break]:
    """Return all breaks of an application, in order."""
    mine = [line for line in lines if line.group == group]
    accepted = [
        line.seq
        for line in mine
        if line.kind is OffsetsCommitted and line.member not in known.peers
    ]
    ends = {mark: _next(known.starts, mark) for mark in known.killed} | dict(known.by_itself)
    told = sorted(ends)
    committed: dict[TopicPartition, int] = {}
    found: list[Break] = []
    for line in mine:
        seq, event = line.seq, line.event
        while told and told[0] <= seq:
            mark = told.pop(0)
            found.append(Break(mark, ends[mark], dict(committed), mark in known.killed))
        if isinstance(event, OffsetsCommitted):
            committed |= {(row.topic, row.partition): row.offset for row in event.offsets}
        elif (kind := _kind(line, known)) is not None:
            found.append(Break(seq, _next(accepted, seq), dict(committed), kind))
    found += [Break(mark, ends[mark], dict(committed), mark in known.killed) for mark in told]
    return found


def _next(marks: Sequence[int], after: int) -> int:
    return min((mark for mark in marks if mark > after), default=_NEVER)


def _kind(line: Line, known: Broken) -> bool | None:
    """Return True if a line records a death of the application, False if it records another
    break, None if it records neither."""
    if line.member in known.peers:
        return None
    match line.event:
        case MemberRemoved(member, reason) | ConsumerMemberRemoved(member, reason):
            return True if reason != Removal.LEFT or member in known.removed else None
        case RequestRefused(api) if api in _COMMITS:
            return False
        case GroupLoaded():
            return False
        case GenerationStarted() | ConsumerMemberReconciled() if known.late:
            return False
        case _:
            return None


def unexplained(
    processed: Sequence[Processed],
    commits: Sequence[CommitSeen],
    lines: Sequence[Line],
    found: Sequence[Break],
    written: Sequence[Written],
    *,
    clean: int,
    death: int | None,
    by_itself: Callable[[TopicPartition], bool] = lambda _: False,
) -> list[Finding]:
    """Return a finding if more records were processed again than breaks explain. `clean`: so
    many need no explanation. `death`: each death explains so many, whatever was committed.
    `by_itself`: True if a library may have gone back in a partition by itself."""
    again = {row for row, count in Counter(processed).items() if count > 1}
    if not again:
        return []
    indexes: dict[Processed, list[int]] = {row: [] for row in again}
    for index, row in enumerate(processed):
        if row in again:
            indexes[row].append(index)
    bounds = _bounds(commits, lines)
    counted = [each for each in found if death is None or not each.death]
    left = clean + (0 if death is None else death * sum(each.death for each in found))
    total = allowed = 0
    worst: tuple[int, Processed] = (0, ("", 0, 0))
    for row, at in sorted(indexes.items()):
        place, offset = row[:2], row[2]
        uncommitted = _uncommitted(at, bounds.get(place, ()), offset)
        if not uncommitted or by_itself(place):
            continue
        since = max(
            (each.seq for each in written if each.ends.get(place, _NEVER) <= offset), default=-1
        )
        covered = min(sum(each.covers(place, offset, since) for each in counted), uncommitted)
        total, allowed = total + uncommitted, allowed + covered
        worst = max(worst, (uncommitted - covered, row))
    if total - allowed <= left:
        return []
    topic, index, offset = worst[1]
    why = "what it had not committed when it died, was removed, or had a commit refused"
    text = (
        f"{how_many(total, 'record', 'were')} processed again before an offset beyond them was committed; "
        f"{min(allowed + left, total)} of them can be explained by {why}; "
        f"{topic}-{index} offset {offset} cannot"
    )
    return [Finding(DUPLICATES, text)]


def _bounds(
    commits: Iterable[CommitSeen], lines: Iterable[Line]
) -> dict[TopicPartition, list[tuple[int, int]]]:
    """Return the accepted commits of each partition: the number of records that were processed
    then, and the offset."""
    accepted = {line.cause for line in lines if line.kind is OffsetsCommitted}
    bounds: dict[TopicPartition, list[tuple[int, int]]] = {}
    for commit in commits:
        if commit.seq is not None and commit.seq in accepted:
            for place, offset in commit.offsets.items():
                bounds.setdefault(place, []).append((commit.done, offset))
    return bounds


def _uncommitted(at: Sequence[int], bounds: Sequence[tuple[int, int]], offset: int) -> int:
    """Return the number of times that a record was processed again although no offset beyond it
    had been committed in between."""
    return sum(
        not any(first < done <= then and beyond > offset for done, beyond in bounds)
        for first, then in pairwise(at)
    )
