"""Client side of the share coordinator, for group coordinators and leaders of share partitions.

Owns the choice of the broker: the leader of the state's partition of `__share_group_state`, by
this broker's metadata. Does not know requests or the stored values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from coordinator.base.errors import ErrorCode
from coordinator.core.share_states.decide import refused

from ..cluster.internal_topics import partition_for
from ..cluster.model import SHARE_GROUP_STATE
from .host import alone

if TYPE_CHECKING:
    from coordinator.core.share_states.decide import Decision, Written
    from coordinator.core.share_states.model import ShareState, ShareStateKey

    from .host import ShareCoordinator, ShareHost, Stored

NOBODY: Final = refused(ErrorCode.NOT_COORDINATOR)
"""The response if there is no share coordinator to ask."""


class Persister:
    """Access of one broker to the share coordinators of its cluster, its own included."""

    def __init__(self, broker: ShareHost) -> None:
        self._broker = broker
        self._peers = broker.share_peers or alone(broker)

    def initialize(
        self,
        key: ShareStateKey,
        state_epoch: int,
        start_offset: int,
        now: int,
        cause: int | None = None,
    ) -> Decision:
        """Initialize the state of a share partition. Start offset -1: its leader chooses it."""
        states = self._reached(key)
        if states is None:
            return NOBODY
        return states.initialize(key, state_epoch, start_offset, now, cause)

    def read(
        self, key: ShareStateKey, leader_epoch: int, now: int, cause: int | None = None
    ) -> tuple[Decision, ShareState | None]:
        """Return the state, for a leader of this epoch."""
        states = self._reached(key)
        return (NOBODY, None) if states is None else states.read(key, leader_epoch, now, cause)

    def write(
        self, key: ShareStateKey, written: Written, now: int, cause: int | None = None
    ) -> tuple[Decision, Stored | None]:
        """Store a leader's change. Return the share coordinator's decision, and its write if that
        is not replicated yet.
        """
        states = self._reached(key)
        if states is None:
            return NOBODY, None
        decision = states.write(key, written, now, cause)
        return decision, None if decision.event is None else states.unreplicated(key)

    def delete(self, key: ShareStateKey, now: int, cause: int | None = None) -> Decision:
        """Delete the state of a share partition."""
        states = self._reached(key)
        return NOBODY if states is None else states.delete(key, now, cause)

    def summary(self, key: ShareStateKey) -> tuple[Decision, ShareState | None]:
        """Return the state for reading only, without a leader epoch."""
        states = self._reached(key)
        return (NOBODY, None) if states is None else states.summary(key)

    def _reached(self, key: ShareStateKey) -> ShareCoordinator | None:
        """Return the share coordinator of a state, if it can be reached."""
        broker = self._broker
        index = partition_for(broker.configs, SHARE_GROUP_STATE, key.for_coordinator)
        known = broker.cluster.partition(SHARE_GROUP_STATE, index)
        leader = None if known is None else self._peers.reached(broker.node_id, known.leader)
        return None if leader is None else leader.services.share_coordinator
