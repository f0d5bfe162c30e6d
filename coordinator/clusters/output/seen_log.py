"""The diagnosis as an event log: stream `seen`, which `coordinator explain`, `watch` and the tables
read.

It states only what a line of the files states; an unknown value is None.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from coordinator.events.seen import (
    Event,
    FindingSeen,
    GroupSeen,
    NotKnown,
    OccurrenceSeen,
    RebalanceSeen,
    SourceLine,
    StateSeen,
)
from coordinator.events.writer import EventLog

from ..diagnosis import Diagnosis
from ..facts import Evidence
from ..stories.story import GroupStory
from .frame import zone_text
from .redaction import Redaction

RELEASE = "not known"
"""The release of the brokers, for the log's header."""


class _At(NamedTuple):
    at: int | None
    event: Event


def first_instant(diagnosis: Diagnosis) -> int:
    """Return the instant of the earliest event, the zero of the log; 0 if no line has a stamp."""
    return min((at for story in diagnosis.groups.values() for at in _instants(story)), default=0)


def zone(diagnosis: Diagnosis) -> str:
    """Return the zone of the log's wall clock, or that it is not known."""
    zones = {zone_text(story.offset) for story in diagnosis.groups.values()}
    return "not known" if None in zones or not zones else "Z"


def write(log: EventLog, diagnosis: Diagnosis, redaction: Redaction) -> None:
    """Write all groups' facts in the order of time, then findings and what is not known."""
    zero = first_instant(diagnosis)
    stamped: list[tuple[int, Event]] = []
    for story in diagnosis.groups.values():
        last = zero
        for each in _events(story, redaction):
            last = each.at if each.at is not None else last
            stamped.append((last, each.event))
    end = max((at for at, _ in stamped), default=zero)
    for at, event in sorted(stamped, key=lambda pair: pair[0]):
        log.append(event, at_ms=at - zero)
    for story in diagnosis.groups.values():
        for event in _judgements(story, redaction):
            log.append(event, at_ms=end - zero)


def _instants(story: GroupStory) -> Iterator[int]:
    found = [each.at for each in story.rebalances]
    found += [each.began for each in story.rebalances]
    found += [each.at for each in story.events]
    found += [each.at for each in story.states]
    yield from (at for at in found if at is not None)


def _events(story: GroupStory, redaction: Redaction) -> list[_At]:
    name = redaction.text(story.group)

    def named(text: str | None) -> str | None:
        return None if text is None else redaction.text(text)

    def lines(evidence: list[Evidence]) -> tuple[SourceLine, ...]:
        return _lines(evidence, redaction)

    found = [
        _At(
            each.at,
            RebalanceSeen(
                name,
                each.generation,
                each.at is not None,
                each.cause,
                named(each.held_up_by),
                tuple(map(redaction.text, each.removed)),
                each.join_phase_ms,
                each.members,
                each.returns,
                each.empty,
                each.certainty,
                lines(each.evidence),
                named(each.member) or "",
            ),
        )
        for each in story.rebalances
    ]
    found += [
        _At(
            each.at,
            OccurrenceSeen(
                name,
                each.at is not None,
                each.kind,
                named(each.by),
                redaction.text(each.sentence),
                each.certainty,
                lines(each.evidence),
                named(each.member) or "",
            ),
        )
        for each in story.events
    ]
    found += [
        _At(
            each.at,
            StateSeen(
                name,
                each.at is not None,
                each.described.state,
                each.described.members,
                tuple(map(redaction.text, each.described.owners)),
                each.described.lag,
                lines([each.evidence]),
            ),
        )
        for each in story.states
    ]
    if all(each.at is not None for each in found):
        found.sort(key=lambda each: each.at or 0)
    first = found[0].at if found else None
    return [_At(first, GroupSeen(name, story.protocol)), *found]


def _judgements(story: GroupStory, redaction: Redaction) -> Iterator[Event]:
    name = redaction.text(story.group)
    for each in story.findings:
        yield FindingSeen(
            name,
            each.id,
            each.setting,
            redaction.text(each.sentence),
            each.certainty,
            _lines(each.evidence, redaction),
            "" if each.member is None else redaction.text(each.member),
        )
    for sentence in story.not_known:
        yield NotKnown(name, redaction.text(sentence))


def _lines(evidence: list[Evidence], redaction: Redaction) -> tuple[SourceLine, ...]:
    return tuple(
        SourceLine(redaction.file(each.file), each.line) for each in dict.fromkeys(evidence)
    )
