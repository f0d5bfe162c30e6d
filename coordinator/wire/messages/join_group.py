"""JoinGroup (key 11): join a group or its next generation; parked until the join phase ends
(VER-1).

1: rebalance timeout (before: the session timeout, ENT-7). 2: throttle time. 4: the coordinator
assigns a member id first (KIP-394). 5: group instance id (KIP-345). 6: flexible. 7: protocol
type in the response, null protocol name allowed (KIP-559). 8: reason (KIP-800). 9: the response
may tell the leader to skip the assignment (KIP-814).
"""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, binary, boolean, int16, int32, string

KEY = 11


class JoinGroupRequestProtocol(Struct):
    name: str = string(default="")
    metadata: bytes = binary(default=b"")


class JoinGroupRequest(Request, key=KEY, versions=(0, 9), flexible=6):
    group_id: str = string(default="")
    session_timeout_ms: int = int32(default=0)
    rebalance_timeout_ms: int = int32(since=1, default=-1)
    member_id: str = string(default="")
    group_instance_id: str | None = string(since=5, nullable=5, default=None)
    protocol_type: str = string(default="")
    protocols: list[JoinGroupRequestProtocol] = array(JoinGroupRequestProtocol, default=())
    reason: str | None = string(since=8, nullable=8, default=None)


class JoinGroupResponseMember(Struct):
    member_id: str = string(default="")
    group_instance_id: str | None = string(since=5, nullable=5, default=None)
    metadata: bytes = binary(default=b"")


class JoinGroupResponse(Response, key=KEY, versions=(0, 9), flexible=6, bounded=False):
    throttle_time_ms: int = int32(since=2, default=0)
    error_code: int = int16(default=0)
    generation_id: int = int32(default=-1)
    protocol_type: str | None = string(since=7, nullable=7, default=None)
    protocol_name: str | None = string(nullable=7, default="")
    leader: str = string(default="")
    skip_assignment: bool = boolean(since=9, default=False)
    member_id: str = string(default="")
    members: list[JoinGroupResponseMember] = array(JoinGroupResponseMember, default=())
