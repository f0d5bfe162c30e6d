"""Empties an emulator between two tests that share it: removes peers, faults, members, groups
and topics."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from coordinator.server import quota_changes
from coordinator.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from coordinator.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from coordinator.wire.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
)
from coordinator.wire.messages.share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)

from .. import arguments, topics
from ..in_process_requests import ask

if TYPE_CHECKING:
    from coordinator.server.broker import Broker

    from ..session import KitSession
    from ..views.group_snapshots import GroupSnapshot

_GROUP, _DELETE = 32, 1
_LEAVE_EPOCH = -1


def reset(session: KitSession, keep_topics: Collection[str]) -> None:
    """Remove everything that clients and tests made, except topics to keep.

    Peers of this process end first. Then members are removed from their groups, as an
    administrator does or, in share groups where no administrator can, as if they had left.
    Raises ControlError for topics to keep that do not exist.
    """
    kept = arguments.listed("topics to keep", keep_topics)
    now, broker = session.now(), session.any_broker()
    for name in kept:
        topics.topic_of(broker, name)
    session.end_peers()
    session.faults.forget(now)
    quota_changes.forget(broker)
    if broker.security is not None:
        broker.security.reset()
    for group_id in sorted(session.group_ids()):
        broker, group = session.serving(group_id), session.group(group_id)
        if group.members:
            _take_out_members(broker, group, now)
        ask(broker, DeleteGroupsRequest(groups_names=[group_id]), DeleteGroupsResponse, now)
    broker = session.any_broker()
    configured = [
        AlterConfigsResource(
            resource_type=_GROUP,
            resource_name=group_id,
            configs=[AlterableConfig(name=name, config_operation=_DELETE) for name in settings],
        )
        for group_id, settings in broker.cluster.group_configs.items()
    ]
    if configured:
        change = IncrementalAlterConfigsRequest(resources=configured)
        ask(broker, change, IncrementalAlterConfigsResponse, now)
    for name, topic in list(broker.cluster.topics.items()):
        if not topic.internal and name not in kept:
            topics.delete(broker, now, name)


def _take_out_members(broker: Broker, group: GroupSnapshot, now: int) -> None:
    if group.type == "share":
        for member in group.members:
            leaving = ShareGroupHeartbeatRequest(
                group_id=group.group_id, member_id=member.member_id, member_epoch=_LEAVE_EPOCH
            )
            ask(broker, leaving, ShareGroupHeartbeatResponse, now)
        return
    members = [
        MemberIdentity(
            member_id=member.member_id,
            group_instance_id=member.instance_id,
            reason="the next test begins",
        )
        for member in group.members
    ]
    ask(
        broker, LeaveGroupRequest(group_id=group.group_id, members=members), LeaveGroupResponse, now
    )
