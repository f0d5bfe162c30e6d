"""Recorder of a live member's callbacks: each is kept with its generation and instant, and passed
on to the application's listener.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from assignors import TopicPartition

if TYPE_CHECKING:
    from ..effects import RebalanceListener

Partitions = tuple[TopicPartition, ...]


class Callback(NamedTuple):
    """One callback of the application's listener. `kind`: revoked, assigned or lost; `at_ms`: since
    the fleet's zero.
    """

    kind: str
    partitions: tuple[TopicPartition, ...]
    generation: int
    at_ms: int


class Recorder:
    """Listener between a member and its application's listener, if any.

    `when` returns the member's generation and the fleet's time; `called` is called with each
    callback before the listener.
    """

    __slots__ = ("_called", "_listener", "_when", "callbacks")

    def __init__(
        self,
        when: Callable[[], tuple[int, int]],
        listener: RebalanceListener | None,
        called: Callable[[Callback], None],
    ) -> None:
        self._when = when
        self._listener = listener
        self._called = called
        self.callbacks: list[Callback] = []

    def on_partitions_revoked(self, partitions: Partitions) -> None:
        self._record("revoked", partitions)
        if self._listener is not None:
            self._listener.on_partitions_revoked(partitions)

    def on_partitions_assigned(self, partitions: Partitions) -> None:
        self._record("assigned", partitions)
        if self._listener is not None:
            self._listener.on_partitions_assigned(partitions)

    def on_partitions_lost(self, partitions: Partitions) -> None:
        self._record("lost", partitions)
        if self._listener is not None:
            self._listener.on_partitions_lost(partitions)

    def _record(self, kind: str, partitions: Partitions) -> None:
        generation, at_ms = self._when()
        callback = Callback(kind, partitions, generation, at_ms)
        self.callbacks.append(callback)
        self._called(callback)
