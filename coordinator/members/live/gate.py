"""Members that start together join together: the last JoinGroup of each waits until all of them are ready for it.

Without this a broker with no initial rebalance delay makes a first generation of whoever came first, and those learn only by their
next heartbeat that the others want in. Java clients know nothing of each other and have no such gate; what each of them sends is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

    from .peer import Peer

LONGEST_S = 1.0
"""A gate opens after this at the latest, whoever is missing."""


class Gate:
    """One group's members on their way in. Those that come while it is open share it; afterwards there is another."""

    __slots__ = ("_entering", "_opened", "_ready", "is_open")

    def __init__(self, loop: asyncio.AbstractEventLoop, opened: Callable[[], None]) -> None:
        self._entering: set[Peer] = set()
        self._ready: list[Callable[[], None]] = []
        self._opened = opened
        self.is_open = False
        loop.call_later(LONGEST_S, self.open)

    def enter(self, peer: Peer) -> None:
        """A member starts; the gate waits for it."""
        self._entering.add(peer)

    def wait(self, peer: Peer, go_on: Callable[[], None]) -> bool:
        """The member is ready for its last JoinGroup. False: there is nothing to wait for; else `go_on` is called when it is time."""
        if self.is_open or peer not in self._entering:
            return False
        self._entering.discard(peer)
        self._ready.append(go_on)
        if not self._entering:
            self.open()
        return True

    def leave(self, peer: Peer) -> None:
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
