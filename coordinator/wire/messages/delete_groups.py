"""DeleteGroups (key 42): remove empty groups with their offsets (VER-10, KIP-229).

2: flexible. 3: an error message for each group.
"""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, int16, int32, string

KEY = 42


class DeleteGroupsRequest(Request, key=KEY, versions=(0, 3), flexible=2):
    groups_names: list[str] = array(string, default=())


class DeletableGroupResult(Struct):
    group_id: str = string(default="")
    error_code: int = int16(default=0)
    error_message: str | None = string(since=3, nullable=3, default=None)


class DeleteGroupsResponse(Response, key=KEY, versions=(0, 3), flexible=2):
    throttle_time_ms: int = int32(default=0)
    results: list[DeletableGroupResult] = array(DeletableGroupResult, default=())
