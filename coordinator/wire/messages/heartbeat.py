"""Heartbeat (key 12): keep a member's session alive, and find out whether the group rebalances
(VER-3).

1: throttle time. 3: group instance id (KIP-345). 4: flexible.
"""

from __future__ import annotations

from ..schema import Request, Response, int16, int32, string

KEY = 12


class HeartbeatRequest(Request, key=KEY, versions=(0, 4), flexible=4):
    group_id: str = string(default="")
    generation_id: int = int32(default=0)
    member_id: str = string(default="")
    group_instance_id: str | None = string(since=3, nullable=3, default=None)


class HeartbeatResponse(Response, key=KEY, versions=(0, 4), flexible=4):
    throttle_time_ms: int = int32(since=1, default=0)
    error_code: int = int16(default=0)
