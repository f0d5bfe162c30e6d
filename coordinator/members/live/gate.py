"""Members that start together join together: the last JoinGroup of each waits until all of them are
ready for it.

A broker with an initial rebalance delay (DLY-1) makes one generation of them. One without ends its
first join phase at once, with those whose JoinGroup it has read by then, which no client can
determine; those that are in learn only by their next heartbeat that the others want in. So they
send it early, until all that started together are settled in a second generation. Java clients know
nothing of each other and have no such gate; what each of them sends is the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

LONGEST_S = 1.0
"""A gate opens after this at the latest, whoever is missing."""
_LOOK_S = 0.1
_MOST_LOOKS = 50


class Entrant(Protocol):
    """A member on its way in, as a gate sees it (`Entrant` is one)."""

    ended: bool

    @property
    def generation(self) -> int:
        """-1: none."""

    @property
    def settled(self) -> bool:
        """Stable, and with no reason to join again."""

    def beat_soon(self) -> None:
        """Heartbeat now instead of when it is due."""


class Gate:
    """One group's members on their way in. Those that come before it opens share it; afterwards
    there is another."""

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
        """A member starts; the gate waits for it."""
        self._members.append(peer)
        self._entering.add(peer)

    def wait(self, peer: Entrant, go_on: Callable[[], None]) -> bool:
        """The member is ready for its last JoinGroup. False: there is nothing to wait for; else
        `go_on` is called when it is time."""
        if self.is_open or peer not in self._entering:
            return False
        self._entering.discard(peer)
        self._ready.append(go_on)
        if not self._entering:
            self.open()
        return True

    def leave(self, peer: Entrant) -> None:
        """The member will not come."""
        self._entering.discard(peer)
        if not self._entering:
            self.open()

    def open(self) -> None:
        """Let them in, in the order in which they came."""
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
        """Open the gate if all peers are settled together; else let settled ones ask whether the
        group rebalances."""
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
