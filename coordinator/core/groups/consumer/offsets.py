"""Rules of a consumer group's membership for committing and fetching offsets (K8-OFF-1, K8-OFF-2,
KIP-1251).
"""

from __future__ import annotations

from collections.abc import Callable

from coordinator.base.errors import ErrorCode

from .model import ConsumerMembership, Member

PartitionCheck = Callable[[bytes, int], ErrorCode]
"""(topic id, partition) -> NONE, or why an older epoch may not commit it."""

_EPOCHS_SINCE = 9
"""Members of the consumer protocol commit with this version or a later one."""
_TRANSACTIONAL_EPOCHS_SINCE = 6
"""From this version TxnOffsetCommit knows member epochs (V44-5, KIP-1319)."""


def check_commit(
    group: ConsumerMembership,
    member_id: str,
    instance_id: str | None,
    epoch: int,
    *,
    transactional: bool,
    api_version: int,
    older_epochs: bool,
) -> tuple[ErrorCode, PartitionCheck | None]:
    """Return the error of a commit, or NONE; with an older epoch also a check that decides each
    partition. `older_epochs`: the release accepts older epochs (K8-OFF-43-1).
    """
    if epoch < 0 and not group.members:
        return ErrorCode.NONE, None
    if transactional and epoch == -1 and not member_id and instance_id is None:
        return ErrorCode.NONE, None
    member = group.members.get(member_id)
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID, None
    if not transactional and member.classic is None and api_version < _EPOCHS_SINCE:
        return ErrorCode.UNSUPPORTED_VERSION, None
    if epoch == member.member_epoch:
        return ErrorCode.NONE, None
    stale = stale_error(member, transactional and api_version < _TRANSACTIONAL_EPOCHS_SINCE)
    if epoch > member.member_epoch or not older_epochs:
        return stale, None
    return ErrorCode.NONE, lambda topic_id, partition: _check_partition(
        member, epoch, topic_id, partition, stale
    )


def stale_error(member: Member, by_generation: bool = False) -> ErrorCode:
    """Return the error for a wrong epoch, for a member of either protocol. `by_generation`: the
    request has generations only.
    """
    return (
        ErrorCode.ILLEGAL_GENERATION
        if by_generation or member.classic is not None
        else ErrorCode.STALE_MEMBER_EPOCH
    )


def _check_partition(
    member: Member, epoch: int, topic_id: bytes, partition: int, stale: ErrorCode
) -> ErrorCode:
    held = member.held.get(topic_id, {}).get(partition)
    if held is None:
        held = member.revoking.get(topic_id, {}).get(partition)
    return stale if held is None or epoch < held else ErrorCode.NONE


def check_fetch(group: ConsumerMembership, member_id: str | None, epoch: int) -> ErrorCode:
    """Return the error of an OffsetFetch with this member id and epoch, or NONE (K8-OFF-2)."""
    if member_id is None:
        return ErrorCode.NONE if epoch < 0 else ErrorCode.UNKNOWN_SERVER_ERROR
    member = group.members.get(member_id)
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    return ErrorCode.NONE if epoch == member.member_epoch else stale_error(member)
