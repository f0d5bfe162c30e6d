"""Start offsets of share groups for administrators (KIP-932, SH-OFF-1, SH-OFF-3): the common part
of DescribeShareGroupOffsets, AlterShareGroupOffsets and DeleteShareGroupOffsets.

Decides which groups may be asked, and the errors for the others. Does not build responses; the
handlers do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.core.groups.share.model import ShareMembership
from coordinator.core.share_states.model import NO_OFFSET, ShareStateKey

if TYPE_CHECKING:
    from .broker import Broker

NO_LAG = -1


class Refusal(NamedTuple):
    """Error and message with which a request about a group is refused as a whole."""

    error: ErrorCode
    message: str


def membership(broker: Broker, group_id: str) -> ShareMembership | None:
    """Return the share group's membership if this broker coordinates a share group of this name,
    else None.
    """
    shard = broker.coordinator.shard_of(group_id)
    found = None if shard is None else shard.groups[group_id].membership
    return found if isinstance(found, ShareMembership) else None


def not_served(broker: Broker, group_id: str) -> Refusal | None:
    """Return a refusal if another broker coordinates the group or this one is loading it, else
    None.
    """
    heart = broker.coordinator
    error = ErrorCode(heart.availability.error(heart.partition_for(group_id)))
    return Refusal(error, error.message) if error else None


def may_not_change(broker: Broker, group_id: str, *, must_be: bool) -> Refusal | None:
    """Return a refusal if the group's start offsets may not be set or deleted now, else None.
    `must_be`: the group has to exist.
    """
    if not group_id:
        return Refusal(ErrorCode.INVALID_GROUP_ID, ErrorCode.INVALID_GROUP_ID.message)
    refused = not_served(broker, group_id)
    if refused is not None:
        return refused
    shard = broker.coordinator.shard_of(group_id)
    known = membership(broker, group_id)
    if shard is not None and known is None:
        return Refusal(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a share group.")
    if known is None and must_be:
        return Refusal(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
    if known is not None and known.members:
        return Refusal(ErrorCode.NON_EMPTY_GROUP, ErrorCode.NON_EMPTY_GROUP.message)
    return None


class StartAndLag(NamedTuple):
    """Start offset of a share partition, its last leader epoch, and its lag in records; -1 if not
    known.
    """

    start_offset: int = NO_OFFSET
    leader_epoch: int = 0
    lag: int = NO_LAG


def start_and_lag(broker: Broker, key: ShareStateKey) -> StartAndLag:
    """Return the stored start of a share partition and its lag behind the log."""
    decision, state = broker.services.shares.persister.summary(key)
    if decision.error or state is None:
        return StartAndLag()
    if state.start_offset == NO_OFFSET:
        return StartAndLag(leader_epoch=state.leader_epoch)
    topic = broker.cluster.topics_by_id.get(key.topic_id)
    if topic is None or state.complete_count < 0:
        return StartAndLag(state.start_offset, state.leader_epoch)
    end = topic.partitions[key.partition].log.high_watermark
    lag = end - state.start_offset - state.complete_count
    return StartAndLag(state.start_offset, state.leader_epoch, lag)
