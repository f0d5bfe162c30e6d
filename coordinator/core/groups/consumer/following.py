"""Fast path for heartbeats of a member that has its whole target and only follows the group's
epoch: the most frequent ones while other members join and leave.

The decision is the same as in `heartbeat`, without its checks for changes. The event's
partitions are cached while neither the member's partitions nor the target change, so the cost
does not depend on their number.
"""

from __future__ import annotations

from coordinator.events.groups import consumer as ev
from coordinator.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)

from .environment import Environment, Topics
from .model import ConsumerMembership, Following, Member, MemberState
from .reconcile import all_kept
from .requests import Decision, Timer, TimerKind
from .subscription import SubscribedTopics


def follow(
    group: ConsumerMembership,
    request: ConsumerGroupHeartbeatRequest,
    client_id: str,
    client_host: str,
    now: int,
    environment: Environment,
) -> Decision | None:
    """Return the decision about such a heartbeat (K8-REC-3), or None if it is of another kind and
    `decide_heartbeat` must decide it.
    """
    member = group.members.get(request.member_id)
    epoch = group.assignment_epoch
    if (
        member is None
        or not (request.member_epoch == member.member_epoch != epoch == group.group_epoch)
        or member.state is not MemberState.STABLE
        or request.subscribed_topic_names is not None
        or request.subscribed_topic_regex is not None
        or request.server_assignor is not None
        or request.rack_id is not None
        or request.rebalance_timeout_ms != -1
        or request.instance_id != member.instance_id
        or member.client_id != client_id
        or member.client_host != client_host
        or member.classic is not None
        or group.regex_members
        or len(group.assignor_votes) > 1  # a heartbeat may decide between them (K8-TGT-44-2)
        or group.checked_version != environment.topics.version
    ):
        return None
    told = _told(group, member, environment.topics)
    if told is None:
        return None
    settings = environment.settings(group.group_id)
    reply = ConsumerGroupHeartbeatResponse(
        member_id=member.member_id,
        member_epoch=epoch,
        heartbeat_interval_ms=settings.heartbeat_interval_ms,
    )
    event = ev.ConsumerMemberReconciled(
        member.member_id, epoch, member.member_epoch, MemberState.STABLE.value, told, ()
    )
    timers = (
        Timer(TimerKind.SESSION, member.member_id, now + settings.session_timeout_ms),
        Timer(TimerKind.REBALANCE, member.member_id, None),
    )
    return Decision((event,), reply, timers)


def _told(
    group: ConsumerMembership, member: Member, topics: Topics
) -> tuple[ev.HeldPartitions, ...] | None:
    """Return the member's partitions in the event's form, or None if they are not its target."""
    target = group.targets.get(member.member_id)
    if target is None:
        return None
    last = group.followings.get(member.member_id)
    if (
        last is not None
        and last[0] is member.held
        and last[1] is target
        and last[2] is member.topics
        and last[3] == topics.version
    ):
        return last[4]
    kept = (
        None
        if member.revoking
        else all_kept(member.held, target, SubscribedTopics(member.topics, topics))
    )
    if kept is None:
        return None
    told = tuple(
        [
            ev.HeldPartitions(topics.topic_name(t) or "", t, tuple(p), tuple(p.values()))
            for t, p in kept.items()
        ]
    )
    if told == member.told:
        told = member.told
    group.followings[member.member_id] = Following(
        member.held, target, member.topics, topics.version, told
    )
    return told
