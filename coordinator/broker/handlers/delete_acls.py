"""DeleteAcls (key 31), v1-3 (KIP-140, KIP-290). Without an authorizer each filter is refused (54).

A filter with an element UNKNOWN (0) is no request for Kafka: it closes the connection. Each filter
reports what it found, also what another one found too (ACL-9).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...security.acls import AclFilter
from ...wire.messages.acls import (
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from ..acl_changes import delete
from ..call import NoRequest

if TYPE_CHECKING:
    from ...security.acls import Acl
    from ..call import Call
    from ..core import Broker


def handle(broker: Broker, call: Call) -> DeleteAclsResponse:
    """Answered at once."""
    request = call.message
    assert isinstance(request, DeleteAclsRequest)
    if any(
        0
        in (
            each.resource_type_filter,
            each.pattern_type_filter,
            each.operation,
            each.permission_type,
        )
        for each in request.filters
    ):
        raise NoRequest("a filter contains UNKNOWN elements")
    authorizer = None if broker.security is None else broker.security.authorizer
    if authorizer is None:
        refused = DeleteAclsFilterResult(
            error_code=ErrorCode.SECURITY_DISABLED, error_message="No Authorizer is configured."
        )
        return DeleteAclsResponse(filter_results=[refused] * len(request.filters))
    found = [
        authorizer.find(
            AclFilter(
                each.resource_type_filter,
                each.pattern_type_filter,
                each.resource_name_filter,
                each.principal_filter,
                each.host_filter,
                each.operation,
                each.permission_type,
            )
        )
        for each in request.filters
    ]
    delete(broker, authorizer, [acl for acls in found for acl in acls], call.now, call.cause)
    return DeleteAclsResponse(
        filter_results=[
            DeleteAclsFilterResult(error_message=None, matching_acls=[_row(acl) for acl in acls])
            for acls in found
        ]
    )


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
