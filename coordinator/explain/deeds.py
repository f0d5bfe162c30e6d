"""What was done to brokers, hosts, links and members on purpose, in sentences: those of the table of
verbs, and those of what ends them.
"""

from __future__ import annotations

from typing import Final

from ..event_log.reader import Line
from ..history.views import Note, Trouble
from ..verbs import ROWS
from .words import duration, instant, printable

_OTHERS: Final = {
    "MemberHealed": "the links of {client} are whole again",
    "MemberSpedUp": "the links of {client} are as quick as before",
    "MemberResumed": "the host of {client} goes on",
    "MemberCrashed": "the process of {client} was killed",
    "MemberFailed": "the application of {client} ended with an error ({why})",
    "ApplicationStalled": "the application of {client} stopped polling",
    "ApplicationResumed": "the application of {client} polls again",
}
_WENT_THROUGH: Final = {
    "PauseMember": "its host stood still",
    "CutMember": "nothing passed between it and brokers",
    "SlowMember": "its links were slow",
    "MemberCrashed": "its process had been killed",
    "ApplicationStalled": "its application did not poll",
}


def told(note: Note) -> str:
    """A verb's note as a sentence."""
    text = deed(note.line)
    more = ", which coordinates the group" if note.coordinates and _of_broker(note.kind) else ""
    return f"{text[0].upper()}{text[1:]}{more}."


def deed(line: Line) -> str:
    """What was done, as a clause."""
    row = ROWS.get(line["type"])
    if row is None or line["type"] in _OTHERS:
        form = _OTHERS[line["type"]]
    else:
        more = (text for name, text in row.further.items() if line.get(name) is not None)
        form = "".join((row.sentence, *more))
    return form.format_map(_Fields(line))


def went_through(trouble: Trouble | None) -> str:
    """What a client had been going through, as a clause; "" if nothing."""
    if trouble is None or trouble.kind not in _WENT_THROUGH:
        return ""
    clause = _WENT_THROUGH[trouble.kind]
    if trouble.kind == "MemberCrashed":
        return f"{clause} at {instant(trouble.since_ms)}"
    if trouble.until_ms is None:
        return f"{clause} since {instant(trouble.since_ms)}"
    return f"{clause} for {duration(trouble.until_ms - trouble.since_ms)}, until {instant(trouble.until_ms)}"


def _of_broker(kind: str) -> bool:
    row = ROWS.get(kind)
    return row is not None and "broker" in row.logged and not row.of_member


class _Fields(dict[str, object]):
    """A line's fields as a sentence has them."""

    def __init__(self, line: Line) -> None:
        super().__init__(
            {name: printable(str(value)) for name, value in line.items() if value is not None}
        )

    def __missing__(self, name: str) -> str:
        return "any"
