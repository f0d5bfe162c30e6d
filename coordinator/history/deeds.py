"""What was done to brokers, links, hosts and members on purpose, and to whom it mattered: each verb's
line, and what members say of their own processes, as notes of the groups that they concern.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeGuard

from ..event_log.reader import Line
from ..verbs import ROWS
from .views import GroupView, Note, Trouble

_ENDS: Final[Mapping[str, str]] = {
    row.undone_by: row.name for row in ROWS.values() if len(row.lines) > 1
}
_OF_PROCESSES: Final = frozenset(
    {"MemberCrashed", "MemberFailed", "ApplicationStalled", "ApplicationResumed"}
)
_AGAIN: Final[Mapping[str, str]] = {**_ENDS, "ApplicationResumed": "ApplicationStalled"}
"""The end of a time of trouble, and what began it."""
_TROUBLES: Final = frozenset({*_AGAIN.values(), "MemberCrashed"})
_NESTED: Final = frozenset(name for name, row in ROWS.items() if row.of_member)
"""Verbs lasting until the last of several is over."""
KINDS: Final = frozenset({*(kind for row in ROWS.values() for kind in row.lines), *_OF_PROCESSES})
"""Types of the lines that are followed here."""


class Deeds:
    """`reads`: whether a group reads a topic."""

    def __init__(self, reads: Callable[[GroupView, str], bool]) -> None:
        self._reads = reads
        self._troubles: dict[str, Trouble] = {}

    def follow(self, groups: Iterable[GroupView], line: Line) -> None:
        """Fold one line of `KINDS`."""
        kind, client = line["type"], line.get("client", line.get("client_id"))
        if client is not None:
            self._trouble(str(client), kind, line)
        for group in groups:
            is_there = group.state != "Dead" or group.given_up_as
            if is_there and self._concerns(group, line, client):
                _put(group, line, client)

    def trouble(self, client: str, at_ms: int) -> Trouble | None:
        """The trouble of a client at an instant."""
        known = self._troubles.get(client)
        if known is None or known.since_ms > at_ms:
            return None
        return known if known.until_ms is None or known.until_ms >= at_ms else None

    def started(self, line: Line) -> None:
        """A member's process began: what another one of its name went through is over."""
        self._troubles.pop(line["client"], None)

    def _trouble(self, client: str, kind: str, line: Line) -> None:
        at_ms, known = line["at_ms"], self._troubles.get(client)
        if known is not None and known.until_ms is None and kind == known.kind in _NESTED:
            self._troubles[client] = known._replace(times=known.times + 1)
        elif kind in _TROUBLES:
            self._troubles[client] = Trouble(kind, at_ms, seq=line["seq"], client=client)
        elif known is not None and _AGAIN.get(kind) == known.kind:
            left = known.times - 1
            until = at_ms if left < 1 else None
            self._troubles[client] = known._replace(until_ms=until, times=left)

    def _concerns(self, group: GroupView, line: Line, client: object) -> bool:
        if client is not None:
            return client in group.clients
        if line.get("group"):
            return bool(line["group"] == group.group)
        if line.get("topic"):
            return self._reads(group, line["topic"])
        return bool(group.clients)


def _put(group: GroupView, line: Line, client: object) -> None:
    """Add a verb's note before what came of it at once: its line is written when it is done."""
    note = group.note(line, [str(client)] if client is not None else [])
    former, until_ms = group.handed_over
    led = {group.coordinator, former if until_ms == line["at_ms"] else None} - {None}
    note.coordinates = line.get("broker") in led
    entries = group.entries
    at = len(entries) - 1
    killed = line["type"] == "StopBroker" and line["how"] == "crash"
    while at and _came_of_it(before := entries[at - 1], line["at_ms"]):
        at -= 1
        if killed and before.kind == "GroupUnloaded":
            before.crashed = before.line.get("broker") in (None, line["broker"])
    entries.insert(at, entries.pop())


def _came_of_it(entry: object, at_ms: int) -> TypeGuard[Note]:
    return isinstance(entry, Note) and entry.at_ms == at_ms and entry.kind in _LOADS


_LOADS: Final = frozenset({"GroupUnloaded", "GroupLoaded"})
