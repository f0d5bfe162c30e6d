"""CreateAcls, DeleteAcls and DescribeAcls: access control lists."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, int16, int32, int8, string


class AclCreation(Struct):
    resource_type: int = int8(default=0)
    resource_name: str = string(default="")
    resource_pattern_type: int = int8(since=1, default=3)
    principal: str = string(default="")
    host: str = string(default="")
    operation: int = int8(default=0)
    permission_type: int = int8(default=0)


class CreateAclsRequest(Request, key=30, versions=(0, 3), flexible=2):
    """CreateAcls (key 30): add ACLs."""

    creations: list[AclCreation] = array(AclCreation, default=())


class AclCreationResult(Struct):
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")


class CreateAclsResponse(Response, key=30, versions=(0, 3), flexible=2):
    throttle_time_ms: int = int32(default=0)
    results: list[AclCreationResult] = array(AclCreationResult, default=())


class DeleteAclsFilter(Struct):
    resource_type_filter: int = int8(default=0)
    resource_name_filter: str | None = string(nullable=0, default="")
    pattern_type_filter: int = int8(since=1, default=3)
    principal_filter: str | None = string(nullable=0, default="")
    host_filter: str | None = string(nullable=0, default="")
    operation: int = int8(default=0)
    permission_type: int = int8(default=0)


class DeleteAclsRequest(Request, key=31, versions=(0, 3), flexible=2):
    """DeleteAcls (key 31): delete the ACLs that match filters."""

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


class DeleteAclsResponse(Response, key=31, versions=(0, 3), flexible=2):
    throttle_time_ms: int = int32(default=0)
    filter_results: list[DeleteAclsFilterResult] = array(DeleteAclsFilterResult, default=())


class DescribeAclsRequest(Request, key=29, versions=(0, 3), flexible=2):
    """DescribeAcls (key 29): list the ACLs that match a filter."""

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


class DescribeAclsResponse(Response, key=29, versions=(0, 3), flexible=2):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
    resources: list[DescribeAclsResource] = array(DescribeAclsResource, default=())
