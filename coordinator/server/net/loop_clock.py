"""The clock of an emulator, and what its timer drives.

The clock counts whole milliseconds of an event loop's time since a zero, which may be moved into
the past. All servers of an emulator share one. It does not depend on who arms timers by it.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop
from typing import Protocol


class LoopClock:
    """Milliseconds since it was made."""

    __slots__ = ("_loop", "_zero", "turn_began")

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop
        self._zero = loop.time()
        self.turn_began = 0
        """When the loop's present piece of work began: one connection's requests, a timer's, or a
        round of work that waited."""

    def now(self) -> int:
        """This instant."""
        return int((self._loop.time() - self._zero) * 1000)

    def loop_time(self, at_ms: int) -> float:
        """The loop's own time at an instant."""
        return self._zero + at_ms / 1000

    def jump(self, duration_ms: int) -> None:
        """From now on it is so much later."""
        self._zero -= duration_ms / 1000


class Runtime(Protocol):
    """The timer's target: one broker, or all brokers of a cluster together."""

    def next_deadline(self) -> int | None:
        """The instant at which `tick` has something to do."""

    def wake_by(self) -> int | None:
        """An instant no later than that, for less work: when the timer has to fire at the
        latest."""

    def tick(self, now: int) -> None:
        """Do what has fallen due."""

    def run_resumable(self, now: int) -> None:
        """Let freed connections go on."""
