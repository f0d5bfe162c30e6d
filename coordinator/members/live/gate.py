"""Gate that lets members which start together join together: the last JoinGroup of each waits until
all are ready to send it.

A broker with an initial rebalance delay (DLY-1) makes one generation of them. A broker without
ends its first join phase at once, with the members whose JoinGroup has arrived, which no client
can determine; those members learn only by their next heartbeat that others want to join. So they
heartbeat early, until all that started together are settled in one later generation. Java
clients have no such gate; each of them sends the same requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

LONGEST_S = 1.0
"""The longest time for which a gate stays closed."""
_LOOK_S = 0.1
_MOST_LOOKS = 50


class Entrant(Protocol):
    """Interface of a joining member for the gate (`Peer` is one)."""

    ended: bool

    @property
    def generation(self) -> int:
        """The generation; -1: none."""

    @property
    def settled(self) -> bool:
        """True if it is Stable and has no reason to rejoin."""

    def beat_soon(self) -> None:
        """Send the next heartbeat now."""


class Gate:
    """Members of one group that start together. Members that start after it has opened get another
    gate.
    """

    __slots__ = ("_entering", "_looks", "_loop", "_members", "_opened", "_ready", "is_open")

    def __init__(self, loop: asyncio.AbstractEventLoop, opened: Callable[[], None]) -> None:
        self._loop = loop
        self._members: list[Entrant] = []
        self._entering: set[Entrant] = set()
        self._ready: list[Callable[[], None]] = []
        self._opened = opened
        self._looks = 0
        self.is_open = False
        loop.call_later(LONGEST_S, self.open)

    def enter(self, peer: Entrant) -> None:
        """Add a starting member, for which the gate waits."""
        self._members.append(peer)
        self._entering.add(peer)

    def wait(self, peer: Entrant, go_on: Callable[[], None]) -> bool:
        """Note that the member is ready for its last JoinGroup. Return False if it need not wait;
        else `go_on` is called when the gate opens.
        """
        if self.is_open or peer not in self._entering:
            return False
        self._entering.discard(peer)
        self._ready.append(go_on)
        if not self._entering:
            self.open()
        return True

    def leave(self, peer: Entrant) -> None:
        """Remove a member that will not join."""
        self._entering.discard(peer)
        if not self._entering:
            self.open()

    def open(self) -> None:
        """Let the members go on, in the order in which they became ready."""
        if self.is_open:
            return
        self.is_open = True
        self._opened()
        ready, self._ready = self._ready, []
        self._entering.clear()
        for go_on in ready:
            go_on()
        if len(self._members) > 1:
            self._loop.call_later(_LOOK_S, self._look)

    def _look(self) -> None:
        """End the checks if all peers are settled together; else let settled ones heartbeat, to
        learn whether the group rebalances.
        """
        here = [peer for peer in self._members if not peer.ended]
        latest = max((peer.generation for peer in here), default=-1)
        settled = all(peer.settled and peer.generation == latest for peer in here)
        self._looks += 1
        if settled or self._looks > _MOST_LOOKS:
            self._members.clear()
            return
        for peer in here:
            if peer.settled:
                peer.beat_soon()
        self._loop.call_later(_LOOK_S, self._look)
