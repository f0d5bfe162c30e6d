"""Throttling of a connection whose client exceeds a quota: its answer contains the throttle time,
and nothing is read from it for that long (QUO-1, KIP-219). Does not know how usage is measured.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Protocol

from coordinator.events.wire import ClientThrottled
from coordinator.wire.messages import response_type

from ..apis import SERVED
from ..client_links import THROTTLED
from ..requests.call import Encoded

if TYPE_CHECKING:
    from coordinator.events import EventLog
    from coordinator.wire.schema import Message

    from ..requests.call import Call, Unread
    from ..throttling import Throttling

_PRODUCE, _FETCH = 0, 1
_CHANGES_OF_TOPICS = frozenset({19, 20, 37})
"""CreateTopics, DeleteTopics, CreatePartitions: their handlers know how long their client waits."""


class _Pausable(Protocol):
    def unpause(self, now: int, why: int) -> None:
        """Remove one reason for the pause, and continue if it was the last."""


class Throttled:
    """Entry for a throttled connection among the broker's held requests."""

    __slots__ = ("_connection",)

    def __init__(self, connection: _Pausable) -> None:
        self._connection = connection

    def release(self, now: int) -> None:
        """Read from the connection again: the throttle time is over."""
        self._connection.unpause(now, THROTTLED)

    def deliver(self, response: Message | Encoded | Unread, now: int) -> None:
        """Never called: no answer is awaited."""
        raise NotImplementedError

    def resume(self, now: int) -> None:
        """Do nothing: no request waits."""


def measured(throttling: Throttling, call: Call, size: int, response: Any) -> tuple[int, Any]:
    """Charge a request of `size` bytes to its client's quotas. Return the throttle time in ms, and
    the answer that contains it. `response` None: the request gets no answer (acks=0).
    """
    key = type(call.message).api_key
    if key == _FETCH:  # its handler has measured it, and knows
        return getattr(response, "throttle_time_ms", 0), response
    waits = 0 if response is None else throttling.asked(call)
    if key == _PRODUCE:
        waits = max(waits, throttling.produced(call, size))
    elif key in _CHANGES_OF_TOPICS:
        waits = max(waits, getattr(response, "throttle_time_ms", 0))
    if not waits or response is None:
        return waits, response
    if isinstance(response, Encoded):
        response = response_type(key).decode(call.version, response.body)
    telling = copy(response)
    if hasattr(telling, "throttle_time_ms"):
        telling.throttle_time_ms = waits
    return waits, telling


def note(log: EventLog | None, call: Call, waits: int, now: int) -> None:
    """Log that a client is throttled."""
    if log is not None and log.writable:
        api = SERVED[type(call.message).api_key].name
        log.append(
            ClientThrottled(call.principal, api, waits, call.client_id, call.peer),
            at_ms=now,
            cause=call.cause,
        )
