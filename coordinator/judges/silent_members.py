"""Which members are silent: their process was killed, has ended or is paused, or their way to the
brokers is cut. Heartbeats do not stand in a log, so of other members nothing is known here.

Owns what was done to clients and their links. Does not depend on groups and sessions: whether who
is silent is a member does not matter here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Set
from typing import Final, NamedTuple

from .base import Line

_ENDS: Final = frozenset({"MemberCrashed", "MemberClosed"})
_GOES_ON: Final = frozenset({"MemberResumed", "MemberHealed", "MemberSpedUp"})
_HELD_BACK_MS: Final = 120_000
"""So late may a request arrive that a fault has delayed."""
_FORGOTTEN_MS: Final = 3_600_000
"""Who was in no generation for so long after it fell silent will be in none."""

_Key = tuple[str, str]
"""Group, and client or member id."""


class Silent(NamedTuple):
    """`since_ms`: when it fell silent first, as who is cut off and killed then."""

    line: Line
    client: str
    since_ms: int


class SilentMembers:
    """The silent of each group, `of_group`, by member id."""

    def __init__(self) -> None:
        self.of_group: dict[str, dict[str, Silent]] = {}
        self.heard_late: dict[str, int] = {}
        """Until when something may be heard that a client said long ago, or when it went on."""
        self._clients: dict[_Key, str] = {}
        """The last name of each process, by group and client."""
        self._slowed: Counter[str] = Counter()
        self._cuts: Counter[str] = Counter()
        self._pauses: Counter[str] = Counter()
        """Of each client, how many faults last that slow its links down, that cut them, and that
        pause it."""
        self._held_since: dict[str, int] = {}
        """When each client was paused or cut off that is so still, whether it has an id or not."""
        self._partly: set[str] = set()
        """Clients of which at least one of the lasting cuts leaves a way; also those of which one
        cut or pause is over while another one lasts."""

    def told(self, line: Line, kind: str) -> bool:
        """Look at a line of a member; whether somebody fell silent by it."""
        whose = line["group"], line.get("client", "")
        if kind == "MemberStarted":
            self._clients.pop(whose, None)
        if line.get("member"):
            self._clients[whose] = line["member"]
        if kind not in _ENDS:
            return False
        if whose in self._clients:
            self._falls_silent(line, whose[1], [(whose, self._clients[whose])])
        self._clients.pop(whose, None)
        return True

    def fault(self, line: Line, kind: str) -> bool:
        """Look at a fault; whether it is one of a client."""
        client = line.get("client", "")
        if kind == "FaultInjected":
            self.heard_late[client] = line["at_ms"] + _HELD_BACK_MS
        elif kind == "PauseMember" or (
            kind == "CutMember"
            and line.get("broker") is None
            and line.get("direction") != "from_broker"
        ):
            self._cuts[client] += kind == "CutMember"
            self._pauses[client] += kind == "PauseMember"
            self._held_since.setdefault(client, line["at_ms"])
            self._falls_silent(line, client, self._clients.items())
        elif kind in _GOES_ON:
            self._held_since.pop(client, None)
            self._undo(kind, client)
            self.heard_late[client] = max(line["at_ms"], self.heard_late.get(client, 0))
            for (group, name), member in self._clients.items():
                if name == client:
                    self.speaks(group, member)
        elif kind == "SlowMember":
            self._slowed[client] += 1
        elif kind == "CutMember":
            self._cuts[client] += 1
            self._partly.add(client)
        else:
            return False
        return True

    def _falls_silent(self, line: Line, client: str, items: Iterable[tuple[_Key, str]]) -> None:
        for (of, name), member in items:
            if name == client:
                silent = self.of_group.setdefault(of, {})
                before = silent.get(member)
                since_ms: int = line["at_ms"] if before is None else before.since_ms
                if before is None and client in self._held_since:
                    since_ms = self._held_since[client]
                silent[member] = Silent(line, client, since_ms)

    def _undo(self, kind: str, client: str) -> None:
        """One fault of a client is over; others may last."""
        if kind == "MemberSpedUp":
            self._slowed[client] -= 1
            return
        if kind == "MemberHealed":
            self._cuts[client] -= 1
        else:
            self._pauses[client] -= 1
        if self._cuts[client] > 0 or self._pauses[client] > 0:
            self._partly.add(client)
        else:
            self._partly.discard(client)

    def is_slow(self, client: str) -> bool:
        """May what it said long ago still be on its way?"""
        return self._slowed[client] > 0 or client in self._partly

    def get(self, group: str, member: str) -> Silent | None:
        """Since when a member is silent, if it is."""
        return self.of_group.get(group, {}).get(member)

    def speaks(self, group: str, member: str) -> None:
        """It is silent no longer, or nobody cares any more."""
        self.of_group.get(group, {}).pop(member, None)

    def forget(self, group: str, members: Set[str], now_ms: int) -> None:
        """Forget who is no member, and has been silent for long."""
        silent = self.of_group[group]
        for member in [
            member
            for member, who in silent.items()
            if now_ms > who.line["at_ms"] + _FORGOTTEN_MS and member not in members
        ]:
            del silent[member]
