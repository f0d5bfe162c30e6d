"""Interface to the event log, and the outcome of a call to the coordinator.

`Effects` collects the events and replies of one call while it is served; `Outcome` is returned
to the caller. `EventSink` logs events before replies are sent. Values and a protocol only.
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
    """An event as in a log. `group` None: an event of the coordinator, not of a group."""

    at_ms: int
    group: str | None
    event: CoordinatorEvent


class Outcome(NamedTuple):
    """Result of a call: the events by group (None: of the coordinator) in order, the replies to
    send, and the requests to send to the share coordinator afterwards (SH-HB-2).
    """

    events: tuple[tuple[str | None, CoordinatorEvent], ...] = ()
    replies: tuple[Reply, ...] = ()
    share_states: tuple[StateRequest, ...] = ()


class EventSink(Protocol):
    """Receiver of events, which are logged before the replies to the requests that caused them are
    sent.
    """

    @property
    def writable(self) -> bool:
        """True if events can be logged now; if not, nothing may change."""
        ...

    def group_event(
        self, group: str, generation: int | None, event: ev.Event, at_ms: int, cause: int | None
    ) -> int:
        """Log one event of a group; return its number in the log. `generation`: the group's after
        the event (None: a consumer or share group).
        """
        ...

    def coordinator_event(self, event: AvailabilityEvent, at_ms: int, cause: int | None) -> int:
        """Log one event of the coordinator; return its number in the log."""
        ...


class Effects:
    """Effects of one call, in order. `now`: the call's time; `cause`: the log's number of the
    request (None: a timer); `sees`: whether the client may describe a topic (None: all).
    """

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
        """Return the outcome for the caller."""
        return Outcome(tuple(self.events), tuple(self.replies), tuple(self.share_states))
