"""The two requests of the share group protocol (KIP-932) at the group coordinator: heartbeat and
describe.

Owns the checks before a group is looked up: whether the coordinator serves, the request's own
validity, the group's partition. `share_groups` goes on.
"""

from __future__ import annotations

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import Slices
from coordinator.wire.messages.share_group_describe import (
    DescribedGroup,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
)
from coordinator.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from coordinator.wire.schema import Response

from ..groups.requests import RequestContext
from ..groups.share.views import describe as described
from ..groups.share.views import not_described
from .consumer_requests import Coordinator, described_groups
from .journal import Effects
from .share_groups import check, heartbeat_error


def heartbeat(
    coordinator: Coordinator,
    request: ShareGroupHeartbeatRequest,
    context: RequestContext,
    effects: Effects,
) -> Response:
    """Serve a ShareGroupHeartbeat after the checks in Kafka's order: 15, the request's own
    validity, then 16 or 14.
    """
    if coordinator.availability.stopped:
        return heartbeat_error(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    if coordinator.config.share is None:
        return heartbeat_error(ErrorCode.UNSUPPORTED_VERSION)
    refused = check(request)
    if refused is not None:
        return refused
    error = coordinator.refuse(request.group_id)
    if error:
        return heartbeat_error(error)
    shard = coordinator.partition_shard(coordinator.partition_for(request.group_id))
    return shard.share_heartbeat(request, context, effects)


def describe(
    coordinator: Coordinator, request: ShareGroupDescribeRequest, effects: Effects
) -> Slices[Response]:
    """Serve a ShareGroupDescribe, one entry for each group (SH-DSC-1)."""
    rows = yield from described_groups(coordinator, request, effects, _describe, not_described)
    return ShareGroupDescribeResponse(groups=rows)


def _describe(coordinator: Coordinator, group_id: str, effects: Effects) -> DescribedGroup:
    error = coordinator.refuse(group_id)
    if error:
        return not_described(group_id, error, error.message)
    group = coordinator.committed_view(group_id, coordinator.find(group_id, effects))
    if group is None or group.share is None or coordinator.config.share is None:
        text = (
            f"Group {group_id} not found."
            if group is None
            else f"Group {group_id} is not a share group."
        )
        return not_described(group_id, ErrorCode.GROUP_ID_NOT_FOUND, text)
    return described(group.share, coordinator.config.share)
