"""Requests that wait for other replicas: what waiting is the same for all of them.

Owns the waiting of one request: its partitions, each until it can be told what became of it; those
that are left get REQUEST_TIMED_OUT when its time is over. `ParkedFetches` keeps it, beside the
fetches. What a partition waits for, and what it is told, are a subclass's (`delayed_produce`,
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
    """A partition of a request that waits. `answer`: its part of the response, which has an
    `error_code`."""

    @property
    def topic(self) -> str: ...
    @property
    def partition(self) -> int: ...
    @property
    def answer(self) -> Any: ...


A = TypeVar("A", bound=Awaited)


class Delayed(Generic[A]):
    """One request that waits. `respond` makes its response from the answers, which are written to
    here."""

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
        """True if every partition can be told. A request may wait for thousands: only `woken` is
        looked at, None: each of them."""
        waiting = self._waiting
        for partition in list(waiting) if woken is None else [woken]:
            left = [each for each in waiting.pop(partition, ()) if not self._told(each)]
            if left:
                waiting[partition] = left
        return not waiting

    def complete(self, now: int) -> None:
        """Answer; what is still waiting has timed out."""
        self.ready()
        for each in chain.from_iterable(self._waiting.values()):
            each.answer.error_code = ErrorCode.REQUEST_TIMED_OUT
        self._broker.answer(self.token, self._respond(), now)

    @abstractmethod
    def _told(self, awaited: A) -> bool:
        """Write into a partition's answer what became of it; False if it has to wait longer."""
