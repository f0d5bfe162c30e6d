"""What a live member's application was told: every callback is kept, with its generation and instant, and passed on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from assignors import TopicPartition

if TYPE_CHECKING:
    from ..effects import RebalanceListener
    from .peer import Peer

Partitions = tuple[TopicPartition, ...]


class Callback(NamedTuple):
    """One callback of the application's listener. `kind`: revoked, assigned or lost; `at_ms`: since the fleet's zero."""

    kind: str
    partitions: tuple[TopicPartition, ...]
    generation: int
    at_ms: int


class Recorder:
    """Stands between a member and its application's listener, if there is one."""

    __slots__ = ("_listener", "_peer", "callbacks")

    def __init__(self, peer: Peer, listener: RebalanceListener | None) -> None:
        self._peer = peer
        self._listener = listener
        self.callbacks: list[Callback] = []

    def on_partitions_revoked(self, partitions: Partitions) -> None:
        """See RebalanceListener."""
        self._record("revoked", partitions)
        if self._listener is not None:
            self._listener.on_partitions_revoked(partitions)

    def on_partitions_assigned(self, partitions: Partitions) -> None:
        """See RebalanceListener."""
        self._record("assigned", partitions)
        if self._listener is not None:
            self._listener.on_partitions_assigned(partitions)

    def on_partitions_lost(self, partitions: Partitions) -> None:
        """See RebalanceListener."""
        self._record("lost", partitions)
        if self._listener is not None:
            self._listener.on_partitions_lost(partitions)

    def _record(self, kind: str, partitions: Partitions) -> None:
        self.callbacks.append(Callback(kind, partitions, self._peer.generation, self._peer.now_ms))
