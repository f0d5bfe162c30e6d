"""Public: writing an event log, and reading one as plain dictionaries (docs/event_log.md).

    from coordinator.event_log import read

    for line in read("run.jsonl"):
        print(line["at_ms"], line["type"])

The code stands in `coordinator.events`; nothing in the project imports this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.events.files import read_plain as read
from coordinator.events.line import LogError

if TYPE_CHECKING:
    from coordinator.events.writer import EventLog

__all__ = ["EventLog", "LogError", "read"]


def __getattr__(name: str) -> object:
    """PEP 562: reading a log does not load its writer."""
    if name == "EventLog":
        from coordinator.events.writer import EventLog

        return EventLog
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
