"""DescribeAcls (key 29), v1-3 (KIP-140, KIP-290). Without an authorizer everything is refused (54).

A filter with an element UNKNOWN (0) is no request for Kafka: it closes the connection (ACL-8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...security.acls import AclFilter
from ...wire.messages.acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from ..call import NoRequest

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker


def handle(broker: Broker, call: Call) -> DescribeAclsResponse:
    """Answered at once."""
    request = call.message
    assert isinstance(request, DescribeAclsRequest)
    if 0 in (
        request.resource_type_filter,
        request.pattern_type_filter,
        request.operation,
        request.permission_type,
    ):
        raise NoRequest("the filter contains UNKNOWN elements")
    authorizer = None if broker.security is None else broker.security.authorizer
    if authorizer is None:
        return DescribeAclsResponse(
            error_code=ErrorCode.SECURITY_DISABLED,
            error_message="No Authorizer is configured on the broker",
        )
    wanted = AclFilter(
        request.resource_type_filter,
        request.pattern_type_filter,
        request.resource_name_filter,
        request.principal_filter,
        request.host_filter,
        request.operation,
        request.permission_type,
    )
    resources: dict[tuple[int, str, int], list[AclDescription]] = {}
    for acl in authorizer.find(wanted):
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
