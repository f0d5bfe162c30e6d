"""Merges verbs of one instant into one sentence: a verb that concerns many links or clients, such
as the cut of a zone, is a line of the log for each of them, but one note for a reader.

Wording only. JSON output has each line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from coordinator.events.faults import MemberHealed
from coordinator.events.line import Line
from coordinator.verbs.brokers import CutLink, HealLink
from coordinator.verbs.members import CutMember

from ..world.verb_notes import KINDS
from ..world.views import Note
from .formatting import listed, printable
from .verb_sentences import deed

E = TypeVar("E")
N = TypeVar("N", int, str)

_PASSES: Final = re.compile(r"(no traffic passes|traffic passes) between .*?( again)?")
_OF_WAYS: Final = {CutLink, HealLink, CutMember, MemberHealed}
_WHOM: Final = "\0"
_MOST: Final = 8
"""Number of clients that are named; of more only the first few are."""


def together(entries: Iterable[E]) -> list[E | Note]:
    """Return a group's entries with equal verbs of one instant merged into one note, at the
    place of the first."""
    found: dict[tuple[int, str], list[Note]] = {}
    entries = list(entries)
    for entry in entries:
        if isinstance(entry, Note) and (kind := _kind(entry)):
            found.setdefault((entry.at_ms, kind), []).append(entry)
    first = {
        notes[0].seq: replace(notes[0], sentence=_told(kind, notes))
        for (_, kind), notes in found.items()
        if len(notes) > 1
    }
    later = {note.seq for notes in found.values() for note in notes[1:]}
    return [
        first.get(entry.seq, entry) if isinstance(entry, Note) else entry
        for entry in entries
        if not (isinstance(entry, Note) and entry.seq in later)
    ]


def _kind(note: Note) -> str:
    """Return a sentence with the names of clients or links left out, so that equal ones can be
    merged; "" for a note that must stand alone."""
    if note.sentence or note.kind not in KINDS:
        return ""
    text, client = deed(note.line), note.line.plain.get("client")
    if note.kind in _OF_WAYS:
        passes = _PASSES.fullmatch(text)
        return "" if passes is None else f" between {_WHOM}".join(passes.groups(""))
    if client is None:
        return ""
    named = rf"(?<![\w.-]){re.escape(printable(str(client)))}(?![\w.-])"
    kind, times = re.subn(named, _WHOM, text)
    return kind if times == 1 else ""


def _told(kind: str, notes: Sequence[Note]) -> str:
    lines = [note.line for note in notes]
    if notes[0].kind in _OF_WAYS:
        whom = "; between ".join(_ways(lines))
    else:
        whom = f"each of {_names([_client(line) for line in lines])}"
    text = kind.replace(_WHOM, whom)
    return f"{text[0].upper()}{text[1:]}."


def _ways(lines: Iterable[Line]) -> list[str]:
    """Return the two ends of each group of links; links that share one end are merged."""
    brokers: dict[int, list[int]] = {}
    clients: dict[str, list[int]] = {}
    for line in lines:
        match line.event:
            case CutLink(one, other) | HealLink(one, other):
                brokers.setdefault(one, []).append(other)
            case _:
                reached = clients.setdefault(_client(line), [])
                if line.broker is not None:
                    reached.append(line.broker)
    return [
        f"{_some('broker', map(str, near))} and {_some('broker', map(str, far))}"
        for far, near in _with_the_same(brokers)
    ] + [
        f"{_some('client', near)} and {_some('broker', map(str, far)) if far else 'brokers'}"
        for far, near in _with_the_same(clients)
    ]


def _with_the_same(
    reached: Mapping[N, Iterable[int]],
) -> Iterable[tuple[tuple[int, ...], list[N]]]:
    """Return pairs: a set of ends, and all the others that are linked to exactly this set."""
    found: dict[tuple[int, ...], list[N]] = {}
    for one, others in sorted(reached.items()):
        found.setdefault(tuple(sorted(others)), []).append(one)
    return found.items()


def _some(noun: str, names: Iterable[str]) -> str:
    """Return `client a` or `clients a, b`; of many only the first few by name. There is no "and"
    in the list, because the caller joins two lists by "and"."""
    known = list(names)
    if len(known) > _MOST:
        return f"{len(known)} {noun}s ({', '.join(known[:3])}, ...)"
    return f"{noun}{'s' if len(known) > 1 else ''} {', '.join(known)}"


def _names(clients: Iterable[str]) -> str:
    known = list(dict.fromkeys(clients))
    if len(known) > _MOST:
        return f"{len(known)} clients ({', '.join(known[:3])}, ...)"
    return listed(known)


def _client(line: Line) -> str:
    return printable(str(line.plain["client"]))
