"""Bounds within which the connections of one broker share its loop and its memory.

One loop serves everybody. A connection that has done enough in this turn of the loop is postponed, so
that the others come first; large requests have one lane, and bytes that wait to be read or to be sent
are counted against a limit.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from .limits import ENCODED_AT_ONCE, MOST_IN_A_FRAME, UNFINISHED_REQUESTS_BYTES, Limits, Room
from .requests.large_requests import Lane, Waiting

if TYPE_CHECKING:
    from collections.abc import Callable

    from .settings.broker_configs import BrokerConfigs

_WOKEN_A_TURN = 64
"""So many parked fetches are read and answered in one turn of the driver's loop, and so many
connections find room."""


def _never() -> bool:
    return False


class Turns:
    """The loop's turns and the memory of one broker's connections."""

    def __init__(self, configs: BrokerConfigs, limits: Limits) -> None:
        self.max_request_bytes: int = configs.get_int("socket.request.max.bytes")
        self.most_response_bytes = min(limits.response_bytes, MOST_IN_A_FRAME)
        self.encoded_at_once = min(self.most_response_bytes, ENCODED_AT_ONCE)
        self.output: Room[Waiting] = Room(limits.output_bytes)
        """The backlog of answers not taken by clients yet. The driver counts; connections wait in
        it."""
        queued = configs.get_int("queued.max.request.bytes")
        self.input: Room[Waiting] = Room(queued if queued > 0 else UNFINISHED_REQUESTS_BYTES)
        """Bytes connections keep of requests that are not handled yet. Connections count."""
        self.lane: Lane[Waiting] = Lane()
        """The lane of large requests: one connection at a time has one in progress."""
        self.is_over: Callable[[], bool] = _never
        """The driver's: whether this turn of its loop has taken so long that other connections
        should come first."""
        self.postponed: deque[Waiting] = deque()
        """Connections that had their turn and have more to do: `next` lets them go on."""
        self.woken = 0
        """Parked fetches that were completed in this turn."""

    def postpone(self, waiting: Waiting) -> None:
        """Postpone a connection that has done enough in this turn until `next`."""
        self.postponed.append(waiting)

    def may_wake(self) -> bool:
        """Count one more parked fetch that is completed in this turn; return False if the turn's
        bound is exceeded.
        """
        self.woken += 1
        return self.woken <= _WOKEN_A_TURN

    @property
    def wanted(self) -> bool:
        """True if connections wait for `next`. The driver calls that soon, after it has served its
        other connections.
        """
        return bool(self.postponed) or (bool(self.output.waiting) and not self.output.full)

    def next(self, now: int) -> None:
        """Resume the connections that were postponed in the last turn, and a few that wait for room
        for their answers.
        """
        for _ in range(len(self.postponed)):
            self.postponed.popleft().resume(now)
            if self.is_over():
                break
        for _ in range(_WOKEN_A_TURN):
            first = self.output.next()
            if first is None:
                break
            first.resume(now)
            if self.is_over():
                break
