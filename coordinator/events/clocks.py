"""The wall clocks of the brokers' hosts, as the lines of a log show them: how far each has jumped,
and the instant at which an event is folded.
"""

from __future__ import annotations

from coordinator.verbs.brokers import JumpClock

from .groups import DATED
from .line import Line


class Clocks:
    """Wall clocks of brokers, with how far each has jumped so far."""

    def __init__(self) -> None:
        self._ahead_ms: dict[int, int] = {}

    def jump(self, verb: JumpClock) -> None:
        """Move a broker's clock."""
        self._ahead_ms[verb.broker] = self._ahead_ms.get(verb.broker, 0) + verb.by_ms

    def instant(self, line: Line) -> int:
        """Return the instant at which a group's event is folded: commits are dated by the clock of
        the broker that took them."""
        if self._ahead_ms and line.kind in DATED:
            return line.at_ms + self._ahead_ms.get(line.broker or 0, 0)
        return line.at_ms
