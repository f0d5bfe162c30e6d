"""Who a request comes from: the check that Join, Sync, Heartbeat, Leave and OffsetCommit share (VAL-1)."""

from __future__ import annotations

from ...errors import ErrorCode
from ..model import Group


def refuse_membership(group: Group, member_id: str, group_instance_id: str | None) -> ErrorCode:
    """NONE if the request's member is one of the group; else UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID (VAL-1, STA-6).

    A static member that leaves its instance id out is accepted on the member id alone.
    """
    if group_instance_id is not None:
        current = group.static_members.get(group_instance_id)
        if current is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if current != member_id:
            return ErrorCode.FENCED_INSTANCE_ID
    return ErrorCode.NONE if member_id in group.members else ErrorCode.UNKNOWN_MEMBER_ID
