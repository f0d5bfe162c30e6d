"""Handlers of the APIs about ACLs: CreateAcls, DescribeAcls and DeleteAcls. `acl_changes` makes the
changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.events.acls import (
    CLUSTER_NAME,
    Acl,
    AclFilter,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from coordinator.wire.messages.acls import (
    AclCreation,
    AclCreationResult,
    AclDescription,
    CreateAclsRequest,
    CreateAclsResponse,
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)

from ..acl_changes import create, delete
from ..requests.call import NoRequest
from ..requests.refusals import refused_whole
from ..security.authorizer import read_block

if TYPE_CHECKING:
    from enum import IntEnum

    from coordinator.wire.schema import Response

    from ..broker import Broker
    from ..requests.call import Call


_ANY_OR_MATCH = {
    "resource_type": {int(ResourceType.ANY)},
    "resource_pattern_type": {int(PatternType.ANY), int(PatternType.MATCH)},
    "operation": {int(Operation.ANY)},
    "permission_type": {int(Permission.ANY)},
}


_KINDS = {
    "resource_type": (ResourceType, "resourceType"),
    "resource_pattern_type": (PatternType, "patternType"),
    "operation": (Operation, "operation"),
    "permission_type": (Permission, "permissionType"),
}


_NO_COLON = "(no colon is present separating the principal type from the principal name)"


def means_nothing(request: CreateAclsRequest | DeleteAclsRequest | DescribeAclsRequest) -> bool:
    """Return True if the request contains an element UNKNOWN (0), for which Kafka closes the
    connection without an answer.
    """
    if isinstance(request, CreateAclsRequest):
        return any(
            0 in (acl.resource_type, acl.resource_pattern_type, acl.operation, acl.permission_type)
            for acl in request.creations
        )
    filters = request.filters if isinstance(request, DeleteAclsRequest) else [request]
    return any(
        0
        in (
            each.resource_type_filter,
            each.pattern_type_filter,
            each.operation,
            each.permission_type,
        )
        for each in filters
    )


def create_acls(broker: Broker, call: Call) -> Response:
    """Handle CreateAcls (key 30), v1-3 (KIP-140, KIP-290). Without an authorizer every ACL is
    refused (54).

    An ACL with an element UNKNOWN (0) closes the connection, as in Kafka, with or without an
    authorizer. One with Any or Match fails the whole request (-1). Each other ACL is created or
    refused independently; creating an existing one is no error (ACL-7).
    """
    request = call.message
    assert isinstance(request, CreateAclsRequest)
    if means_nothing(request):
        raise NoRequest("an ACL contains UNKNOWN elements")
    authorizer = None if broker.security is None else broker.security.authorizer
    if authorizer is None:
        error, text = ErrorCode.SECURITY_DISABLED, "No Authorizer is configured."
        return refused_whole(request, call.version, error, text)
    if any(_has_any_or_match(creation) for creation in request.creations):
        return refused_whole(request, call.version, ErrorCode.UNKNOWN_SERVER_ERROR, None)
    blocks = broker.controller_release.has("ACL-5")
    results, good = [], []
    for creation in request.creations:
        code, why = _why_not(creation)
        if not code and blocks:
            code, why = _why_no_host(creation.host)
        results.append(AclCreationResult(error_code=code, error_message=why))
        if not code:
            good.append(_acl(creation))
    create(broker, authorizer, good, call.now, call.cause)
    return CreateAclsResponse(results=results)


def _acl(creation: AclCreation) -> Acl:
    return Acl(
        creation.resource_type,
        creation.resource_pattern_type,
        creation.resource_name,
        creation.principal,
        creation.host,
        creation.operation,
        creation.permission_type,
    )


def _has_any_or_match(creation: AclCreation) -> bool:
    return any(getattr(creation, field) in values for field, values in _ANY_OR_MATCH.items())


def _why_not(creation: AclCreation) -> tuple[int, str]:
    if creation.resource_type == ResourceType.CLUSTER and creation.resource_name != CLUSTER_NAME:
        text = f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}"
        return ErrorCode.INVALID_REQUEST, text
    if not creation.resource_name:
        return ErrorCode.INVALID_REQUEST, "Invalid empty resource name"
    for field, (kind, name) in _KINDS.items():
        if not _means(kind, getattr(creation, field)):
            return ErrorCode.INVALID_REQUEST, f"Invalid {name} UNKNOWN"
    if ":" not in creation.principal:
        text = f"Could not parse principal from `{creation.principal}` {_NO_COLON}"
        return ErrorCode.INVALID_REQUEST, text
    return ErrorCode.NONE, ""


def _why_no_host(host: str) -> tuple[int, str]:
    """Return error code and message if `host` is no valid host pattern, else NONE. Releases before
    ACL-5 accept any text.
    """
    if not host:
        return ErrorCode.INVALID_REQUEST, "Host pattern cannot be null or empty"
    if "/" in host and read_block(host) is None:
        text = f"Invalid CIDR notation '{host}': {_why_no_block(host)}"
        return ErrorCode.INVALID_REQUEST, text
    return ErrorCode.NONE, ""


def _why_no_block(text: str) -> str:
    """Return the error message of Kafka's CIDR parser."""
    address, _, bits = text.partition("/")
    is_known = read_block(address) is not None
    if is_known and bits.isdecimal() and ":" not in address:
        return f"Value [{int(bits)}] not in range [0,32]"
    return f"Could not parse [{text}]"


