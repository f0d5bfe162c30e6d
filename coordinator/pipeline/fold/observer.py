"""Every part of a run's fold: it sees the lines in order and emits rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ...history.reader import History
from ..schemas import Row

Line = dict[str, Any]
Emit = Callable[[str, Row], None]
"""Takes a table's name and a row without its `run_id`, which is the same for the whole run."""


class Observer:
    """Whoever looks at a run. `see` each line of its streams, then `finish` once."""

    streams: ClassVar[frozenset[str] | None] = None
    """None: all."""

    def see(self, line: Line) -> None:
        """One line of its streams."""
        raise NotImplementedError

    def finish(self) -> None:
        """The log has ended: emit what was still open."""


class Subject(Observer):
    """Rows of some tables."""

    tables: ClassVar[tuple[str, ...]] = ()
    """Those that it emits rows of."""

    def __init__(self, emit: Emit, history: History) -> None:
        """`history`: has seen each line before; ask it for what is wanted of it."""
        self.emit = emit
