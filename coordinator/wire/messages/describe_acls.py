"""DescribeAcls (key 29)."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, int16, int32, int8, string

KEY = 29


class DescribeAclsRequest(Request, key=KEY, versions=(0, 3), flexible=2):
    resource_type_filter: int = int8(default=0)
    resource_name_filter: str | None = string(nullable=0, default="")
    pattern_type_filter: int = int8(since=1, default=3)
    principal_filter: str | None = string(nullable=0, default="")
    host_filter: str | None = string(nullable=0, default="")
    operation: int = int8(default=0)
    permission_type: int = int8(default=0)


class AclDescription(Struct):
    principal: str = string(default="")
    host: str = string(default="")
    operation: int = int8(default=0)
    permission_type: int = int8(default=0)


class DescribeAclsResource(Struct):
    resource_type: int = int8(default=0)
    resource_name: str = string(default="")
    pattern_type: int = int8(since=1, default=3)
    acls: list[AclDescription] = array(AclDescription, default=())


class DescribeAclsResponse(Response, key=KEY, versions=(0, 3), flexible=2):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
    resources: list[DescribeAclsResource] = array(DescribeAclsResource, default=())
