"""DescribeGroups (key 15): state and members of classic groups (VER-8).

1: throttle time. 3: authorised operations (KIP-430). 4: group instance ids (KIP-345). 5: flexible.
6: an unknown group is an error, with a message (KIP-1043); before, it is described as Dead.
"""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, binary, boolean, int16, int32, string

KEY = 15


class DescribeGroupsRequest(Request, key=KEY, versions=(0, 6), flexible=5):
    groups: list[str] = array(string, default=())
    include_authorized_operations: bool = boolean(since=3, default=False)


class DescribedGroupMember(Struct):
    member_id: str = string(default="")
    group_instance_id: str | None = string(since=4, nullable=4, default=None)
    client_id: str = string(default="")
    client_host: str = string(default="")
    member_metadata: bytes = binary(default=b"")
    member_assignment: bytes = binary(default=b"")


class DescribedGroup(Struct):
    error_code: int = int16(default=0)
    error_message: str | None = string(since=6, nullable=6, default=None)
    group_id: str = string(default="")
    group_state: str = string(default="")
    protocol_type: str = string(default="")
    protocol_data: str = string(default="")
    members: list[DescribedGroupMember] = array(DescribedGroupMember, default=())
    authorized_operations: int = int32(since=3, default=-2147483648)


class DescribeGroupsResponse(Response, key=KEY, versions=(0, 6), flexible=5):
    throttle_time_ms: int = int32(since=1, default=0)
    groups: list[DescribedGroup] = array(DescribedGroup, default=())
