"""The vocabulary of the event log: every event of every stream as one class, and the lines that hold
them (docs/event_log.md).

Begin with `groups/classic.py` (what can happen to a group) and `line.py` (what a line is).
`vocabulary` has the types of all streams, derived from the classes; `writer` writes lines, `reader`
reads them from text, `files` from and to files, `unwritten` hands them on without text. A new event
is a class in the module of its stream, and a name in that module's union.

Imports base and verbs: most events of stream `fault` are verbs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .line import Line, LogError
    from .writer import EventLog

__all__ = ["EventLog", "Line", "LogError"]


def __getattr__(name: str) -> object:
    """PEP 562: coordinators without a log load the events, and none of what writes or reads
    them."""
    if name == "EventLog":
        from .writer import EventLog

        return EventLog
    if name in ("Line", "LogError"):
        from . import line

        return getattr(line, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