def delete_acls(broker: Broker, call: Call) -> Response:
    """Handle DeleteAcls (key 31), v1-3 (KIP-140, KIP-290). Without an authorizer every filter is
    refused (54).

    A filter with an element UNKNOWN (0) closes the connection. A filter with another unknown
    number is refused (42). Each other filter reports all ACLs it matches, even those another
    filter matches too (ACL-9).
    """
    request = call.message
    assert isinstance(request, DeleteAclsRequest)
    if means_nothing(request):
        raise NoRequest("a filter contains UNKNOWN elements")
    authorizer = None if broker.security is None else broker.security.authorizer
    if authorizer is None:
        error, text = ErrorCode.SECURITY_DISABLED, "No Authorizer is configured."
        return refused_whole(request, call.version, error, text)
    results, found = [], []
    for wanted in map(_filter, request.filters):
        unknown = _unknown_part(wanted)
        if unknown:
            results.append(
                DeleteAclsFilterResult(
                    error_code=ErrorCode.INVALID_REQUEST, error_message=f"Unknown {unknown}."
                )
            )
            continue
        acls = authorizer.find(wanted)
        found += acls
        results.append(
            DeleteAclsFilterResult(error_message=None, matching_acls=[_row(acl) for acl in acls])
        )
    delete(broker, authorizer, found, call.now, call.cause)
    return DeleteAclsResponse(filter_results=results)


def _filter(asked: DeleteAclsFilter | DescribeAclsRequest) -> AclFilter:
    return AclFilter(
        asked.resource_type_filter,
        asked.pattern_type_filter,
        asked.resource_name_filter,
        asked.principal_filter,
        asked.host_filter,
        asked.operation,
        asked.permission_type,
    )


def _unknown_part(wanted: AclFilter) -> str:
    """Return Kafka's name of the filter part that contains an unknown number, or "" if all are
    known.
    """
    if not (
        _means(ResourceType, wanted.resource_type) and _means(PatternType, wanted.pattern_type)
    ):
        return "patternFilter"
    if not (_means(Operation, wanted.operation) and _means(Permission, wanted.permission)):
        return "entryFilter"
    return ""


def _means(kind: type[IntEnum], number: int) -> bool:
    return number in kind._value2member_map_


def _row(acl: Acl) -> DeleteAclsMatchingAcl:
    return DeleteAclsMatchingAcl(
        error_message=None,
        resource_type=acl.resource_type,
        resource_name=acl.name,
        pattern_type=acl.pattern_type,
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        permission_type=acl.permission,
    )


def describe_acls(broker: Broker, call: Call) -> DescribeAclsResponse:
    """Handle DescribeAcls (key 29), v1-3 (KIP-140, KIP-290). Without an authorizer it is refused
    (54). A filter with an element UNKNOWN (0) closes the connection (ACL-8).
    """
    request = call.message
    assert isinstance(request, DescribeAclsRequest)
    if means_nothing(request):
        raise NoRequest("the filter contains UNKNOWN elements")
    authorizer = None if broker.security is None else broker.security.authorizer
    if authorizer is None:
        return DescribeAclsResponse(
            error_code=ErrorCode.SECURITY_DISABLED,
            error_message="No Authorizer is configured on the broker",
        )
    resources: dict[tuple[int, str, int], list[AclDescription]] = {}
    for acl in authorizer.find(_filter(request)):
        key = (acl.resource_type, acl.name, acl.pattern_type)
        resources.setdefault(key, []).append(
            AclDescription(
                principal=acl.principal,
                host=acl.host,
                operation=acl.operation,
                permission_type=acl.permission,
            )
        )
    return DescribeAclsResponse(
        error_message="",
        resources=[
            DescribeAclsResource(
                resource_type=kind, resource_name=name, pattern_type=pattern, acls=acls
            )
            for (kind, name, pattern), acls in resources.items()
        ],
    )
