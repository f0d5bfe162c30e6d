"""CreateAcls (key 30), v1-3: there is no authorizer, so each is refused (54).

An access rule with an element UNKNOWN (0) is no request for Kafka: it closes the connection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.create_acls import AclCreationResult, CreateAclsRequest, CreateAclsResponse
from ..call import NoRequest

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker


def handle(_: Broker, call: Call) -> CreateAclsResponse:
    """Answered at once."""
    request = call.message
    assert isinstance(request, CreateAclsRequest)
    if any(
        0 in (acl.resource_type, acl.resource_pattern_type, acl.operation, acl.permission_type)
        for acl in request.creations
    ):
        raise NoRequest("an ACL contains UNKNOWN elements")
    refused = AclCreationResult(
        error_code=ErrorCode.SECURITY_DISABLED, error_message="No Authorizer is configured."
    )
    return CreateAclsResponse(results=[refused] * len(request.creations))
