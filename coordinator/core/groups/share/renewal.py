"""Fast path for the most frequent heartbeat: a share group member that has its target and reports
nothing new. Separate from `heartbeat`, so that it loads little code.
"""

from __future__ import annotations

from coordinator.wire.messages.share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from coordinator.wire.schema import KeptResponse

from .environment import ShareEnvironment
from .model import Renewal, ShareMembership


def renewal(
    group: ShareMembership,
    request: ShareGroupHeartbeatRequest,
    client_id: str,
    client_host: str,
    environment: ShareEnvironment,
) -> Renewal | None:
    """Return the response to a member without news, whose session alone is renewed; None if
    `heartbeat` must decide. The response must not be changed.
    """
    member = group.members.get(request.member_id)
    if (
        member is None
        or not (
            request.member_epoch
            == member.member_epoch
            == group.assignment_epoch
            == group.group_epoch
        )
        or request.subscribed_topic_names is not None
        or request.rack_id is not None
        or group.initializing
        or group.checked_version != environment.topics.version
    ):
        return None
    settings = environment.settings(group.group_id)
    last = group.renewals.get(request.member_id)
    if (
        last is not None
        and last.member is member
        and last.client_id == client_id
        and last.client_host == client_host
        and last.settings is settings
    ):
        return last
    if member.client_id != client_id or member.client_host != client_host:
        return None
    response = ShareGroupHeartbeatResponse(
        member_id=member.member_id,
        member_epoch=member.member_epoch,
        heartbeat_interval_ms=settings.heartbeat_interval_ms,
    )
    found = group.renewals[request.member_id] = Renewal(
        member, client_id, client_host, settings, response, KeptResponse(response)
    )
    return found
