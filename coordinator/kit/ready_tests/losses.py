"""Findings about partitions that change owners: records processed and offsets committed for
partitions of others, offsets that go back or begin too low.

Reads plain data, as `findings` does, which has the names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from coordinator.events.groups import OffsetsCommitted
from coordinator.events.wire import RequestRefused
from coordinator.history.judges import judge
from coordinator.history.judges.commits import CommitsStayWithinAssignment
from coordinator.history.judges.transactional_offsets import TransactionsStayWithinAssignment

from .findings import (
    AFTER_LOSING,
    FOREIGN,
    GOES_BACK,
    IGNORES_COMMITTED,
    Finding,
    Line,
    Processed,
    TopicPartition,
    listed,
    when,
)

_GONE = frozenset(
    {"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "FENCED_INSTANCE_ID", "FENCED_MEMBER_EPOCH"}
)
TOLD_AT_MOST = 100
"""Number of commits with a lost identity that are tolerated: an application that does not wait
for responses may send one for each record before it learns of the loss."""
_COMMITS = ("offset_commit", "txn_offset_commit")


class Handover(NamedTuple):
    """Partitions that others certainly owned while the records with these places in the
    application's order were processed."""

    partitions: frozenset[TopicPartition]
    first: int
    end: int


class OthersCommit(NamedTuple):
    """Another member's commit before the application got the partition, at this place in the
    application's order."""

    partition: TopicPartition
    offset: int
    first: int


def began_below(processed: Sequence[Processed], others: Iterable[OthersCommit]) -> list[Finding]:
    """Return findings about records that another member had committed before the application got
    their partition, and that it processed all the same."""
    found = []
    for other in others:
        again = sorted(
            {
                row[2]
                for row in processed[other.first :]
                if row[:2] == other.partition and row[2] < other.offset
            }
        )
        if again:
            where = f"{other.partition[0]}-{other.partition[1]}"
            text = f"{where} was committed at {other.offset} by another member, and then the application processed {listed(again)}"
            found.append(Finding(IGNORES_COMMITTED, text))
    return found


def foreign(processed: Sequence[Processed], handovers: Iterable[Handover]) -> list[Finding]:
    """Return findings about records that were processed while others owned their partitions."""
    found = []
    for handover in handovers:
        rows = [
            row
            for row in processed[handover.first : handover.end]
            if row[:2] in handover.partitions
        ]
        if rows:
            told = ", ".join(
                f"{topic}-{index} offset {offset}" for topic, index, offset in rows[:5]
            )
            more = ", ..." if len(rows) > 5 else ""
            found.append(
                Finding(
                    FOREIGN, f"{told}{more} were processed while another member owned the partition"
                )
            )
    return found


def after_losing(
    lines: Sequence[Line],
    group: str,
    own: Iterable[str] = (),
    killed: Iterable[str] = (),
    by_itself: Callable[[TopicPartition, int], bool] = lambda *_: False,
) -> list[Finding]:
    """Return findings about commits for partitions that the member did not own, several commits
    with an identity that is gone, and commits that go back.

    A commit that goes back is no mistake if a later commit of the same member makes up for it:
    clients send unanswered commits again, in any order. `lines`: of the event log, with the
    streams group and wire. `own`: member ids of peers, which are not judged. `killed`: members
    of killed processes, whose last commits the kit itself refuses. `by_itself(partition,
    at_ms)`: True if a client library may have gone back in the partition by itself since that
    instant of the log.
    """
    peers, dead = set(own), set(killed)
    mine = [line for line in lines if line.group in (None, group)]
    promises = (CommitsStayWithinAssignment, TransactionsStayWithinAssignment)
    verdicts = judge(mine, promises, streams=frozenset({"group", "wire"}))
    broken = [finding for verdict in verdicts for finding in verdict.findings]
    at_ms = {line.seq: line.at_ms for line in mine} if broken else {}
    found = [
        Finding(AFTER_LOSING, finding.text + when(finding.seq, at_ms.get(finding.seq)))
        for finding in broken
    ]
    refused: dict[str, int] = {}
    last: dict[TopicPartition, tuple[int, str, int]] = {}
    back: dict[tuple[TopicPartition, str], tuple[int, Finding]] = {}
    for line in mine:
        member, event = line.member or "", line.event
        identity = f"{member} of generation {line.generation}"
        if isinstance(event, RequestRefused):
            lost = event.api in _COMMITS and _GONE.intersection(event.errors)
            if lost and member and member not in dead:
                refused[identity] = refused.get(identity, 0) + 1
                if refused[identity] == TOLD_AT_MOST + 1:
                    text = f"{identity} continues to commit at {line.at_ms} ms although its commits are refused with {event.errors[0]}"
                    found.append(Finding(AFTER_LOSING, text))
        elif isinstance(event, OffsetsCommitted) and member and member not in peers:
            for row in event.offsets:
                place = (row.topic, row.partition)
                before, by, since = last.get(place, (0, "", 0))
                if row.offset < before and not by_itself(place, since):
                    text = f"{member} committed {place[0]}-{place[1]} back from {before} to {row.offset}"
                    told = Finding(GOES_BACK, text + when(line.seq, line.at_ms))
                    if by == member:
                        back.setdefault((place, member), (before, told))
                    else:
                        found.append(told)
                elif (place, member) in back and row.offset >= back[place, member][0]:
                    del back[place, member]
        if isinstance(event, OffsetsCommitted):
            last |= {
                (row.topic, row.partition): (row.offset, member, line.at_ms)
                for row in event.offsets
            }
    return found + [finding for _, finding in back.values()]
