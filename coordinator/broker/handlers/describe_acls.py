"""DescribeAcls (key 29), v1-3: there is no authorizer, so everything is refused (54).

A filter with an element UNKNOWN (0) is no request for Kafka: it closes the connection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from ..call import NoRequest

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker


def handle(_: Broker, call: Call) -> DescribeAclsResponse:
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
    return DescribeAclsResponse(
        error_code=ErrorCode.SECURITY_DISABLED,
        error_message="No Authorizer is configured on the broker",
    )
