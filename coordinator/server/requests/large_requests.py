"""Large requests are handled in slices, one request at a time.

Rules: a request of more than `LARGE_REQUEST_BYTES` is decoded, handled (by a handler that returns
`Sliced`) and its answer encoded in pieces of a fraction of a millisecond; so is an answer of more
than a MiB encoded, whatever its request. When the turn of the driver's loop is over, the rest waits
for the next turn. Of all connections only one has a large request in hand, since a request takes
many times its bytes while it is handled; the others wait with their bytes, in the order in which
they came. Does not depend on connections, sockets, clocks.
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
    """A connection whose one request is parked (`coordinator.server.connections.connection` has the real
    one)."""

    def deliver(self, response: Message | Encoded | Unread, now: int) -> None:
        """Send the parked request's answer."""

    def resume(self, now: int) -> None:
        """Handle what came in meanwhile."""

    def release(self, now: int) -> None:
        """Go on with the request or the answer that an interceptor held."""


class Lane(Generic[T]):
    """Who has a large request in hand, and who waits for that."""

    def __init__(self) -> None:
        self.owner: T | None = None
        self.waiting: OrderedDict[T, None] = OrderedDict()

    def take(self, who: T) -> bool:
        """Begin; False: somebody else is at it, and `who` waits for their turn."""
        if self.owner is None:
            self.owner = who
        elif self.owner is not who:
            self.waiting.setdefault(who)
            return False
        return True

    def leave(self, who: T) -> T | None:
        """Done, or given up. Whose turn it is now, if that changed."""
        self.waiting.pop(who, None)
        if self.owner is not who:
            return None
        self.owner = self.waiting.popitem(last=False)[0] if self.waiting else None
        return self.owner
