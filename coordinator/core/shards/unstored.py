"""Reaction to a generation whose assignments were appended to the group's partition, but not
replicated in time (ERR-2): the leader's SyncGroup gets the error, and the group rebalances.
"""

from __future__ import annotations

from coordinator.base.errors import ErrorCode
from coordinator.events.groups import AssignmentRejected
from coordinator.wire.messages.sync_group import SyncGroupRequest

from ..groups.classic.decide.sync import NOT_STORED
from ..groups.classic.model import ClassicGroup
from ..groups.classic.states import STABLE
from .journal import Effects
from .shard import Shard


def rebalance(shard: Shard, request: SyncGroupRequest, effects: Effects) -> None:
    """Rebalance the group of a leader's SyncGroup, if it is still in that generation and Stable."""
    group = shard.groups[request.group_id]
    if not isinstance(group.membership, ClassicGroup) or group.classic.state is not STABLE:
        return
    if group.classic.generation == request.generation_id and shard.writable():
        before = shard.fold(group, AssignmentRejected(ErrorCode.COORDINATOR_NOT_AVAILABLE), effects)
        shard.rebalance(group, NOT_STORED, effects, before)
