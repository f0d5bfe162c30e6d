"""ShareGroupDescribe (key 77), v1: epochs, members and assignments of share groups (KIP-932,
SH-DSC-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.share_group_describe import (
    DescribedGroup,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
)
from ..call import Sliced
from ..shares.service import is_enabled

if TYPE_CHECKING:
    from ..call import Call, Result
    from ..core import Broker


def handle(broker: Broker, call: Call) -> Result | Sliced:
    """Answered at once, one entry a group."""
    request = call.message
    assert isinstance(request, ShareGroupDescribeRequest)
    if not is_enabled(broker):
        broker.unserved.refused(
            broker.log, call, "ShareGroupDescribe", "is refused, because share.version is 0"
        )
        rows = [
            DescribedGroup(group_id=group_id, error_code=ErrorCode.UNSUPPORTED_VERSION)
            for group_id in request.group_ids
        ]
        return ShareGroupDescribeResponse(groups=rows)
    return Sliced(broker.coordinate_in_slices(call, request))
