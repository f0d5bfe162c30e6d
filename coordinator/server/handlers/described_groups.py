"""ConsumerGroupDescribe (key 69), v0-1 (KIP-848, K8-DSC-1), and ShareGroupDescribe (key 77), v1
(KIP-932, SH-DSC-1): epochs, members and assignments of groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from coordinator.wire.messages.share_group_describe import ShareGroupDescribeRequest

from ..environments.consumer import is_enabled as serves_consumers
from ..requests.call import Sliced
from ..requests.refusals import refused_whole_in_slices
from ..shares.service import is_enabled as serves_shares

if TYPE_CHECKING:
    from ..broker import Broker
    from ..requests.call import Call


def consumer_group_describe(broker: Broker, call: Call) -> Sliced:
    """Handle a ConsumerGroupDescribe: one entry for each group."""
    request = call.message
    assert isinstance(request, ConsumerGroupDescribeRequest)
    if serves_consumers(broker):
        return Sliced(broker.groups.coordinate_in_slices(call, request))
    return _refused(broker, call, "ConsumerGroupDescribe", "group.version")


def share_group_describe(broker: Broker, call: Call) -> Sliced:
    """Handle a ShareGroupDescribe: one entry for each group."""
    request = call.message
    assert isinstance(request, ShareGroupDescribeRequest)
    if serves_shares(broker):
        return Sliced(broker.groups.coordinate_in_slices(call, request))
    return _refused(broker, call, "ShareGroupDescribe", "share.version")


def _refused(broker: Broker, call: Call, api: str, feature: str) -> Sliced:
    broker.unserved.refused(broker.log, call, api, f"is refused, because {feature} is 0")
    error = ErrorCode.UNSUPPORTED_VERSION
    return Sliced(refused_whole_in_slices(call.message, call.version, error, None))
