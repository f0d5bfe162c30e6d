"""Clock of an emulator, and the interface of the object that its timer drives.

The clock counts whole milliseconds of the event loop's time since a zero, which a jump moves
into the past. All servers of an emulator share one.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop
from typing import Protocol


class LoopClock:
    """Clock that counts milliseconds since it was created."""

    __slots__ = ("_loop", "_zero", "turn_began")

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop
        self._zero = loop.time()
        self.turn_began = 0
        """The start of the loop's current piece of work: the requests of one connection, a timer's
        call, or a round of postponed work."""

    def now(self) -> int:
        """Return the current instant in ms."""
        return int((self._loop.time() - self._zero) * 1000)

    def loop_time(self, at_ms: int) -> float:
        """Return the loop's time in seconds at an instant."""
        return self._zero + at_ms / 1000

    def jump(self, duration_ms: int) -> None:
        """Move the clock forward."""
        self._zero -= duration_ms / 1000


class Runtime(Protocol):
    """Interface of the timer's target: one broker, or all brokers of a cluster."""

    def next_deadline(self) -> int | None:
        """Return the instant at which `tick` is due, or None."""

    def wake_by(self) -> int | None:
        """Return an instant no later than `next_deadline` that is cheaper to compute: the latest
        instant at which the timer must fire.
        """

    def tick(self, now: int) -> None:
        """Run the timers that are due."""

    def run_resumable(self, now: int) -> None:
        """Let connections whose parked request was answered continue."""
