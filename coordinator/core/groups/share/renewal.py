"""The heartbeat that comes most: of a member of a share group that has its target and says nothing
new.

Apart from `heartbeat`, which knows all the others, so that it loads little and does little.
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
    """The short way of such a member: only its session is renewed, and this is its response.

    None: the heartbeat takes the long way. The response is not to be changed.
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
