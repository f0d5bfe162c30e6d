"""The event log: one JSON Lines file that a run can be understood, replayed and drawn from
(docs/event_log.md).

`EventLog` writes it; `read` yields its lines as plain dictionaries and needs nothing else;
`coordinator.event_log.replay` gives group events back as the groups' own values;
`coordinator.history.timeline` and `.sentences` explain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .reader import LogError, read

if TYPE_CHECKING:
    from .writer import EventLog

__all__ = ["EventLog", "LogError", "read"]


def __getattr__(name: str) -> object:
    """PEP 562: the writer knows the groups' events, so it is loaded only when it is asked for."""
    if name == "EventLog":
        from .writer import EventLog

        return EventLog
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
