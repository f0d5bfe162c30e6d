"""DeleteAcls (key 31)."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, int16, int32, int8, string

KEY = 31


class DeleteAclsFilter(Struct):
    resource_type_filter: int = int8(default=0)
    resource_name_filter: str | None = string(nullable=0, default="")
    pattern_type_filter: int = int8(since=1, default=3)
    principal_filter: str | None = string(nullable=0, default="")
    host_filter: str | None = string(nullable=0, default="")
    operation: int = int8(default=0)
    permission_type: int = int8(default=0)


class DeleteAclsRequest(Request, key=KEY, versions=(0, 3), flexible=2):
    filters: list[DeleteAclsFilter] = array(DeleteAclsFilter, default=())


class DeleteAclsMatchingAcl(Struct):
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
    resource_type: int = int8(default=0)
    resource_name: str = string(default="")
    pattern_type: int = int8(since=1, default=3)
    principal: str = string(default="")
    host: str = string(default="")
    operation: int = int8(default=0)
    permission_type: int = int8(default=0)


class DeleteAclsFilterResult(Struct):
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
    matching_acls: list[DeleteAclsMatchingAcl] = array(DeleteAclsMatchingAcl, default=())


class DeleteAclsResponse(Response, key=KEY, versions=(0, 3), flexible=2):
    throttle_time_ms: int = int32(default=0)
    filter_results: list[DeleteAclsFilterResult] = array(DeleteAclsFilterResult, default=())
