"""Calls from a test's thread into the emulator, which are made between two requests, and the
emulator's clock as the kit uses it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

T = TypeVar("T")
DEFAULT_TIMEOUT_S = 30.0
"""Seconds that the kit waits for something by default."""


class Runner(Protocol):
    """Function that calls another one between two requests and returns its result; from any
    thread."""

    def __call__(self, function: Callable[[], T], /) -> T: ...


class Clock(Protocol):
    """The emulator's clock, which the kit can move."""

    def now(self) -> int:
        """Return milliseconds since the emulator's zero."""

    def next_deadline(self) -> int | None: ...

    def jump(self, duration_ms: int) -> None:
        """Move the clock forward. Connections do not count as idle for that time."""

    def tick(self) -> None:
        """Fire the timers that are due."""
