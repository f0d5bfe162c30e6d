"""Common part of requests that wait for other replicas.

Owns the waiting of one request: each of its partitions waits until its result is known; those
without a result at the deadline get REQUEST_TIMED_OUT. `ParkedFetches` parks it beside fetches.
The condition and the result of a partition are a subclass's (`delayed_produce`,
`delayed_deletion`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from coordinator.base.errors import ErrorCode

if TYPE_CHECKING:
    from coordinator.wire.schema import Message

    from ..broker import Broker
    from ..requests.call import Call, Encoded


class Awaited(Protocol):
    """One partition of a waiting request. `answer`: its part of the response, with an `error_code`."""

    @property
    def topic(self) -> str: ...
    @property
    def partition(self) -> int: ...
    @property
    def answer(self) -> Any: ...


A = TypeVar("A", bound=Awaited)


class Delayed(Generic[A]):
    """One waiting request. `respond` builds the response from the partitions' answers, which are
    filled in here.
    """

    def __init__(
        self,
        broker: Broker,
        call: Call,
        timeout_ms: int,
        awaited: Iterable[A],
        respond: Callable[[], Message | Encoded],
    ) -> None:
        self.token = call.token
        self.deadline_ms = call.now + timeout_ms
        self._broker = broker
        self._waiting: dict[tuple[str, int], list[A]] = {}
        for each in awaited:
            self._waiting.setdefault((each.topic, each.partition), []).append(each)
        self._respond = respond
        self.partitions = list(self._waiting)

    def ready(self, woken: tuple[str, int] | None = None) -> bool:
        """Return True if the result of every partition is known. A request may wait for thousands
        of partitions, so only `woken` is checked; None: all of them.
        """
        waiting = self._waiting
        for partition in list(waiting) if woken is None else [woken]:
            left = [each for each in waiting.pop(partition, ()) if not self._told(each)]
            if left:
                waiting[partition] = left
        return not waiting

    def complete(self, now: int) -> None:
        """Answer the request; partitions without a result get REQUEST_TIMED_OUT."""
        self.ready()
        for each in chain.from_iterable(self._waiting.values()):
            each.answer.error_code = ErrorCode.REQUEST_TIMED_OUT
        self._broker.parked.answer(self.token, self._respond(), now)

    @abstractmethod
    def _told(self, awaited: A) -> bool:
        """Write the partition's result into its answer, if it is known; return whether it is."""
