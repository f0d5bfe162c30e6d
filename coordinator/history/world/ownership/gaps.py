"""Times in which a partition had no owner although it had one before, by the members' own lines
(`owners.Told`). A partition counts from its first owner on."""

from __future__ import annotations

from collections.abc import Callable

from coordinator.events.line import Line

from .owners import Held, Place, Told


class Gaps:
    """The gaps of all groups in a log: `found` is called with the beginning and the end of each."""

    def __init__(self, found: Callable[[int, int], None]) -> None:
        self._found = found
        self._told = Told(self._held)
        self._free_since: dict[tuple[str, Place], int] = {}

    def see(self, line: Line) -> None:
        """Handle a line of stream `member`."""
        self._told.see(line)

    def finish(self, end_ms: int) -> None:
        """Handle the end of the log: partitions without an owner have none until then."""
        self._told.finish()
        for since_ms in self._free_since.values():
            self._found(since_ms, end_ms)
        self._free_since.clear()

    def _held(self, group: str, place: Place, held: Held, ended: Line | None) -> None:
        since_ms = self._free_since.pop((group, place), None)
        if since_ms is not None:
            self._found(since_ms, held.at_ms)
        if ended is not None:
            self._free_since[group, place] = ended.at_ms
