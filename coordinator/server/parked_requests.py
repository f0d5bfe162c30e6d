"""Requests of one broker that have no answer yet: parked ones, which something else will answer, and
held ones, which go on at an instant or when they are released.

An answer goes to the connection at once; the connection's next request is only queued until
`resume_all`, so that each request is handled to its end before the next begins.
"""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coordinator.wire.schema import Message

    from .requests.call import Encoded, Unread
    from .requests.large_requests import Waiting


class ParkedRequests:
    """The requests that wait, by token."""

    def __init__(self) -> None:
        self._waiting: dict[int, Waiting] = {}
        self._held: list[tuple[int, int]] = []
        """Instants at which held requests go on, with their tokens: a heap."""
        self.resumable: deque[Waiting] = deque()
        """Connections whose request was answered, and that may have more."""

    def __len__(self) -> int:
        return len(self._waiting)

    def all(self) -> Iterable[Waiting]:
        """Return what waits now."""
        return self._waiting.values()

    def park(self, token: int, waiting: Waiting) -> None:
        """Keep a request until it is answered."""
        self._waiting[token] = waiting

    def answer(self, token: int, response: Message | Encoded | Unread, now: int) -> None:
        """Answer a parked request. A token whose connection has closed is ignored."""
        waiting = self._waiting.pop(token, None)
        if waiting is not None:
            waiting.deliver(response, now)
            self.resumable.append(waiting)

    def hold(self, token: int, duration_ms: int | None, waiting: Waiting, now: int) -> None:
        """Hold back a request or an answer for `duration_ms` from `now`, or until `release` if
        None.
        """
        self._waiting[token] = waiting
        if duration_ms is not None:
            heappush(self._held, (now + duration_ms, token))

    def release(self, token: int, now: int) -> bool:
        """Continue a held request. Return False if none is held under the token or its connection
        closed. Call `Broker.run_resumable` afterwards.
        """
        waiting = self._waiting.pop(token, None)
        if waiting is None:
            return False
        waiting.release(now)
        return True

    def forget(self, token: int) -> None:
        """Drop a request whose connection closed."""
        self._waiting.pop(token, None)

    def next_deadline(self) -> int | None:
        """Return the instant at which the first held request goes on, or None."""
        return self._held[0][0] if self._held else None

    def tick(self, now: int) -> None:
        """Continue the held requests whose time is over."""
        while self._held and self._held[0][0] <= now:
            self.release(heappop(self._held)[1], now)

    def resume_all(self, now: int) -> None:
        """Let connections whose request was answered handle their next requests."""
        while self.resumable:
            self.resumable.popleft().resume(now)
