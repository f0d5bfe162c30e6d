"""SyncGroup (key 14): the leader sends the assignment, and every member gets its own; parked until
the leader has sent it (VER-2).

1: throttle time. 3: group instance id (KIP-345). 4: flexible. 5: protocol type and name, checked
by the coordinator (KIP-559).
"""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, binary, int16, int32, string

KEY = 14


class SyncGroupRequestAssignment(Struct):
    member_id: str = string(default="")
    assignment: bytes = binary(default=b"")


class SyncGroupRequest(Request, key=KEY, versions=(0, 5), flexible=4):
    group_id: str = string(default="")
    generation_id: int = int32(default=0)
    member_id: str = string(default="")
    group_instance_id: str | None = string(since=3, nullable=3, default=None)
    protocol_type: str | None = string(since=5, nullable=5, default=None)
    protocol_name: str | None = string(since=5, nullable=5, default=None)
    assignments: list[SyncGroupRequestAssignment] = array(SyncGroupRequestAssignment, default=())


class SyncGroupResponse(Response, key=KEY, versions=(0, 5), flexible=4):
    throttle_time_ms: int = int32(since=1, default=0)
    error_code: int = int16(default=0)
    protocol_type: str | None = string(since=5, nullable=5, default=None)
    protocol_name: str | None = string(since=5, nullable=5, default=None)
    assignment: bytes = binary(default=b"")
