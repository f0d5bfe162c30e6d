"""Deeds done on purpose to clients and to brokers: since when nothing has been that could keep a
client from speaking, or an answer from reaching it.

Owns no promise.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from ..verbs.row import ROWS, Hurts, undone_by
from .base import NEVER, Line

_ENDS: Final = undone_by(Hurts.BROKERS, Hurts.CLIENT)
"""The line that ends each, by the line with which it begins."""
_HARMLESS: Final = frozenset({"RunEnded", "FaultSkipped", "JumpMemberClock", "JumpClock"})
_REQUEST_TIMEOUT_MS: Final = 30_000
"""So long does a client wait for an answer that a fault has lost (request.timeout.ms)."""
_JOIN_TIMEOUT_MS: Final = 305_000
"""The same of a JoinGroup (CLI-2), with the usual max.poll.interval.ms or a shorter one."""
_REQUESTS: Final = {"RequestFaultBegan": "RequestFaultEnded"}

LINES: Final = (
    frozenset(kind for row in ROWS.values() for kind in row.lines)
    | {"FaultInjected", "RequestFaultBegan", "RequestFaultEnded", "SnapshotRestored"}
) - _HARMLESS
"""The types of lines that tell of it."""

_BROKERS_ARE_BACK: Final = undone_by(Hurts.BROKERS)
_UNDOES: Final = frozenset(_BROKERS_ARE_BACK.values())
DONE_TO_BROKERS: Final = (
    _UNDOES | _BROKERS_ARE_BACK.keys() | undone_by(Hurts.A_WHILE).keys() | {"SnapshotRestored"}
)
"""The types of lines that tell of what is done to brokers, for as long as it lasts or for a while."""

_Whose = tuple[str, str]
"""A client, "" for brokers or for all requests; and what ends it."""


class Disturbances:
    """As far as a log was seen."""

    def __init__(self) -> None:
        self._lasting: dict[_Whose, int] = {}
        self._last: dict[str, int] = {}

    def see(self, line: Line) -> None:
        """Look at a line of stream `fault`."""
        kind = line["type"]
        if kind in _HARMLESS:
            return
        client = line.get("client") or line.get("client_id") or ""
        after_ms = 0
        if kind == "FaultInjected":
            after_ms = _JOIN_TIMEOUT_MS if line.get("api") == "JoinGroup" else _REQUEST_TIMEOUT_MS
        self._last[client] = max(self._last.get(client, 0), line["at_ms"] + after_ms)
        if kind in _REQUESTS:
            self._count(("", _REQUESTS[kind]), 1)
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
        """Since when nothing has been done to a client, or to brokers; None: something lasts."""
        if any(whose in (client, "") for whose, _ in self._lasting):
            return None
        return max(self._last.get(client, 0), self._last.get("", 0))


class DoneToBrokers:
    """The deeds done to brokers, as far as a log was seen."""

    def __init__(self) -> None:
        self._undone: Counter[str] = Counter()
        self.last_ms = -NEVER
        """When something was done to them, or undone, last."""

    def see(self, kind: str, at_ms: int) -> None:
        """Look at a line of one of the types `DONE_TO_BROKERS`."""
        if kind not in DONE_TO_BROKERS:
            return
        self.last_ms = at_ms
        if kind in _BROKERS_ARE_BACK:
            self._undone[_BROKERS_ARE_BACK[kind]] += 1
        elif kind in _UNDOES and self._undone[kind]:
            self._undone[kind] -= 1

    @property
    def lasts(self) -> bool:
        """True if something was not undone yet."""
        return bool(+self._undone)
