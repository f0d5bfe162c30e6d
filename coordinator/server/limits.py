"""Limits on the memory for requests and answers, and the bytes in use.

A `Room` counts the bytes that all connections hold together. While it is full, connections wait
in order; the driver resumes them when there is room. No connection is closed for it. Does not
know connections, sockets or clocks.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, Generic, NamedTuple, TypeVar

MIB: Final = 1 << 20
T = TypeVar("T")


class Limits(NamedTuple):
    """Bounds of memory in bytes. Kafka has no such settings; its queued.max.request.bytes bounds
    the memory for requests.
    """

    output_bytes: int = 256 * MIB
    """Bound for all answers that clients have not received yet. Beyond it, answers that may be
    large wait unencoded.
    """
    response_bytes: int = 100 * MIB
    """Bound for one answer. A larger one closes its connection."""


MOST_IN_A_FRAME: Final = (1 << 31) - 16
"""The most bytes in a frame. Its length has 31 bits, and its header takes some of them."""
ENCODED_AT_ONCE: Final = MIB
"""An answer of more bytes is encoded in slices."""
UNFINISHED_REQUESTS_BYTES: Final = 256 * MIB
"""Of requests that are held unhandled or unfinished, all together, if queued.max.request.bytes does
not say."""


class Room(Generic[T]):
    """Count of the bytes held, and the queue of those that wait for room. With a limit of 0 it is
    always full.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0
        self.full = limit <= 0
        self.waiting: OrderedDict[T, None] = OrderedDict()

    def add(self, count: int) -> None:
        """Add to the bytes held; a negative count releases them."""
        self.held += count
        self.full = self.held >= self.limit

    def wait(self, who: T) -> None:
        """Append a waiter to the queue unless it is queued already."""
        self.waiting.setdefault(who)

    def leave(self, who: T) -> None:
        """Remove a waiter from the queue, if it is there."""
        self.waiting.pop(who, None)

    def next(self) -> T | None:
        """If there is room, remove and return the first waiter; else return None."""
        if self.full or not self.waiting:
            return None
        return self.waiting.popitem(last=False)[0]
