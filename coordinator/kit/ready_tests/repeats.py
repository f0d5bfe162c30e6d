"""Findings about records that were processed again although an offset beyond them was committed,
without those repetitions that a client library causes.

Reads plain data, as `findings` does, which has the names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from coordinator.events.groups import GenerationStarted, OffsetsCommitted
from coordinator.events.groups.consumer import ConsumerMemberReconciled
from coordinator.events.wire import RequestRefused, RequestSeen

from .findings import AGAIN, GOES_BACK, CommitSeen, Finding, Line, Processed, TopicPartition, listed
from .holders import Holders

_CHANGES = frozenset({GenerationStarted, ConsumerMemberReconciled})
_NEW = 8
"""The first version of OffsetFetch that can ask for several groups; aiokafka 0.14 uses an older
one."""
_TWICE = 2
"""A partition without a committed offset is assigned again by the second of these events at the
earliest."""


def processed_again(
    processed: Sequence[Processed],
    commits: Sequence[CommitSeen],
    lines: Iterable[Line],
    holders: Holders | None = None,
    *,
    in_hand: bool = False,
) -> list[Finding]:
    """Return findings about records that were processed again after an offset beyond them had been
    committed. The finding says so if the application itself had committed an earlier offset since.
    `lines`: of the event log.

    `holders`: for an application with several consumers. Records that another consumer than the
    committing one may have fetched are left out; with `in_hand` they are the only ones reported.

    Repetitions that a library causes are not charged to the application:

    - after a refused OffsetFetch of version 2 to 7: aiokafka 0.14 (version 3) ignores the error,
    which stands above the topics in these versions, takes the response for "no offset is
    committed", and begins by auto.offset.reset;
    - after a commit that was in flight while a rebalance ended: the library had fetched the
    committed offset before it.
    """
    lines = list(lines)
    accepted = {line.cause for line in lines if line.kind is OffsetsCommitted}
    misread = _misread(lines)
    found: dict[TopicPartition, Finding] = {}
    for number, commit in enumerate(commits):
        if commit.seq is None or commit.seq not in accepted or commit.seq < misread:
            continue
        before = set(processed[: commit.done])
        for place, offset in commit.offsets.items():
            again = sorted(
                {
                    row[2]
                    for row in processed[commit.done :]
                    if row[:2] == place and row[2] < offset and row in before
                }
            )
            told = [
                at
                for at in again
                if holders is None or holders.may_hold(place, at, commit) == in_hand
            ]
            if (
                told
                and place not in found
                and not _overtaken(place, again, commits[number:], accepted, lines)
            ):
                were = "was" if len(told) == 1 else "were"
                text = f"{commit.member} committed {offset} for {place[0]}-{place[1]}, and then {listed(told)} {were} processed again"
                found[place] = Finding(AGAIN, text + commit.when)
                first = processed.index((*place, told[0]), commit.done)
                for later in commits[number + 1 :]:
                    back = later.offsets.get(place, offset)
                    if later.seq in accepted and later.done <= first and back <= told[0]:
                        text = f"{later.member} committed {place[0]}-{place[1]} back from {offset} to {back}"
                        text += f", and then {listed(told)} {were} processed again"
                        found[place] = Finding(GOES_BACK, text + later.when)
    return list(found.values())


def _misread(lines: Sequence[Line]) -> int:
    """Return the line of the last refused OffsetFetch of these versions, or -1 if there was
    none."""
    old = {
        line.seq
        for line in lines
        if isinstance(event := line.event, RequestSeen)
        and event.api == "offset_fetch"
        and 2 <= event.version <= 7
    }
    return max(
        (
            line.cause
            for line in lines
            if line.kind is RequestRefused and line.cause is not None and line.cause in old
        ),
        default=-1,
    )


def _overtaken(
    place: TopicPartition,
    again: Sequence[int],
    commits: Sequence[CommitSeen],
    accepted: set[int | None],
    lines: Sequence[Line],
) -> bool:
    """Return True if the first of `commits` arrived after its client had fetched, at the beginning
    of its generation, the committed offset to read from.

    That is so if the offset that was committed at that OffsetFetch is exactly the one where
    reading began anew (the first of `again`), and the client did not fetch it again in a later
    generation before the partition's next commit. One record may have been in process at that
    time; with aiokafka several, because it rejoins while the application loops over a batch, and
    uses an old version of OffsetFetch.
    """
    this, *later = commits
    seq = this.seq or 0
    asked = next((line.event for line in lines if line.seq == seq), None)
    client = asked.client if isinstance(asked, RequestSeen) else None
    changes = [line.seq for line in lines if line.kind in _CHANGES]
    began = max((change for change in changes if change < seq), default=-1)
    committed, at, fetches, several = 0, set[int](), list[int](), False
    for line in lines:
        event = line.event
        if isinstance(event, OffsetsCommitted) and line.seq < seq:
            committed = next(
                (row.offset for row in event.offsets if (row.topic, row.partition) == place),
                committed,
            )
        elif (
            isinstance(event, RequestSeen)
            and event.api == "offset_fetch"
            and event.client == client
        ):
            fetches.append(line.seq)
            if began < line.seq < seq:
                at.add(committed)
                several = several or event.version < _NEW
    if (
        again[0] not in at
        or (len(again) > 1 and not several)
        or (again[0] == 0 and sum(change < seq for change in changes) < _TWICE)
    ):
        return False
    until = next(
        (commit.seq for commit in later if commit.seq in accepted and place in commit.offsets), None
    )
    anew = next((change for change in changes if change > seq), None)
    return anew is None or not any(
        anew < asked and (until is None or asked < until) for asked in fetches
    )
