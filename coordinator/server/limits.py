"""Memory for requests and answers: the limits, and how much is in use at the moment.

Rules: a `Room` counts bytes that connections hold, all together; when it is full, connections wait
in it in their order, and the driver lets them go on when there is room again. It closes nobody.
Does not depend on connections, sockets and clocks.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, Generic, NamedTuple, TypeVar

MIB: Final = 1 << 20
T = TypeVar("T")


class Limits(NamedTuple):
    """Bounds of memory, in bytes. Kafka has no such settings; its queued.max.request.bytes bounds
    what is held of requests."""

    output_bytes: int = 256 * MIB
    """Of answers that clients have not taken yet, all together. Beyond it, answers that may be
    large wait unencoded."""
    response_bytes: int = 100 * MIB
    """Of one answer. A larger one closes its connection."""


MOST_IN_A_FRAME: Final = (1 << 31) - 16
"""A frame's length has 31 bits; its header takes some of what it counts."""
ENCODED_AT_ONCE: Final = MIB
"""An answer of more bytes is encoded in slices."""
UNFINISHED_REQUESTS_BYTES: Final = 256 * MIB
"""Of requests that are held unhandled or unfinished, all together, if queued.max.request.bytes does
not say."""


class Room(Generic[T]):
    """Bytes that are held, and who waits for room. One whose bound is 0 is always full."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0
        self.full = limit <= 0
        self.waiting: OrderedDict[T, None] = OrderedDict()

    def add(self, count: int) -> None:
        """So many bytes more are held; fewer, if negative."""
        self.held += count
        self.full = self.held >= self.limit

    def wait(self, who: T) -> None:
        """Put somebody at the end of those who wait, unless they wait already."""
        self.waiting.setdefault(who)

    def leave(self, who: T) -> None:
        """Somebody waits no longer."""
        self.waiting.pop(who, None)

    def next(self) -> T | None:
        """The first of those who wait, taken out, if there is room; else None."""
        if self.full or not self.waiting:
            return None
        return self.waiting.popitem(last=False)[0]
