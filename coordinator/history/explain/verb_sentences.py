"""Sentences about verbs carried out on brokers, hosts, links and members, and about their ends.
The sentences are in the table of verbs (`coordinator/verbs/`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from coordinator.events.faults import MemberHealed, MemberResumed, MemberSpedUp
from coordinator.events.line import Line
from coordinator.events.members import (
    ApplicationResumed,
    ApplicationStalled,
    MemberCrashed,
    MemberFailed,
)
from coordinator.verbs import ROWS
from coordinator.verbs.members import CutMember, PauseMember, SlowMember

from ..world.views import Note, Trouble
from .formatting import duration, instant, printable

_BETWEEN: Final = "between {client} and brokers"
_OTHERS: Final[Mapping[type, str]] = {
    MemberHealed: f"traffic passes {_BETWEEN} again",
    MemberSpedUp: f"traffic {_BETWEEN} is as quick as before",
    MemberResumed: "the host of {client} is resumed",
    MemberCrashed: "the process of {client} was killed",
    MemberFailed: "the application of {client} ended with an error ({why})",
    ApplicationStalled: "the application of {client} stopped polling",
    ApplicationResumed: "the application of {client} polls again",
}
_WENT_THROUGH: Final[Mapping[type, str]] = {
    PauseMember: "its host was paused",
    CutMember: "its links with brokers were cut",
    SlowMember: "its links were slow",
    MemberCrashed: "its process had been killed",
    ApplicationStalled: "its application did not poll",
}


def told(note: Note) -> str:
    """Return a verb's note as a sentence."""
    text = deed(note.line)
    if note.coordinates and _of_broker(note.kind):
        named = re.search(rf"\bbroker {note.line.broker}\b", text)
        end = len(text) if named is None else named.end()
        rest = text[end:]
        text = f"{text[:end]}, which coordinates the group{',' if rest else ''}{rest}"
    return _sentence(text)


def sentence_of(line: Line) -> str:
    """Return a verb's line as a sentence."""
    return _sentence(deed(line))


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def deed(line: Line) -> str:
    """Return a verb's line as a clause."""
    fields = _Fields(line)
    form = _OTHERS.get(line.kind)
    if form is None:
        row = ROWS[line.name]
        more = [text for name, text in row.further.items() if fields.given(name)]
        form = "".join((row.sentence, *more)) if more or not row.ended else row.ended
    return form.format_map(fields).replace(_BETWEEN.format_map(fields), _way(line, fields))


def _way(line: Line, fields: Mapping[str, object]) -> str:
    """Return the links of a client that a verb concerns, with their direction."""
    client, event = fields.get("client", ""), line.event
    brokers = "brokers" if line.broker is None else f"broker {line.broker}"
    direction = (
        event.direction
        if isinstance(event, CutMember | SlowMember | MemberHealed | MemberSpedUp)
        else None
    )
    match direction:
        case "to_broker":
            return f"from {client} to {brokers}"
        case "from_broker":
            return f"from {brokers} to {client}"
        case _:
            return f"between {client} and {brokers}"


def went_through(trouble: Trouble | None) -> str:
    """Return the trouble of a client as a clause; "" if there was none."""
    if trouble is None or trouble.kind not in _WENT_THROUGH:
        return ""
    clause = _WENT_THROUGH[trouble.kind]
    if trouble.kind is MemberCrashed:
        return f"{clause} at {instant(trouble.since_ms)}"
    if trouble.until_ms is None:
        return f"{clause} since {instant(trouble.since_ms)}"
    return f"{clause} for {duration(trouble.until_ms - trouble.since_ms)}, until {instant(trouble.until_ms)}"


def _of_broker(kind: type) -> bool:
    row = ROWS.get(kind.__name__)
    return row is not None and "broker" in row.logged and not row.of_member


class _Fields(dict[str, object]):
    """The fields of a verb's line, by name, fit for printing."""

    def __init__(self, line: Line) -> None:
        plain = line.plain
        super().__init__(
            {name: printable(str(value)) for name, value in plain.items() if value is not None}
        )
        self._values = plain

    def given(self, name: str) -> bool:
        """Return True if the field is given and not 0."""
        return bool(self._values.get(name))

    def __missing__(self, name: str) -> str:
        return "any"
