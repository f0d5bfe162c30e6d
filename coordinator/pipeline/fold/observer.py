"""What every part of a run's fold is: it sees the lines in order and emits rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..schemas import Row

Line = dict[str, Any]
Emit = Callable[[str, Row], None]
"""Takes a table's name and a row without its `run_id`, which is the same for the whole run."""


class Observer:
    """One subject. `see` each line of its streams, then `finish` once."""

    streams: ClassVar[frozenset[str] | None] = None
    """None: all."""
    tables: ClassVar[tuple[str, ...]] = ()
    """Those that it emits rows of."""

    def __init__(self, emit: Emit) -> None:
        self.emit = emit

    def see(self, line: Line) -> None:
        """One line of its streams."""
        raise NotImplementedError

    def finish(self) -> None:
        """The log has ended: emit what was still open."""
