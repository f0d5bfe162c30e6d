"""Verbs carried out on brokers, links, hosts and members, as notes of the groups that they
concern; also what members log of their own processes, and the verbs that have not been undone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeGuard, TypeVar, get_args

from coordinator.events.faults import (
    MemberHealed,
    MemberResumed,
    MemberSpedUp,
    RequestFaultBegan,
    RequestFaultEnded,
)
from coordinator.events.groups import GroupLoaded, GroupUnloaded
from coordinator.events.line import Line
from coordinator.events.members import (
    ApplicationResumed,
    ApplicationStalled,
    MemberCrashed,
    ProcessEvent,
)
from coordinator.events.vocabulary import TYPES
from coordinator.verbs import ROWS
from coordinator.verbs.brokers import CutClient, HealClient, StopBroker
from coordinator.verbs.members import (
    CutMember,
    JumpMemberClock,
    PauseMember,
    ResetMember,
    SlowMember,
)
from coordinator.verbs.row import Hurts

from .views import GroupView, Note, Trouble

K = TypeVar("K")
_ENDS: Final[Mapping[type, type]] = {
    MemberHealed: CutMember,
    MemberSpedUp: SlowMember,
    MemberResumed: PauseMember,
}
_AGAIN: Final[Mapping[type, type]] = {**_ENDS, ApplicationResumed: ApplicationStalled}
"""The events that end a time of trouble, and those that began it."""
_LASTING: Final[Mapping[type, type]] = {
    row.kind: TYPES["fault", row.undone_by].kind
    for row in ROWS.values()
    if row.undone_by and (row.hurts in (Hurts.BROKERS, Hurts.CLIENT) or row.ended)
}
"""Verbs in force until they are undone, and the class of the event that undoes each; a pace is
undone by the same verb without a number."""
_UNDOING: Final[Mapping[type, type]] = {
    end: kind for kind, end in _LASTING.items() if end is not kind
}
_ABOUT: Final = ("broker", "client", "client_id", "direction")
_LINKED: Final = ("one", "other")
_TROUBLES: Final = frozenset({*_AGAIN.values(), MemberCrashed})
_NESTED: Final = frozenset(row.kind for row in ROWS.values() if row.of_member)
"""Verbs that last until the last of several is over."""
KINDS: Final = frozenset({*(row.kind for row in ROWS.values()), *_ENDS, *get_args(ProcessEvent)})
"""Classes of the events handled here: verbs and their ends, and members' lines about their own
processes."""


def client_of(event: object) -> str | None:
    """Return the client id that an event of `KINDS` concerns, or None if it concerns no client."""
    match event:
        case CutClient(client_id) | HealClient(client_id):
            return client_id
        case CutMember() | SlowMember() | PauseMember() | ResetMember() | JumpMemberClock():
            return event.member
        case MemberHealed() | MemberSpedUp() | MemberResumed():
            return event.client
        case _ if isinstance(event, ProcessEvent):
            return event.client
        case _:
            return None


class Deeds:
    """`reads`: returns True if a group reads a topic."""

    def __init__(self, reads: Callable[[GroupView, str], bool]) -> None:
        self._reads = reads
        self._troubles: dict[str, Trouble] = {}
        self._standing: dict[tuple[object, ...], list[Line]] = {}
        self._request_faults: dict[str, list[Line]] = {}

    def standing(self) -> list[Line]:
        """Return the lines of verbs, and of faults of requests, that have not been undone."""
        lasting = [*self._standing.values(), *self._request_faults.values()]
        return sorted((lines[-1] for lines in lasting), key=lambda line: line.seq)

    def request_fault(self, line: Line) -> None:
        """Handle the beginning or the end of a fault of requests."""
        event = line.event
        if isinstance(event, RequestFaultBegan):
            self._request_faults.setdefault(event.fault, []).append(line)
        elif isinstance(event, RequestFaultEnded):
            _pop(self._request_faults, event.fault)

    def _stand(self, line: Line) -> None:
        kind = _UNDOING.get(line.kind, line.kind)
        if kind not in _LASTING:
            return
        plain = line.plain
        about = (kind, *(plain.get(name) for name in _ABOUT))
        key = (*about, *sorted(plain[name] for name in _LINKED if name in plain))
        if _LASTING[kind] is kind:  # a pace: the last one counts
            self._standing.pop(key, None)
            if any(plain.get(name) for name in ROWS[line.name].further):
                self._standing[key] = [line]
        elif line.kind is kind:
            self._standing.setdefault(key, []).append(line)
        else:
            _pop(self._standing, key)

    def follow(self, groups: Iterable[GroupView], line: Line) -> None:
        """Handle one line of `KINDS`."""
        self._stand(line)
        client = client_of(line.event)
        if client is not None:
            self._trouble(client, line)
        for group in groups:
            is_there = group.state != "Dead" or group.given_up_as
            if is_there and self._concerns(group, line, client):
                _put(group, line, client)

    def trouble(self, client: str, at_ms: int) -> Trouble | None:
        """Return the trouble of a client at an instant, or None."""
        known = self._troubles.get(client)
        if known is None or known.since_ms > at_ms:
            return None
        return known if known.until_ms is None or known.until_ms >= at_ms else None

    def started(self, client: str) -> None:
        """Note that a member's process began: the trouble of a former one with its name is over."""
        self._troubles.pop(client, None)

    def _trouble(self, client: str, line: Line) -> None:
        kind, at_ms, known = line.kind, line.at_ms, self._troubles.get(client)
        if known is not None and known.until_ms is None and kind is known.kind and kind in _NESTED:
            self._troubles[client] = known._replace(times=known.times + 1)
        elif kind in _TROUBLES:
            self._troubles[client] = Trouble(kind, at_ms, seq=line.seq, client=client)
        elif known is not None and _AGAIN.get(kind) is known.kind:
            left = known.times - 1
            until = at_ms if left < 1 else None
            self._troubles[client] = known._replace(until_ms=until, times=left)

    def _concerns(self, group: GroupView, line: Line, client: str | None) -> bool:
        if client is not None:
            return client in group.clients
        if line.group:
            return line.group == group.group
        if line.topic:
            return self._reads(group, line.topic)
        return bool(group.clients)


def _pop(standing: dict[K, list[Line]], key: K) -> None:
    """Remove the latest of equal verbs."""
    lines = standing.get(key, [])
    if lines:
        lines.pop()
    if not lines:
        standing.pop(key, None)


def _put(group: GroupView, line: Line, client: str | None) -> None:
    """Add a verb's note before the notes of its immediate consequences: its line is written
    after theirs."""
    note = group.note(line, [client] if client is not None else [])
    former, until_ms = group.handed_over
    led = {group.coordinator, former if until_ms == line.at_ms else None} - {None}
    note.coordinates = line.broker in led
    entries = group.entries
    at = len(entries) - 1
    event = line.event
    killed = isinstance(event, StopBroker) and event.how == "crash"
    while at and _came_of_it(before := entries[at - 1], line.at_ms):
        at -= 1
        if killed and before.kind is GroupUnloaded:
            before.crashed = before.line.broker in (None, line.broker)
    entries.insert(at, entries.pop())


def _came_of_it(entry: object, at_ms: int) -> TypeGuard[Note]:
    return isinstance(entry, Note) and entry.at_ms == at_ms and entry.kind in _LOADS


_LOADS: Final = frozenset({GroupUnloaded, GroupLoaded})
