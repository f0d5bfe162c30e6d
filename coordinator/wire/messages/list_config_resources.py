"""ListConfigResources (key 74)."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, int16, int32, int8, string

KEY = 74


class ListConfigResourcesRequest(Request, key=KEY, versions=(0, 1), flexible=0):
    resource_types: list[int] = array(int8, since=1, default=())


class ConfigResource(Struct):
    resource_name: str = string(default="")
    resource_type: int = int8(since=1, default=16)


class ListConfigResourcesResponse(Response, key=KEY, versions=(0, 1), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    config_resources: list[ConfigResource] = array(ConfigResource, default=())
