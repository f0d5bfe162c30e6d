"""ConsumerGroupHeartbeat (key 68), v0-1: a member of a consumer group joins, stays or leaves
(KIP-848, K8-*). The group coordinator in `core` decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.core.groups.consumer.validation import JOINING
from coordinator.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)

from ..environments.consumer import is_enabled
from ..large_subscriptions import with_topics_read

if TYPE_CHECKING:
    from ..broker import Broker
    from ..requests.call import Call, Result, Sliced


def handle(broker: Broker, call: Call) -> Result | Sliced:
    """Handle a ConsumerGroupHeartbeat. A v0 member without a member id gets one drawn here (K8-HB-1
    step 3).
    """
    request = call.message
    assert isinstance(request, ConsumerGroupHeartbeatRequest)
    if not is_enabled(broker):
        broker.unserved.refused(
            broker.log, call, "ConsumerGroupHeartbeat", "is refused, because group.version is 0"
        )
        return ConsumerGroupHeartbeatResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    renewed = broker.coordinator.renew_consumer(request, call.client_id, call.client_host, call.now)
    if renewed is not None:
        seen = broker.log is not None or broker.interceptors
        return renewed.response if seen else renewed.kept
    fresh_name = "" if request.member_id else broker.fresh_name()
    if request.member_epoch == JOINING and (
        large := broker.coordinator.large_subscriptions(request.group_id)
    ):
        return with_topics_read(broker, call, large, fresh_name)  # the group is to be converted
    return broker.groups.coordinate(call, request, fresh_name)
