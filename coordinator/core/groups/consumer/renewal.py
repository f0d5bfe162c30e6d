"""Fast path for the most frequent heartbeat: a consumer group member that has its target and
reports nothing new. Separate from `heartbeat`, so that it loads little code.
"""

from __future__ import annotations

from coordinator.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from coordinator.wire.schema import KeptResponse

from .environment import Environment
from .model import ConsumerMembership, MemberState, Renewal


def renewal(
    group: ConsumerMembership,
    request: ConsumerGroupHeartbeatRequest,
    client_id: str,
    client_host: str,
    environment: Environment,
) -> Renewal | None:
    """Return the response to a member without news, whose session alone is renewed; None if
    `heartbeat` must decide. Such a request is never one that `validation` refuses. The response
    must not be changed.
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
        or request.topic_partitions is not None
        or request.subscribed_topic_names is not None
        or request.subscribed_topic_regex is not None
        or request.server_assignor is not None
        or request.rack_id is not None
        or request.rebalance_timeout_ms != -1
        or request.instance_id != member.instance_id
        or group.regex_members
        or len(group.assignor_votes) > 1  # a heartbeat may decide between them (K8-TGT-44-2)
        or group.checked_version != environment.topics.version
    ):
        return None
    settings = environment.settings(group.group_id)
    last = group.renewals.get(request.member_id)
    if (
        last is not None
        and last[0] is member
        and last[1] == client_id
        and last[2] == client_host
        and last[3] is settings
    ):
        return last
    if member.state is not MemberState.STABLE or member.classic is not None:
        return None
    if member.client_id != client_id or member.client_host != client_host:
        return None
    response = ConsumerGroupHeartbeatResponse(
        member_id=member.member_id,
        member_epoch=member.member_epoch,
        heartbeat_interval_ms=settings.heartbeat_interval_ms,
    )
    found = group.renewals[request.member_id] = Renewal(
        member, client_id, client_host, settings, response, KeptResponse(response)
    )
    return found
