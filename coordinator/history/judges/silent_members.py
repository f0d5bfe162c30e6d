"""Members that are known to be silent: their process was killed, has ended or is paused, or their
connection to the brokers is cut. Heartbeats are not logged, so nothing is known here of other
members.

Follows what was done to clients and their links. It must not depend on groups and sessions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Set
from typing import Final, NamedTuple

from coordinator.events.faults import FaultInjected, MemberHealed, MemberResumed, MemberSpedUp
from coordinator.events.members import MemberClosed, MemberCrashed, MemberEvent, MemberStarted
from coordinator.verbs.members import CutMember, PauseMember, SlowMember

from .base import Line

_HELD_BACK_MS: Final = 120_000
"""Longest delay in ms of a request that a fault holds back."""
_FORGOTTEN_MS: Final = 3_600_000
"""A client that has been silent for so long without being in a generation will not be in one."""

_Key = tuple[str, str]
"""Group, and client or member id."""


class Silent(NamedTuple):
    """`since_ms`: the first instant of silence, for example if a client is first cut off and
    then killed."""

    line: Line
    client: str
    since_ms: int


class SilentMembers:
    """The silent members of each group, `of_group`, by member id."""

    def __init__(self) -> None:
        self.of_group: dict[str, dict[str, Silent]] = {}
        self.heard_late: dict[str, int] = {}
        """For each client the instant until which a request that it sent long ago may still
        arrive, or at which it was resumed."""
        self._clients: dict[_Key, str] = {}
        """The last member id of each process, by group and client."""
        self._slowed: Counter[str] = Counter()
        self._cuts: Counter[str] = Counter()
        self._pauses: Counter[str] = Counter()
        """For each client the number of faults in force that slow its links, cut them, and pause
        it."""
        self._held_since: dict[str, int] = {}
        """For each client that is paused or cut off now, the instant at which that began,
        whether it has a member id or not."""
        self._partly: set[str] = set()
        """Clients that are only partly cut: at least one of the cuts leaves a way; also those of
        which one cut or pause is over while another lasts."""

    def told(self, line: Line, group: str, event: MemberEvent) -> bool:
        """Handle an event of a group's member; return True if a member fell silent by it."""
        whose = group, event.client
        if isinstance(event, MemberStarted):
            self._clients.pop(whose, None)
        if line.member:
            self._clients[whose] = line.member
        if not isinstance(event, MemberCrashed | MemberClosed):
            return False
        if whose in self._clients:
            self._falls_silent(line, whose[1], [(whose, self._clients[whose])])
        self._clients.pop(whose, None)
        return True

    def fault(self, line: Line, event: object) -> bool:
        """Handle a fault; return True if it concerns a client."""
        match event:
            case FaultInjected(client=client):
                self.heard_late[client] = line.at_ms + _HELD_BACK_MS
            case PauseMember(member=client):
                self._pauses[client] += 1
                self._held(line, client)
            case CutMember(member=client):
                self._cuts[client] += 1
                if event.broker is None and event.direction != "from_broker":
                    self._held(line, client)
                else:
                    self._partly.add(client)
            case MemberResumed() | MemberHealed() | MemberSpedUp():
                self._goes_on(line, event)
            case SlowMember(member=client):
                self._slowed[client] += 1
            case _:
                return False
        return True

    def _held(self, line: Line, client: str) -> None:
        self._held_since.setdefault(client, line.at_ms)
        self._falls_silent(line, client, self._clients.items())

    def _goes_on(self, line: Line, event: MemberResumed | MemberHealed | MemberSpedUp) -> None:
        client = event.client
        self._held_since.pop(client, None)
        self._undo(event, client)
        self.heard_late[client] = max(line.at_ms, self.heard_late.get(client, 0))
        for (group, name), member in self._clients.items():
            if name == client:
                self.speaks(group, member)

    def _falls_silent(self, line: Line, client: str, items: Iterable[tuple[_Key, str]]) -> None:
        for (of, name), member in items:
            if name == client:
                silent = self.of_group.setdefault(of, {})
                before = silent.get(member)
                since_ms: int = line.at_ms if before is None else before.since_ms
                if before is None and client in self._held_since:
                    since_ms = self._held_since[client]
                silent[member] = Silent(line, client, since_ms)

    def _undo(self, event: MemberResumed | MemberHealed | MemberSpedUp, client: str) -> None:
        """One fault of a client is undone; others may last."""
        if isinstance(event, MemberSpedUp):
            self._slowed[client] -= 1
            return
        if isinstance(event, MemberHealed):
            self._cuts[client] -= 1
        else:
            self._pauses[client] -= 1
        if self._cuts[client] > 0 or self._pauses[client] > 0:
            self._partly.add(client)
        else:
            self._partly.discard(client)

    def is_slow(self, client: str) -> bool:
        """Return True if a request that the client sent long ago may still be in flight."""
        return self._slowed[client] > 0 or client in self._partly

    def is_held(self, client: str) -> bool:
        """Return True if the client is paused or cut off."""
        return client in self._held_since

    def get(self, group: str, member: str) -> Silent | None:
        """Return since when a member is silent, or None."""
        return self.of_group.get(group, {}).get(member)

    def speaks(self, group: str, member: str) -> None:
        """Forget a member that gives a sign of life, or whose silence does not matter any more."""
        self.of_group.get(group, {}).pop(member, None)

    def forget(self, group: str, members: Set[str], now_ms: int) -> None:
        """Forget clients that are no members and have been silent for long."""
        silent = self.of_group[group]
        for member in [
            member
            for member, who in silent.items()
            if now_ms > who.line.at_ms + _FORGOTTEN_MS and member not in members
        ]:
            del silent[member]
