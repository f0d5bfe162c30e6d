"""Brings the clocks of several files together: the offset between two files follows from events
that both log, such as the generation that a broker stabilizes and a client joins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median

from .facts import (
    Assigned,
    ClientAsked,
    ClientFenced,
    ClientJoined,
    ClientLeaving,
    ClientMember,
    Fenced,
    Joined,
    Left,
    Replaced,
    Seen,
    Stabilized,
)
from .reading import FileReport
from .stories.people import GIVEN, client_of

_QUARTER_MS = 900_000
SAME_MS = 1_500
"""Clocks that differ by less are taken for one: an answer takes its time."""

_Mark = tuple[str, object]


def one_clock(seen: list[Seen], reports: Mapping[str, FileReport]) -> list[Seen]:
    """Convert all facts to the clock of the broker, or of the first file that others can be
    compared with. Notes the differences in the reports. Returns the facts in the order of time."""
    seen = _with_zones(seen, reports)
    marks = _marks(seen)
    reference = _reference(seen, marks)
    if reference is not None:
        base = marks[reference]
        report = reports.get(reference)
        if report is not None:
            report.clock_offset_ms = 0
        for file, of_file in marks.items():
            shared = [of_file[mark] - base[mark] for mark in of_file if mark in base]
            if file == reference or not shared:
                continue
            offset = round(median(shared))
            reports[file].clock_offset_ms = offset
            if abs(offset) >= SAME_MS:
                seen = [
                    each._replace(at=each.at - offset)
                    if each.evidence.file == file and each.at is not None
                    else each
                    for each in seen
                ]
    order = {name: number for number, name in enumerate(reports)}
    back = {name for name, report in reports.items() if report.newest_first}

    def place(each: Seen) -> tuple[int, int, int]:
        file, line = each.evidence.file, each.evidence.line
        return each.at or 0, order.get(file, 0), -line if file in back else line

    return sorted(seen, key=place)


def _with_zones(seen: list[Seen], reports: Mapping[str, FileReport]) -> list[Seen]:
    """Give a time zone to a file without one: if the same events differ by whole quarters of an
    hour from those in a file with a zone, that difference is its zone."""
    marks = _marks(seen)
    known = {file for file in marks if reports[file].offset is not None}
    for file, of_file in marks.items():
        if file in known:
            continue
        shared = [
            of_file[mark] - marks[other][mark]
            for other in known
            for mark in of_file
            if mark in marks[other]
        ]
        if not shared or max(of_file.values()) < 30 * 86_400_000:
            continue
        offset = round(median(shared) / _QUARTER_MS) * 15
        if abs(offset) > 14 * 60:
            continue
        reports[file].offset = offset
        seen = [
            each._replace(at=each.at - offset * 60_000)
            if each.evidence.file == file and each.at is not None
            else each
            for each in seen
        ]
    return seen


def _marks(seen: Iterable[Seen]) -> dict[str, dict[_Mark, int]]:
    """Return, for each file, the instants of events that other files may have, too."""
    lines = list(seen)
    late = _late_joins(lines)
    found: dict[str, dict[_Mark, int]] = {}
    for each in lines:
        mark = _mark(each)
        if mark is not None and each.at is not None and not (late and late(each)):
            found.setdefault(each.evidence.file, {}).setdefault(mark, each.at)
    return found


def _mark(each: Seen) -> _Mark | None:
    match each.fact:
        case Stabilized(group, generation):
            return "generation", (group, generation)
        case ClientJoined(_, group, member, generation) if group is not None:
            if _EPOCH not in each.evidence.text:
                return "generation", (group, generation)
            return (
                ("member", member) if member and " from JOINING to " in each.evidence.text else None
            )
        case Left(_, member) | ClientLeaving(_, _, member) if member:
            return "left", member
        case Fenced(_, instance) | ClientFenced(_, _, instance) if instance:
            return "fenced", instance
        case Joined(_, member):
            # A client that is added at once learns its id only when the join phase is over.
            return None if "add to the group" in each.evidence.text else ("member", member)
        case ClientMember(_, _, member) if "updating member id" in each.evidence.text:
            return "member", member
        case ClientAsked(_, _, reason):
            given = GIVEN.match(reason)
            return ("member", given[1]) if given else None
        case _:
            return None


_EPOCH = " with epoch "
"""Members of KIP-848 groups reach an epoch one after another: that is no event that two files share."""


def _late_joins(seen: Sequence[Seen]) -> Callable[[Seen], bool] | None:
    """Return a function that says whether a line may tell of a static member that came into a
    generation long after it began, as one does that is restarted; None if there is no static
    member."""
    static = {
        client_of(each.fact.member or "")
        for each in seen
        if isinstance(each.fact, ClientJoined) and _is_static(each, each.fact)
    }
    replaced = {each.fact.instance for each in seen if isinstance(each.fact, Replaced)}
    coordinated = {each.fact.group for each in seen if isinstance(each.fact, Stabilized)}
    led = {
        (each.evidence.file, each.fact.generation)
        for each in seen
        if isinstance(each.fact, Assigned)
    }
    if not static and not replaced:
        return None

    def late(each: Seen) -> bool:
        fact = each.fact
        if not isinstance(fact, ClientJoined) or _EPOCH in each.evidence.text:
            return False
        instance = client_of(fact.member or "")
        if instance in replaced:
            return (each.evidence.file, fact.generation) not in led
        return (
            instance in static
            and fact.group not in coordinated
            and (each.evidence.file, fact.generation) not in led
        )

    return late


def _is_static(each: Seen, fact: ClientJoined) -> bool:
    named = client_of(fact.member or "")
    return "instanceId=" in each.evidence.text or named not in (None, fact.client)


def _reference(seen: Iterable[Seen], marks: Mapping[str, object]) -> str | None:
    for each in seen:
        if isinstance(each.fact, Stabilized | Joined | Left) and each.evidence.file in marks:
            return each.evidence.file
    return next(iter(marks), None)
