"""Heartbeat (A.6): proves life and tells of a rebalance. It never changes the group."""

from __future__ import annotations

from ...errors import ErrorCode
from ...wire.messages.heartbeat import HeartbeatRequest
from ..model import Group
from ..states import DEAD, EMPTY, PREPARING_REBALANCE
from .membership import refuse_membership


def decide_heartbeat(group: Group, request: HeartbeatRequest) -> tuple[ErrorCode, bool]:
    """The error code (NONE: all is well) and whether the member's session is renewed (HB-1, HB-2, HB-3)."""
    if group.state is DEAD:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE, False
    error = refuse_membership(group, request.member_id, request.group_instance_id)
    if error:
        return error, False
    if request.generation_id != group.generation:
        return ErrorCode.ILLEGAL_GENERATION, False
    if group.state is EMPTY:
        return ErrorCode.UNKNOWN_MEMBER_ID, False
    if group.state is PREPARING_REBALANCE:
        return ErrorCode.REBALANCE_IN_PROGRESS, True
    return ErrorCode.NONE, True
