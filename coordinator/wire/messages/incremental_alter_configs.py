"""AlterConfigs and IncrementalAlterConfigs: changes of resources' configurations."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, boolean, int16, int32, int8, string


class WholeConfig(Struct):
    name: str = string(default="")
    value: str | None = string(nullable=0, default="")


class WholeResource(Struct):
    resource_type: int = int8(default=0)
    resource_name: str = string(default="")
    configs: list[WholeConfig] = array(WholeConfig, default=())


class AlterConfigsRequest(Request, key=33, versions=(0, 2), flexible=2):
    """AlterConfigs (key 33): replace all configurations of a resource; deprecated in favour of
    IncrementalAlterConfigs.

    2: flexible.
    """

    resources: list[WholeResource] = array(WholeResource, default=())
    validate_only: bool = boolean(default=False)


class AlterableConfig(Struct):
    name: str = string(default="")
    config_operation: int = int8(default=0)
    value: str | None = string(nullable=0, default="")


class AlterConfigsResource(Struct):
    resource_type: int = int8(default=0)
    resource_name: str = string(default="")
    configs: list[AlterableConfig] = array(AlterableConfig, default=())


class IncrementalAlterConfigsRequest(Request, key=44, versions=(0, 1), flexible=1):
    """IncrementalAlterConfigs (key 44): set, delete, append to or subtract from single
    configurations (KIP-339).

    Operations: 0 set, 1 delete, 2 append, 3 subtract. 1: flexible.
    """

    resources: list[AlterConfigsResource] = array(AlterConfigsResource, default=())
    validate_only: bool = boolean(default=False)


class AlterConfigsResourceResponse(Struct):
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
    resource_type: int = int8(default=0)
    resource_name: str = string(default="")


class AlterConfigsResponse(Response, key=33, versions=(0, 2), flexible=2):
    throttle_time_ms: int = int32(default=0)
    responses: list[AlterConfigsResourceResponse] = array(AlterConfigsResourceResponse, default=())


class IncrementalAlterConfigsResponse(Response, key=44, versions=(0, 1), flexible=1):
    throttle_time_ms: int = int32(default=0)
    responses: list[AlterConfigsResourceResponse] = array(AlterConfigsResourceResponse, default=())
