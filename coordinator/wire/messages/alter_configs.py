"""AlterConfigs (key 33): replace all configurations of a resource; IncrementalAlterConfigs is the
better way.

2: flexible.
"""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, boolean, int16, int32, int8, string

KEY = 33


class AlterableConfig(Struct):
    name: str = string(default="")
    value: str | None = string(nullable=0, default="")


class AlterConfigsResource(Struct):
    resource_type: int = int8(default=0)
    resource_name: str = string(default="")
    configs: list[AlterableConfig] = array(AlterableConfig, default=())


class AlterConfigsRequest(Request, key=KEY, versions=(0, 2), flexible=2):
    resources: list[AlterConfigsResource] = array(AlterConfigsResource, default=())
    validate_only: bool = boolean(default=False)


class AlterConfigsResourceResponse(Struct):
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
    resource_type: int = int8(default=0)
    resource_name: str = string(default="")


class AlterConfigsResponse(Response, key=KEY, versions=(0, 2), flexible=2):
    throttle_time_ms: int = int32(default=0)
    responses: list[AlterConfigsResourceResponse] = array(AlterConfigsResourceResponse, default=())
