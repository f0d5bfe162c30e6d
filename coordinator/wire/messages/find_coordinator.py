"""FindCoordinator (key 10): which broker coordinates a group or a transactional id (VER-7).

1: key type, error message. 3: flexible. 4: several keys at once (KIP-699): the single answer's
fields move below `coordinators`. 5: error 120 (KIP-890). 6: share groups (KIP-932).
"""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, int16, int32, int8, string

KEY = 10


class FindCoordinatorRequest(Request, key=KEY, versions=(0, 6), flexible=3):
    key: str = string(until=3, default="")
    key_type: int = int8(since=1, default=0)
    coordinator_keys: list[str] = array(string, since=4, default=())


class Coordinator(Struct):
    key: str = string(since=4, default="")
    node_id: int = int32(since=4, default=0)
    host: str = string(since=4, default="")
    port: int = int32(since=4, default=0)
    error_code: int = int16(since=4, default=0)
    error_message: str | None = string(since=4, nullable=4, default="")


class FindCoordinatorResponse(Response, key=KEY, versions=(0, 6), flexible=3):
    throttle_time_ms: int = int32(since=1, default=0)
    coordinators: list[Coordinator] = array(Coordinator, since=4, default=())
    error_code: int = int16(until=3, default=0)
    error_message: str | None = string(since=1, until=3, nullable=1, default="")
    node_id: int = int32(until=3, default=0)
    host: str = string(until=3, default="")
    port: int = int32(until=3, default=0)
