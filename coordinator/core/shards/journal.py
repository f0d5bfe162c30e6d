"""The outcome of a call to the coordinator, and where events are written down.

`Effects` collects the events and replies of one call while it is served; `Outcome` is what the
caller gets of it. `EventSink` is where events are written down before replies leave. Values and a
protocol only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from coordinator.events import groups as ev
from coordinator.events.availability import AvailabilityEvent

from ..groups.requests import Reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..groups.share.requests import StateRequest

CoordinatorEvent = ev.Event | AvailabilityEvent


class LoggedEvent(NamedTuple):
    """An event as a log holds it. `group` None: an event of the coordinator, not of a group."""

    at_ms: int
    group: str | None
    event: CoordinatorEvent


class Outcome(NamedTuple):
    """The outcome of a call: the events, by group (None: of the coordinator), in order; the
    replies that may go out now; and what the share coordinator is to be asked then (SH-HB-2)."""

    events: tuple[tuple[str | None, CoordinatorEvent], ...] = ()
    replies: tuple[Reply, ...] = ()
    share_states: tuple[StateRequest, ...] = ()


class EventSink(Protocol):
    """Receiver of events, which are written before the replies to the requests that caused them are
    sent."""

    @property
    def writable(self) -> bool:
        """True if events can be written down now. Where they cannot, nothing may change."""
        ...

    def group_event(
        self, group: str, generation: int | None, event: ev.Event, at_ms: int, cause: int | None
    ) -> int:
        """Append one event of a group, `generation` being the group's after it (None: a consumer
        group); returns its number in the log."""
        ...

    def coordinator_event(self, event: AvailabilityEvent, at_ms: int, cause: int | None) -> int:
        """Append one event of the coordinator; returns its number in the log."""
        ...


class Effects:
    """The effects of one call, in order. `now`, `cause` (the log's number of the request, None:
    time passed) and `sees` (which topics its client may describe, None: all) are those of the
    call."""

    __slots__ = ("cause", "events", "now", "replies", "sees", "share_states")

    def __init__(
        self,
        now: int,
        cause: int | None = None,
        sees: Callable[[str], bool] | None = None,
    ) -> None:
        self.now = now
        self.cause = cause
        self.sees = sees
        self.events: list[tuple[str | None, CoordinatorEvent]] = []
        self.replies: list[Reply] = []
        self.share_states: list[StateRequest] = []

    def outcome(self) -> Outcome:
        """The caller's outcome."""
        return Outcome(tuple(self.events), tuple(self.replies), tuple(self.share_states))
