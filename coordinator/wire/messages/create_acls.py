"""CreateAcls (key 30)."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, int16, int32, int8, string

KEY = 30


class AclCreation(Struct):
    resource_type: int = int8(default=0)
    resource_name: str = string(default="")
    resource_pattern_type: int = int8(since=1, default=3)
    principal: str = string(default="")
    host: str = string(default="")
    operation: int = int8(default=0)
    permission_type: int = int8(default=0)


class CreateAclsRequest(Request, key=KEY, versions=(0, 3), flexible=2):
    creations: list[AclCreation] = array(AclCreation, default=())


class AclCreationResult(Struct):
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")


class CreateAclsResponse(Response, key=KEY, versions=(0, 3), flexible=2):
    throttle_time_ms: int = int32(default=0)
    results: list[AclCreationResult] = array(AclCreationResult, default=())
