"""The event log as one of several group coordinators writes it: each line says which broker's it
is.

Owns which line belongs to which batch of the partition's log, so that it can be told which lines a
later leader had not. Does not depend on how lines are written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coordinator.events import EventLog
    from coordinator.events.availability import AvailabilityEvent
    from coordinator.events.groups import Event

    from .events_log import EventBody


class BrokerLog:
    """An `EventSink` of one broker's group coordinator."""

    def __init__(self, log: EventLog, broker: int) -> None:
        self._log = log
        self._broker = broker
        self.appended: EventBody | None = None
        """The last batch that the broker appended: a durable event's line follows it."""

    @property
    def writable(self) -> bool:
        """True if events can be written down now."""
        return self._log.writable

    def group_event(
        self, group: str, generation: int | None, event: Event, at_ms: int, cause: int | None
    ) -> int:
        """Append one event of a group; returns its number in the log."""
        seq = self._log.group_event(group, generation, event, at_ms, cause, self._broker)
        if self.appended is not None:
            self.appended.seq, self.appended = seq, None
        return seq

    def coordinator_event(self, event: AvailabilityEvent, at_ms: int, cause: int | None) -> int:
        """Append one event of the coordinator; returns its number in the log."""
        return self._log.coordinator_event(event, at_ms, cause, self._broker)
