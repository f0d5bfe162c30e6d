"""LeaveGroup (key 13): remove members from a group (VER-4).

0-2: one member by id. 1: throttle time. 3: several members, also by group instance id, with a
result each (KIP-345). 4: flexible. 5: a reason for each (KIP-800).
"""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, int16, int32, string

KEY = 13


class MemberIdentity(Struct):
    member_id: str = string(since=3, default="")
    group_instance_id: str | None = string(since=3, nullable=3, default=None)
    reason: str | None = string(since=5, nullable=5, default=None)


class LeaveGroupRequest(Request, key=KEY, versions=(0, 5), flexible=4):
    group_id: str = string(default="")
    members: list[MemberIdentity] = array(MemberIdentity, since=3, default=())
    member_id: str = string(until=2, default="")


class MemberResponse(Struct):
    member_id: str = string(since=3, default="")
    group_instance_id: str | None = string(since=3, nullable=3, default="")
    error_code: int = int16(since=3, default=0)


class LeaveGroupResponse(Response, key=KEY, versions=(0, 5), flexible=4):
    throttle_time_ms: int = int32(since=1, default=0)
    error_code: int = int16(default=0)
    members: list[MemberResponse] = array(MemberResponse, since=3, default=())
