"""Times in which a partition had no owner although it had one before, by the members' own lines
(`owners.Told`). A partition counts from its first owner on."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from coordinator.events.line import Line

from .owners import Owned, Place, Told


class WithoutOwner(NamedTuple):
    """A time in which a partition had no owner, in ms."""

    since_ms: int
    to_ms: int


class Gaps:
    """The gaps of all groups in a log: `found` is called with each."""

    def __init__(self, found: Callable[[WithoutOwner], object]) -> None:
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
            self._found(WithoutOwner(since_ms, end_ms))
        self._free_since.clear()

    def _held(self, one: Owned) -> None:
        key = one.group, one.place
        since_ms = self._free_since.pop(key, None)
        if since_ms is not None:
            self._found(WithoutOwner(since_ms, one.began.at_ms))
        if one.ended is not None:
            self._free_since[key] = one.ended.at_ms
