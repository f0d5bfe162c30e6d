"""The outcome of the records of share groups (KIP-932), in plain sentences: which locks ended, what
was released, rejected or given up, and why a record came again.

Wording only: what is known is `coordinator.history.shares.records`. What goes as it should (a record
is acquired for the first time, and accepted) is not told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from ..event_log.reader import Line
from ..history.shares.records import LOCK_ENDED, ShareRecords
from .words import duration, instant, listed, printable

_GIVEN_UP = frozenset({"Archiving", "Archived"})
_DONE_OF_THEM = {"release": "released", "reject": "rejected", "gap": "says that there are no"}


def sentence(known: ShareRecords, line: Line) -> str:
    """A line of stream `share` as a sentence, after `known` has seen it; "" if it goes without
    saying."""
    match line["type"]:
        case "RecordsReleased":
            return _released(known, line)
        case "RecordsAcknowledged":
            return _acknowledged(known, line)
        case "RecordsAcquired":
            return _came_again(known, line)
        case "AcknowledgementWaited":
            return _waited(known, line)
        case "RecordsArchived" if line["records"]:
            which = _records(line["records"])
            verb = "is" if which.startswith("record ") else "are"
            why = printable(line["reason"])
            return f"{which} of {_place(line)} {verb} delivered to nobody: {why}."
    return ""


def in_full(known: ShareRecords, line: Line) -> str:
    """A line of stream `share` of which `sentence` has nothing to say, for a reader who steps
    through all of them; "" for a line that is not known."""
    tell = _IN_FULL.get(line["type"])
    return "" if tell is None else tell(known, line)


def _opened(known: ShareRecords, line: Line) -> str:
    kept = sum(of["last_offset"] - of["first_offset"] + 1 for of in line["records"])
    more = f", with what the share coordinator kept of {kept} records" if kept else ""
    return f"The leader of {_place(line)} begins to serve the group: its start offset is {line['start_offset']}{more}."


def _acquired(known: ShareRecords, line: Line) -> str:
    who = printable(known.name(line["group"], line["member"]))
    until = instant(line["deadline_ms"])
    return (
        f"{who} is given {_records(line['records'])} of {_place(line)}; its lock ends at {until}, "
        "unless it says before what becomes of them."
    )


def _said(known: ShareRecords, line: Line) -> str:
    who = printable(known.name(line["group"], line["member"]))
    said = [
        f"{verb} {_records(found)}"
        for kind, verb in (("accept", "accepts"), ("renew", "renews its lock on"))
        if (found := [of for of in line["records"] if of["acknowledgement"] == kind])
    ]
    return f"{who} {listed(said)} of {_place(line)}; the start offset is {line['start_offset']}."


def _closed(known: ShareRecords, line: Line) -> str:
    return f"{_place(line)} is served to the group no longer: what was in flight is forgotten."


def _stored(known: ShareRecords, line: Line) -> str:
    ranges = len(line["batches"])
    from_ = "no start offset yet" if line["start_offset"] < 0 else f"start {line['start_offset']}"
    return f"The share coordinator stores of {_place(line)}: {from_}, and the states of {ranges} range{'s' * (ranges != 1)} of records."


_IN_FULL: Final[dict[str, Callable[[ShareRecords, Line], str]]] = {
    "SharePartitionOpened": _opened,
    "RecordsAcquired": _acquired,
    "RecordsAcknowledged": _said,
    "SharePartitionClosed": _closed,
    "ShareStateSnapshotted": _stored,
    "ShareStateUpdated": _stored,
}


def _released(known: ShareRecords, line: Line) -> str:
    who = printable(known.name(line["group"], line["member"]))
    if line["reason"] in LOCK_ENDED:
        why = f"the lock of {who} on {_place(line)} ended"
    else:
        why = f"{who} lost what it held of {_place(line)}: {printable(line['reason'])}"
    return f"{why}: {'; '.join(_outcomes(line['records']))}."


def _outcomes(records: Iterable[dict[str, Any]]) -> Iterator[str]:
    available = [of for of in records if of["state"] == "Available"]
    archived = [of for of in records if of["state"] in _GIVEN_UP]
    if available:
        yield f"{_records(available)} can be delivered again"
    if archived:
        yield _given_up(archived, max(of["delivery_count"] for of in archived))


def _given_up(records: Iterable[dict[str, Any]], times: int) -> str:
    which = _records(records)
    are = "are" if which.startswith("records") else "is"
    return f"{which} {are} given up after {times} deliver{'ies' if times != 1 else 'y'}"


def _acknowledged(known: ShareRecords, line: Line) -> str:
    clauses = []
    for kind, verb in _DONE_OF_THEM.items():
        said = [of for of in line["records"] if of["acknowledgement"] == kind]
        if said:
            clauses.append(f"{verb} {_records(said)}")
    if not clauses:
        return ""
    given_up = [
        of
        for of in line["records"]
        if of["acknowledgement"] == "release" and of["state"] in _GIVEN_UP
    ]
    more = f"; {_given_up(given_up, given_up[0]['delivery_count'])}" if given_up else ""
    who = printable(known.name(line["group"], line["member"]))
    return f"{who} {listed(clauses)} of {_place(line)}{more}."


def _waited(known: ShareRecords, line: Line) -> str:
    who = printable(known.name(line["group"], line["member"]))
    which = _records(line["records"])
    outcome = (
        f"was stored after {duration(line['waited_ms'])}"
        if line["failed"] is None
        else f"was given up after {duration(line['waited_ms'])}, and refused with {printable(line['failed'])}"
    )
    return f"What {who} said of {which} of {_place(line)} {outcome}: {printable(line['reason'])}."


def _came_again(known: ShareRecords, line: Line) -> str:
    again = [of for of in line["records"] if of["delivery_count"] > 1]
    if not again:
        return ""
    who = printable(known.name(line["group"], line["member"]))
    counts = sorted({of["delivery_count"] for of in again})
    nth = f"for the {_nth(counts[0])} time" if len(counts) == 1 else f"up to {counts[-1]} times"
    return (
        f"{who} was given {_records(again)} of {_place(line)} {nth}{_because(known, line, again)}."
    )


def _because(known: ShareRecords, line: Line, again: list[dict[str, Any]]) -> str:
    """Why they come again: several reasons have their records beside them."""
    causes: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for of in again:
        before = known.given_back_by(line, of["first_offset"])
        if before is not None:
            who = printable(known.name(before["group"], before["member"]))
            why = before["type"], who, before.get("reason", "")
            causes.setdefault(why, []).append(of)
    told = [
        _cause(*why, _records(of)) + (f" ({_records(of)})" if len(causes) > 1 else "")
        for why, of in causes.items()
    ]
    return f", because {listed(told)}" if told else ""


def _cause(kind: str, who: str, reason: str, records: str) -> str:
    them = "them" if records.startswith("records") else "it"
    if kind == "RecordsAcknowledged":
        return f"{who} released {them}"
    if reason in LOCK_ENDED:
        return f"the lock of {who} had ended"
    return f"{who} lost {them}: {printable(reason)}"


def _records(records: Iterable[dict[str, Any]]) -> str:
    spans = [
        str(of["first_offset"])
        if of["first_offset"] == of["last_offset"]
        else f"{of['first_offset']} to {of['last_offset']}"
        for of in records
    ]
    return (
        f"record {listed(spans)}"
        if len(spans) == 1 and " " not in spans[0]
        else f"records {listed(spans)}"
    )


def _place(line: Line) -> str:
    return f"{printable(line['topic'])}-{line['partition']}"


def _nth(count: int) -> str:
    return {2: "2nd", 3: "3rd"}.get(count, f"{count}th")
