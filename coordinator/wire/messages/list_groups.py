"""ListGroups (key 16): the groups of this coordinator (VER-9).

1: throttle time. 3: flexible. 4: states, and a filter on them (KIP-518). 5: types, and a filter on
them (KIP-848).
"""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, int16, int32, string

KEY = 16


class ListGroupsRequest(Request, key=KEY, versions=(0, 5), flexible=3):
    states_filter: list[str] = array(string, since=4, default=())
    types_filter: list[str] = array(string, since=5, default=())


class ListedGroup(Struct):
    group_id: str = string(default="")
    protocol_type: str = string(default="")
    group_state: str = string(since=4, default="")
    group_type: str = string(since=5, default="")


class ListGroupsResponse(Response, key=KEY, versions=(0, 5), flexible=3):
    throttle_time_ms: int = int32(since=1, default=0)
    error_code: int = int16(default=0)
    groups: list[ListedGroup] = array(ListedGroup, default=())
