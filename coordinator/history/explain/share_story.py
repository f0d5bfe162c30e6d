"""Sentences about records of share groups (KIP-932): locks that ended, records that were released,
rejected or archived, and why a record was delivered again.

Wording only: the facts come from `coordinator/history/world/shares/records.py`. The ordinary
course (a record is acquired once and accepted) is not told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from coordinator.base.counting import how_many
from coordinator.events.line import Line
from coordinator.events.share_partitions import (
    UNLOADED,
    AcknowledgedRange,
    AcknowledgementWaited,
    RecordRange,
    RecordsAcknowledged,
    RecordsAcquired,
    RecordsArchived,
    RecordsReleased,
    SharePartitionClosed,
    SharePartitionOpened,
    Span,
)
from coordinator.events.share_states import ShareStateSnapshotted, ShareStateUpdated

from ..world.shares.records import LOCK_ENDED, ShareRecords
from .formatting import duration, instant, listed, printable

_GIVEN_UP = frozenset({"Archiving", "Archived"})
_Range = RecordRange | AcknowledgedRange | Span
_DONE_OF_THEM: Final = {
    "release": "released",
    "reject": "rejected",
    "gap": "says that there are no",
}


def sentence(known: ShareRecords, line: Line) -> str:
    """Return a line of stream `share` as a sentence, after `known` has seen it; "" if it needs
    none."""
    event = line.event
    match event:
        case RecordsReleased():
            return _released(known, line, event)
        case RecordsAcknowledged():
            return _acknowledged(known, line, event)
        case RecordsAcquired():
            return _came_again(known, line, event)
        case AcknowledgementWaited():
            return _waited(known, line, event)
        case RecordsArchived(reason, records) if records:
            which = _records(records)
            verb = "is" if which.startswith("record ") else "are"
            return f"{which} of {_place(line)} {verb} delivered to no member: {printable(reason)}."
    return ""


def in_full(known: ShareRecords, line: Line) -> str:
    """Return a sentence for a line of stream `share` for which `sentence` has none, for a reader
    who steps through all lines; "" for an unknown type."""
    event = line.event
    match event:
        case SharePartitionOpened():
            kept = sum(of.last_offset - of.first_offset + 1 for of in event.records)
            more = f", with the stored states of {how_many(kept, 'record')}" if kept else ""
            return f"The leader of {_place(line)} begins to serve the group: its start offset is {event.start_offset}{more}."
        case RecordsAcquired():
            return (
                f"{_who(known, line)} acquires {_records(event.records)} of {_place(line)}; its lock ends at {instant(event.deadline_ms)}, "
                "unless it acknowledges them before."
            )
        case RecordsAcknowledged():
            said = [
                f"{verb} {_records(found)}"
                for kind, verb in (("accept", "accepts"), ("renew", "renews its lock on"))
                if (found := [of for of in event.records if of.acknowledgement == kind])
            ]
            return f"{_who(known, line)} {listed(said)} of {_place(line)}; the start offset is {event.start_offset}."
        case SharePartitionClosed() if event.reason == UNLOADED:
            return (
                f"The leader unloads {_place(line)}: the last connection with a session of the group is closed. "
                "The next member begins with what the share coordinator has stored."
            )
        case SharePartitionClosed():
            return (
                f"The leader closes {_place(line)} for the group: records in flight are forgotten."
            )
        case ShareStateSnapshotted() | ShareStateUpdated():
            ranges, start = len(event.batches), event.start_offset
            from_ = "no start offset yet" if start < 0 else f"start {start}"
            stored = f"the states of {ranges} range{'s' * (ranges != 1)} of records"
            return f"The share coordinator stores of {_place(line)}: {from_}, and {stored}."
    return ""


def _who(known: ShareRecords, line: Line) -> str:
    return printable(known.name(line.group or "", line.member or ""))


def _released(known: ShareRecords, line: Line, event: RecordsReleased) -> str:
    who = _who(known, line)
    if event.reason in LOCK_ENDED:
        why = f"the lock of {who} on {_place(line)} ended"
    else:
        why = f"{who} lost its records of {_place(line)}: {printable(event.reason)}"
    return f"{why}: {'; '.join(_outcomes(event.records))}."


def _outcomes(records: Iterable[RecordRange]) -> Iterator[str]:
    available = [of for of in records if of.state == "Available"]
    archived = [of for of in records if of.state in _GIVEN_UP]
    if available:
        yield f"{_records(available)} can be delivered again"
    if archived:
        yield _given_up(archived, max(of.delivery_count for of in archived))


def _given_up(records: Iterable[_Range], times: int) -> str:
    which = _records(records)
    are = "are" if which.startswith("records") else "is"
    return f"{which} {are} archived after {times} deliver{'ies' if times != 1 else 'y'}"


def _acknowledged(known: ShareRecords, line: Line, event: RecordsAcknowledged) -> str:
    clauses = []
    for kind, verb in _DONE_OF_THEM.items():
        said = [of for of in event.records if of.acknowledgement == kind]
        if said:
            clauses.append(f"{verb} {_records(said)}")
    if not clauses:
        return ""
    given_up = [
        of for of in event.records if of.acknowledgement == "release" and of.state in _GIVEN_UP
    ]
    more = f"; {_given_up(given_up, given_up[0].delivery_count)}" if given_up else ""
    return f"{_who(known, line)} {listed(clauses)} of {_place(line)}{more}."


def _waited(known: ShareRecords, line: Line, event: AcknowledgementWaited) -> str:
    waited = duration(event.waited_ms)
    outcome = (
        f"was stored after {waited}"
        if event.failed is None
        else f"was given up after {waited}, and refused with {printable(event.failed)}"
    )
    which = f"{_records(event.records)} of {_place(line)}"
    return f"The acknowledgement of {_who(known, line)} for {which} {outcome}: {printable(event.reason)}."


def _came_again(known: ShareRecords, line: Line, event: RecordsAcquired) -> str:
    again = [of for of in event.records if of.delivery_count > 1]
    if not again:
        return ""
    counts = sorted({of.delivery_count for of in again})
    nth = f"for the {_nth(counts[0])} time" if len(counts) == 1 else f"up to {counts[-1]} times"
    which = f"{_records(again)} of {_place(line)}"
    return f"{_who(known, line)} acquired {which} {nth}{_because(known, line, again)}."


def _because(known: ShareRecords, line: Line, again: list[RecordRange]) -> str:
    """Return why records are delivered again; if there are several reasons, each with its
    records."""
    causes: dict[tuple[str, str | None], list[RecordRange]] = {}
    for of in again:
        before = known.given_back_by(line, of.first_offset)
        if before is not None:
            event = before.event
            reason = event.reason if isinstance(event, RecordsReleased) else None
            causes.setdefault((_who(known, before), reason), []).append(of)
    told = [
        _cause(*why, _records(of)) + (f" ({_records(of)})" if len(causes) > 1 else "")
        for why, of in causes.items()
    ]
    return f", because {listed(told)}" if told else ""


def _cause(who: str, reason: str | None, records: str) -> str:
    """Return why records came back: their member released them (`reason` None), or lost them."""
    them = "them" if records.startswith("records") else "it"
    if reason is None:
        return f"{who} released {them}"
    if reason in LOCK_ENDED:
        return f"the lock of {who} had ended"
    return f"{who} lost {them}: {printable(reason)}"


def _records(records: Iterable[_Range]) -> str:
    spans = [
        str(of.first_offset)
        if of.first_offset == of.last_offset
        else f"{of.first_offset} to {of.last_offset}"
        for of in records
    ]
    return (
        f"record {listed(spans)}"
        if len(spans) == 1 and " " not in spans[0]
        else f"records {listed(spans)}"
    )


def _place(line: Line) -> str:
    return f"{printable(line.topic or '')}-{line.partition}"


def _nth(count: int) -> str:
    return {2: "2nd", 3: "3rd"}.get(count, f"{count}th")
