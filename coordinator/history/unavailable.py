"""For how long partitions had no owner although they had one before, by the members' own word.

A partition counts from its first owner on, whenever no member's application has it. What the
members were told is `owners.Told`.
"""

from __future__ import annotations

from ..event_log.reader import Line
from .owners import Held, Place, Told


class Unavailable:
    """All groups of a log: `see` its lines of stream `member`, then `finish` once."""

    def __init__(self) -> None:
        self.partition_ms = 0
        """The sum over partitions."""
        self.longest_ms = 0
        self._told = Told(self._held)
        self._free_since: dict[tuple[str, Place], int] = {}

    def see(self, line: Line) -> None:
        """A line of stream `member`."""
        self._told.see(line)

    def finish(self, end_ms: int) -> None:
        """The log has ended."""
        self._told.finish()
        for since_ms in self._free_since.values():
            self._count(end_ms - since_ms)
        self._free_since.clear()

    def _held(self, group: str, place: Place, held: Held, ended: Line | None) -> None:
        since_ms = self._free_since.pop((group, place), None)
        if since_ms is not None:
            self._count(held.at_ms - since_ms)
        if ended is not None:
            self._free_since[group, place] = ended["at_ms"]

    def _count(self, length_ms: int) -> None:
        self.partition_ms += length_ms
        self.longest_ms = max(self.longest_ms, length_ms)
