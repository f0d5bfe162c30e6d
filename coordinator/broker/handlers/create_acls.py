"""CreateAcls (key 30), v1-3 (KIP-140, KIP-290). Without an authorizer each is refused (54).

An ACL with an element UNKNOWN (0) is no request for Kafka: it closes the connection, whether there
is an authorizer or not. One with Any or Match fails the whole request
(-1). Each other one is made or refused on its own; one that is there already is no error (ACL-7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...security.acls import (
    CLUSTER_NAME,
    Acl,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from ...security.authorizer import read_block
from ...wire.messages.acls import (
    AclCreation,
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from ..acl_changes import create
from ..call import NoRequest

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker

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


def handle(broker: Broker, call: Call) -> CreateAclsResponse:
    """Answered at once."""
    request = call.message
    assert isinstance(request, CreateAclsRequest)
    if any(
        0 in (acl.resource_type, acl.resource_pattern_type, acl.operation, acl.permission_type)
        for acl in request.creations
    ):
        raise NoRequest("an ACL contains UNKNOWN elements")
    authorizer = None if broker.security is None else broker.security.authorizer
    if authorizer is None:
        refused = AclCreationResult(
            error_code=ErrorCode.SECURITY_DISABLED, error_message="No Authorizer is configured."
        )
        return CreateAclsResponse(results=[refused] * len(request.creations))
    if any(_has_any_or_match(creation) for creation in request.creations):
        failed = AclCreationResult(error_code=ErrorCode.UNKNOWN_SERVER_ERROR, error_message=None)
        return CreateAclsResponse(results=[failed] * len(request.creations))
    results, good = [], []
    for creation in request.creations:
        error, text = _why_not(creation)
        results.append(AclCreationResult(error_code=error, error_message=text))
        if not error:
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
        if getattr(creation, field) not in kind._value2member_map_:
            return ErrorCode.INVALID_REQUEST, f"Invalid {name} UNKNOWN"
    if ":" not in creation.principal:
        text = f"Could not parse principal from `{creation.principal}` {_NO_COLON}"
        return ErrorCode.INVALID_REQUEST, text
    if not creation.host:
        return ErrorCode.INVALID_REQUEST, "Host pattern cannot be null or empty"
    if "/" in creation.host and read_block(creation.host) is None:
        text = f"Invalid CIDR notation '{creation.host}': {_why_no_block(creation.host)}"
        return ErrorCode.INVALID_REQUEST, text
    return ErrorCode.NONE, ""


def _why_no_block(text: str) -> str:
    """What Kafka's reader of blocks says."""
    address, _, bits = text.partition("/")
    is_known = read_block(address) is not None
    if is_known and bits.isdecimal() and ":" not in address:
        return f"Value [{int(bits)}] not in range [0,32]"
    return f"Could not parse [{text}]"
