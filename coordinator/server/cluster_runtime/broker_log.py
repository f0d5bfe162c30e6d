"""Event log of one of several group coordinators: each event carries its broker's id.

Connects each event with the batch of the partition's log that stores it, so that a truncation
can name the lost events. Does not know how the log is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coordinator.events import EventLog
    from coordinator.events.availability import AvailabilityEvent
    from coordinator.events.groups import Event

    from .events_log import EventBody


class BrokerLog:
    """`EventSink` of one broker's group coordinator."""

    def __init__(self, log: EventLog, broker: int) -> None:
        self._log = log
        self._broker = broker
        self.appended: EventBody | None = None
        """The last batch that the broker appended; the event that it stores is logged next."""

    @property
    def writable(self) -> bool:
        """True if events can be logged now."""
        return self._log.writable

    def group_event(
        self, group: str, generation: int | None, event: Event, at_ms: int, cause: int | None
    ) -> int:
        """Log one event of a group; return its number in the log."""
        seq = self._log.group_event(group, generation, event, at_ms, cause, self._broker)
        if self.appended is not None:
            self.appended.seq, self.appended = seq, None
        return seq

    def coordinator_event(self, event: AvailabilityEvent, at_ms: int, cause: int | None) -> int:
        """Log one event of the coordinator; return its number in the log."""
        return self._log.coordinator_event(event, at_ms, cause, self._broker)
