"""Epochs, members and assignments of groups whose members heartbeat: ConsumerGroupDescribe (key 69),
v0-1 (KIP-848, K8-DSC-1), and ShareGroupDescribe (key 77), v1 (KIP-932, SH-DSC-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages import consumer_group_describe as of_consumers
from ...wire.messages import share_group_describe as of_shares
from ..call import Sliced
from ..environments.consumer import is_enabled as serves_consumers
from ..shares.service import is_enabled as serves_shares

if TYPE_CHECKING:
    from ..call import Call, Result
    from ..core import Broker


def consumer_group_describe(broker: Broker, call: Call) -> Result | Sliced:
    """Answered at once, one entry a group."""
    request = call.message
    assert isinstance(request, of_consumers.ConsumerGroupDescribeRequest)
    if serves_consumers(broker):
        return Sliced(broker.coordinate_in_slices(call, request))
    _refused(broker, call, "ConsumerGroupDescribe", "group.version")
    return of_consumers.ConsumerGroupDescribeResponse(
        groups=[
            of_consumers.DescribedGroup(group_id=of, error_code=ErrorCode.UNSUPPORTED_VERSION)
            for of in request.group_ids
        ]
    )


def share_group_describe(broker: Broker, call: Call) -> Result | Sliced:
    """Answered at once, one entry a group."""
    request = call.message
    assert isinstance(request, of_shares.ShareGroupDescribeRequest)
    if serves_shares(broker):
        return Sliced(broker.coordinate_in_slices(call, request))
    _refused(broker, call, "ShareGroupDescribe", "share.version")
    return of_shares.ShareGroupDescribeResponse(
        groups=[
            of_shares.DescribedGroup(group_id=of, error_code=ErrorCode.UNSUPPORTED_VERSION)
            for of in request.group_ids
        ]
    )


def _refused(broker: Broker, call: Call, api: str, feature: str) -> None:
    broker.unserved.refused(broker.log, call, api, f"is refused, because {feature} is 0")
