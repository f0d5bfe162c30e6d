"""The vocabulary of the event log: every event of every stream as one class, and the lines that
hold them (docs/event_log.md).

Begin with `groups/classic.py` (the events of a classic group) and `line.py` (the parts of a
line). `vocabulary` has the types of all streams, derived from the classes; `writer` writes
lines, `reader` reads them from text, `files` opens and reads log files, `unwritten` hands lines
on without making text of them. A new event is a class in the module of its stream, and a name in
that module's union.

Imports base and verbs: most events of stream `fault` are verbs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .line import Line, LogError
    from .writer import EventLog

__all__ = ["EventLog", "Line", "LogError"]


def __getattr__(name: str) -> object:
    """Load `EventLog`, `Line` or `LogError` at first use (PEP 562): coordinators without a log load
    only the event classes, not the code that writes or reads lines.
    """
    if name == "EventLog":
        from .writer import EventLog

        return EventLog
    if name in ("Line", "LogError"):
        from . import line

        return getattr(line, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
