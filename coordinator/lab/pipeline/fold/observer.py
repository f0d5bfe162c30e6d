"""The base class of the parts of a run's fold: each sees the lines in order and emits rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from coordinator.events.handlers import Reader
from coordinator.events.line import Line
from coordinator.history.world.world import World

from ..schemas import Row

Emit = Callable[[str, Row], None]
"""Function that takes a table's name and a row without its `run_id`, which is the same for the
whole run."""


class Observer(Reader):
    """A reader of one run. `subscribe` first, `see` each line that counts and that it looks at, then
    `finish` once."""

    def subscribe(self, world: World) -> None:
        """Ask for changes of the run's world, which has seen each line before; by default for none."""

    def looks_at(self, line: Line) -> bool:
        """Return True if this observer handles a line; by default, if it has a handler for the
        line's kind."""
        return line.kind in self.handlers

    def finish(self) -> None:
        """Handle the end of the log: emit what is still open."""


class Subject(Observer):
    """Rows of some tables."""

    tables: ClassVar[tuple[str, ...]] = ()
    """The tables whose rows are emitted."""

    def __init__(self, emit: Emit) -> None:
        self.emit = emit
