"""Errors in how a worker of a share group (KIP-932) worked: named findings, from plain data.

Owns the judgement, and nothing else: what was processed comes in the worker's own order, everything
else from lines of the event log. Names of findings:

| name | meaning |
|---|---|
| accepted and not processed | a record was accepted by the worker that it never processed: no other worker will process it |
| processed without being given | a record was processed more often than it was given to the worker, or came from elsewhere |
| slower than its lock | a lock ended while the worker was at work on its record: another may have it by then |
| stops without acknowledging | it was stopped in good order, and records that it had processed were given back |
| does not leave | it was stopped in good order, and its member is still in the group, or holds records |
| ended by an error | the worker says, by its attribute `error`, that it ended so where it should have gone on |
| does not recover | the worker does not come to work, or does not come back to it after the disturbance |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from coordinator.base.counting import how_many
from coordinator.events.line import Line as Line
from coordinator.events.share_partitions import (
    AcknowledgedRange,
    RecordRange,
    RecordsAcknowledged,
    RecordsAcquired,
    RecordsReleased,
)

from .findings import DOES_NOT_LEAVE, ENDED, NO_RECOVERY, Finding

__all__ = [
    "DOES_NOT_LEAVE",
    "ENDED",
    "LOST",
    "NO_RECOVERY",
    "SLOW",
    "TOO_OFTEN",
    "UNACKNOWLEDGED",
    "of_processing",
    "of_stop",
]
Processed = tuple[str, int, int]

LOST: Final = "accepted and not processed"
TOO_OFTEN: Final = "processed without being given"
SLOW: Final = "slower than its lock"
UNACKNOWLEDGED: Final = "stops without acknowledging"
_LOCK_ENDED: Final = "the lock ended"
_MOST_NAMED: Final = 3


def of_processing(
    lines: Iterable[Line], others: Collection[str], processed: Sequence[Processed] | None
) -> list[Finding]:
    """Return findings about processing, from a group's lines. `others`: member ids that are not
    the worker's. `processed` None: the worker does not report."""
    given: Counter[Processed] = Counter()
    accepted: dict[Processed, Line] = {}
    slow: list[Finding] = []
    for line in lines:
        if line.member in others:
            continue
        match line.event:
            case RecordsAcquired(_, records):
                given.update(_offsets(line, records))
            case RecordsAcknowledged(_, said):
                taken = [of for of in said if of.acknowledgement == "accept"]
                accepted.update((of, line) for of in _offsets(line, taken))
            case RecordsReleased(_, reason, records) if reason == _LOCK_ENDED:
                which = _named(_offsets(line, records))
                slow.append(Finding(SLOW, f"the lock on {which} ended, {_at(line)}"))
    if processed is None:
        return slow
    done = Counter(processed)
    lost = [of for of in accepted if of not in done]
    found = []
    if lost:
        text = f"{_named(lost)} accepted, {_at(accepted[lost[0]])}, and never processed"
        found.append(Finding(LOST, text))
    found += slow
    often = [of for of, times in done.items() if times > given[of]]
    if often:
        times, came = done[often[0]], given[often[0]]
        text = f"{_named(often)} processed {how_many(times, 'time')}, and given to the worker {how_many(came, 'time')} only"
        found.append(Finding(TOO_OFTEN, text))
    return found


def of_stop(
    lines: Iterable[Line], others: Collection[str], processed: Collection[Processed] | None
) -> list[Finding]:
    """Return findings about records that were released after a stop in good order although the
    worker had processed them, from a group's lines since then. `processed`: the records
    processed by then."""
    back = [
        of
        for line in lines
        if line.member not in others
        and isinstance(event := line.event, RecordsReleased | RecordsAcknowledged)
        for of in _offsets(line, [each for each in event.records if each.state == "Available"])
        if processed is not None and of in processed
    ]
    if not back:
        return []
    text = f"it had processed {_named(back)} when it was stopped, and gave that back: it will be processed again"
    return [Finding(UNACKNOWLEDGED, text)]


def _offsets(line: Line, records: Iterable[RecordRange | AcknowledgedRange]) -> Iterator[Processed]:
    """Yield each record of these ranges in the form in which workers report what they processed."""
    for of in records:
        for offset in range(of.first_offset, of.last_offset + 1):
            yield line.topic or "", line.partition or 0, offset


def _named(records: Iterable[Processed]) -> str:
    listed = [f"{topic}-{partition}@{offset}" for topic, partition, offset in records]
    more = len(listed) - _MOST_NAMED
    return ", ".join(listed[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _at(line: Line) -> str:
    return f"line {line.seq} at {line.at_ms} ms"
