"""The emulator's clock, as far as the kit reads and moves it."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """The emulator's clock, as far as it may be moved."""

    def now(self) -> int:
        """Milliseconds since the emulator's zero."""

    def next_deadline(self) -> int | None:
        """When something falls due next."""

    def jump(self, duration_ms: int) -> None:
        """Let so much time have passed; connections have not been idle meanwhile."""

    def tick(self) -> None:
        """Let happen what is due."""
