"""ConsumerGroupDescribe (key 69), v0-1: epochs, members and assignments of consumer groups
(KIP-848, K8-DSC-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)
from ..call import Sliced
from ..environments.consumer import is_enabled

if TYPE_CHECKING:
    from ..call import Call, Result
    from ..core import Broker


def handle(broker: Broker, call: Call) -> Result | Sliced:
    """Answered at once, one entry a group."""
    request = call.message
    assert isinstance(request, ConsumerGroupDescribeRequest)
    if not is_enabled(broker):
        broker.unserved.refused(
            broker.log, call, "ConsumerGroupDescribe", "is refused, because group.version is 0"
        )
        rows = [
            DescribedGroup(group_id=group_id, error_code=ErrorCode.UNSUPPORTED_VERSION)
            for group_id in request.group_ids
        ]
        return ConsumerGroupDescribeResponse(groups=rows)
    return Sliced(broker.coordinate_in_slices(call, call.message))
