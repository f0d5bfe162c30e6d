"""ShareGroupHeartbeat (key 76), v1: a member of a share group joins, stays or leaves (KIP-932,
SH-HB-*). The group coordinator in `core` decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)

from ..cluster.model import SHARE_GROUP_STATE
from ..shares.service import is_enabled
from ..topics import ensure_internal_topic

if TYPE_CHECKING:
    from ..broker import Broker
    from ..requests.call import Call, Result


def handle(broker: Broker, call: Call) -> Result:
    """Handle a ShareGroupHeartbeat."""
    request = call.message
    assert isinstance(request, ShareGroupHeartbeatRequest)
    if not is_enabled(broker):
        broker.unserved.refused(
            broker.log, call, "ShareGroupHeartbeat", "is refused, because share.version is 0"
        )
        return ShareGroupHeartbeatResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    renewed = broker.coordinator.renew_share(request, call.client_id, call.client_host, call.now)
    if renewed is not None:
        seen = broker.log is not None or broker.interceptors
        return renewed.response if seen else renewed.kept
    response = broker.groups.coordinate(call, request)
    if broker.groups.share_states:  # the share coordinator is to be asked
        ensure_internal_topic(broker, SHARE_GROUP_STATE, call)
    return response
