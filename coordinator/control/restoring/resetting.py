"""Emptying an emulator between two tests that share it: faults, members, groups and topics go."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ...broker import quota_changes
from ...wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from ...wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from .. import arguments, topics
from ..in_process_requests import ask

if TYPE_CHECKING:
    from ..session import KitSession


def reset(session: KitSession, keep_topics: Collection[str]) -> None:
    """Forget everything that clients and tests put in, but for topics to be kept.

    Members are taken out of their groups first, as an administrator does. Raises ControlError for
    topics to keep that are not there.
    """
    kept = arguments.listed("topics to keep", keep_topics)
    now, broker = session.now(), session.any_broker()
    for name in kept:
        topics.topic_of(broker, name)
    session.faults.forget(now)
    quota_changes.forget(broker)
    if broker.security is not None:
        broker.security.reset()
    for group_id in sorted(session.group_ids()):
        broker = session.serving(group_id)
        members = [
            MemberIdentity(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                reason="the next test begins",
            )
            for member in session.group(group_id).members
        ]
        if members:
            ask(
                broker,
                LeaveGroupRequest(group_id=group_id, members=members),
                LeaveGroupResponse,
                now,
            )
        ask(broker, DeleteGroupsRequest(groups_names=[group_id]), DeleteGroupsResponse, now)
    broker = session.any_broker()
    for name, topic in list(broker.cluster.topics.items()):
        if not topic.internal and name not in kept:
            topics.delete(broker, now, name)
