"""Disturbances by verbs: since when no client and no broker has been disturbed, so that requests
and responses are in time.

This module has no judge; judges of time use it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from coordinator.events.faults import (
    FaultInjected,
    FaultSkipped,
    MemberHealed,
    MemberResumed,
    MemberSpedUp,
    RequestFaultBegan,
    RequestFaultEnded,
    RunEnded,
    SnapshotRestored,
)
from coordinator.events.handlers import Reader, on
from coordinator.events.vocabulary import TYPES
from coordinator.verbs.brokers import CutClient, HealClient, JumpClock
from coordinator.verbs.members import (
    CutMember,
    JumpMemberClock,
    PauseMember,
    ResetMember,
    SlowMember,
)
from coordinator.verbs.row import ROWS, Hurts, undone_by

from .base import NEVER, Line

Kind = type[Any]
"""A class of events of stream `fault`."""


def ends_of(*hurts: Hurts, of_member: bool | None = None) -> dict[Kind, Kind]:
    """Return the event that ends each verb that hurts these. `of_member`: only verbs for
    members, or only the others."""
    found = undone_by(*hurts, of_member=of_member)
    return {TYPES["fault", name].kind: TYPES["fault", end].kind for name, end in found.items()}


def client_of(event: object) -> str:
    """Return the client id of a fault, or "" if it names none."""
    match event:
        case FaultInjected() | MemberHealed() | MemberResumed() | MemberSpedUp():
            return event.client
        case CutMember() | SlowMember() | PauseMember() | ResetMember() | JumpMemberClock():
            return event.member
        case CutClient() | HealClient():
            return event.client_id
    return ""


_ENDS: Final = ends_of(Hurts.BROKERS, Hurts.CLIENT)
_REQUEST_TIMEOUT_MS: Final = 30_000
"""A client's wait for a response that a fault has lost (request.timeout.ms)."""
_JOIN_TIMEOUT_MS: Final = 305_000
"""The same for a JoinGroup (CLI-2), with the default max.poll.interval.ms or a shorter one."""

NOTHING_DONE: Final = frozenset[Kind]({RunEnded, FaultSkipped})
"""Events of stream `fault` that disturb nothing."""
DISTURBS: Final = (
    frozenset[Kind](TYPES["fault", name].kind for row in ROWS.values() for name in row.lines)
    | {FaultInjected, RequestFaultBegan, RequestFaultEnded, SnapshotRestored}
) - {JumpMemberClock, JumpClock}
"""Events that may prevent a client's requests or their responses."""

_BROKERS_ARE_BACK: Final = ends_of(Hurts.BROKERS)
_UNDOES: Final = frozenset(_BROKERS_ARE_BACK.values())
DONE_TO_BROKERS: Final = (
    _UNDOES | _BROKERS_ARE_BACK.keys() | ends_of(Hurts.A_WHILE).keys() | {SnapshotRestored}
)
"""Verbs on brokers that prolong waits, until they are undone or for a while."""

_Whose = tuple[str, Kind]
"""A client, or "" for brokers or all requests, and the event that ends the disturbance."""


class Disturbances(Reader):
    """Disturbances as far as the log has been read."""

    def __init__(self) -> None:
        self._lasting: dict[_Whose, int] = {}
        self._last: dict[str, int] = {}

    @on(*DISTURBS)
    def _done(self, line: Line, event: object) -> None:
        kind, client = line.kind, client_of(event)
        after_ms = 0
        if isinstance(event, FaultInjected):
            after_ms = _JOIN_TIMEOUT_MS if event.api == "JoinGroup" else _REQUEST_TIMEOUT_MS
        self._last[client] = max(self._last.get(client, 0), line.at_ms + after_ms)
        if kind is RequestFaultBegan:
            self._count(("", RequestFaultEnded), 1)
        elif self._lasting.get((client, kind), 0) > 0:
            self._count((client, kind), -1)
        elif kind in _ENDS:
            self._count((client, _ENDS[kind]), 1)

    def _count(self, whose: _Whose, by: int) -> None:
        left = self._lasting.get(whose, 0) + by
        if left:
            self._lasting[whose] = left
        else:
            self._lasting.pop(whose, None)

    def calm_since(self, client: str) -> int | None:
        """Return the instant since which neither a client nor brokers have been disturbed; None
        if a disturbance lasts."""
        if any(whose in (client, "") for whose, _ in self._lasting):
            return None
        return max(self._last.get(client, 0), self._last.get("", 0))


class DoneToBrokers(Reader):
    """Disturbances of brokers as far as the log has been read."""

    def __init__(self) -> None:
        self._undone: Counter[Kind] = Counter()
        self.last_ms = -NEVER
        """The instant when brokers were last disturbed, or a disturbance of them was undone."""

    @on(*DONE_TO_BROKERS)
    def _done(self, line: Line, _: object) -> None:
        kind = line.kind
        self.last_ms = line.at_ms
        if kind in _BROKERS_ARE_BACK:
            self._undone[_BROKERS_ARE_BACK[kind]] += 1
        elif kind in _UNDOES and self._undone[kind]:
            self._undone[kind] -= 1

    @property
    def lasts(self) -> bool:
        """Return True if a disturbance has not been undone yet."""
        return bool(+self._undone)
