"""IncrementalAlterConfigs (key 44): set, delete, append to or subtract from single configurations
(KIP-339).

Operations: 0 set, 1 delete, 2 append, 3 subtract. 1: flexible.
"""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, boolean, int16, int32, int8, string

KEY = 44


class AlterableConfig(Struct):
    name: str = string(default="")
    config_operation: int = int8(default=0)
    value: str | None = string(nullable=0, default="")


class AlterConfigsResource(Struct):
    resource_type: int = int8(default=0)
    resource_name: str = string(default="")
    configs: list[AlterableConfig] = array(AlterableConfig, default=())


class IncrementalAlterConfigsRequest(Request, key=KEY, versions=(0, 1), flexible=1):
    resources: list[AlterConfigsResource] = array(AlterConfigsResource, default=())
    validate_only: bool = boolean(default=False)


class AlterConfigsResourceResponse(Struct):
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
    resource_type: int = int8(default=0)
    resource_name: str = string(default="")


class IncrementalAlterConfigsResponse(Response, key=KEY, versions=(0, 1), flexible=1):
    throttle_time_ms: int = int32(default=0)
    responses: list[AlterConfigsResourceResponse] = array(AlterConfigsResourceResponse, default=())
