"""The wall clocks of brokers' hosts, as the lines of a log tell them: which have jumped, and at
which instant an event is folded.

Owns nothing but sums. Does not depend on what a line means otherwise.
"""

from __future__ import annotations

from typing import Final

from ..groups.events import DATED, Event
from .reader import Line

JUMP: Final = "JumpClock"
"""The type of the lines after which a broker's clock shows something else."""


class Clocks:
    """How far the clock of each broker has jumped so far."""

    def __init__(self) -> None:
        self._ahead_ms: dict[int, int] = {}

    def jump(self, line: Line) -> None:
        """A clock jumps."""
        self._ahead_ms[line["broker"]] = self._ahead_ms.get(line["broker"], 0) + int(line["by_ms"])

    def instant(self, line: Line, event: Event) -> int:
        """The instant at which a group's event is folded: commits are dated by the clock of the
        broker that took them."""
        at_ms: int = line["at_ms"]
        return (
            at_ms + self._ahead_ms.get(line.get("broker", 0), 0)
            if self._ahead_ms and type(event) in DATED
            else at_ms
        )
