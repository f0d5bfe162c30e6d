"""DeleteAcls (key 31), v1-3: there is no authorizer, so each filter is refused (54).

A filter with an element UNKNOWN (0) is no request for Kafka: it closes the connection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from ..call import NoRequest

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker


def handle(_: Broker, call: Call) -> DeleteAclsResponse:
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
    refused = DeleteAclsFilterResult(
        error_code=ErrorCode.SECURITY_DISABLED, error_message="No Authorizer is configured."
    )
    return DeleteAclsResponse(filter_results=[refused] * len(request.filters))
