"""Large requests: handled in slices, one at a time.

A request of more than `LARGE_REQUEST_BYTES` is decoded, handled (by a handler that returns
`Sliced`) and answered in slices of a fraction of a millisecond; a response of more than a MiB is
encoded in slices whatever its request. When the turn of the driver's loop is over, the rest
waits for the next turn. Only one connection at a time processes a large request, for that takes
many times its bytes of memory; others wait with their bytes, in order of arrival. Does not know
connections, sockets or clocks.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from coordinator.wire.schema import Message

    from .call import Encoded, Unread

T = TypeVar("T")
LARGE_REQUEST_BYTES: Final = 1 << 16
"""A request of so many bytes can be a hundred thousand objects."""


class Waiting(Protocol):
    """Interface of a connection with a parked request (`server.connections.connection`)."""

    def deliver(self, response: Message | Encoded | Unread, now: int) -> None:
        """Send the parked request's answer."""

    def resume(self, now: int) -> None:
        """Handle requests received meanwhile."""

    def release(self, now: int) -> None:
        """Continue a request or an answer that an interceptor held."""


class Lane(Generic[T]):
    """The connection that processes a large request, and the queue of those that wait to."""

    def __init__(self) -> None:
        self.owner: T | None = None
        self.waiting: OrderedDict[T, None] = OrderedDict()

    def take(self, who: T) -> bool:
        """Start a large request; return False if another one is in progress, and queue."""
        if self.owner is None:
            self.owner = who
        elif self.owner is not who:
            self.waiting.setdefault(who)
            return False
        return True

    def leave(self, who: T) -> T | None:
        """Leave the lane or its queue. Return the next connection if it gets the lane now."""
        self.waiting.pop(who, None)
        if self.owner is not who:
            return None
        self.owner = self.waiting.popitem(last=False)[0] if self.waiting else None
        return self.owner
