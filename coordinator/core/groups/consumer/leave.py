"""Removal of members from a consumer group: a heartbeat with epoch -1 or -2, LeaveGroup, or an
expired timer (K8-LV-1..5, K8-CLS-7, K8-MIG-2).

If only members of the classic protocol would remain, the group becomes classic instead, if the
migration policy allows it.
"""

from __future__ import annotations

from collections.abc import Collection

from coordinator.base.errors import ErrorCode
from coordinator.events.groups import consumer as ev
from coordinator.events.groups.consumer import Removal
from coordinator.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from coordinator.wire.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from coordinator.wire.schema import Response

from .environment import Environment
from .heartbeat import known_static_member, reconciled, refuse_fenced, static_member, unknown_member
from .model import LEFT_FOR_NOW, NOTHING, ConsumerMembership, Member, MemberState
from .requests import Decision, Downgrade, Refused, Timer, TimerKind
from .subscription import metadata_hash, without
from .validation import LEAVING_FOR_NOW

_LEAVE_NAMES_MEMBERS = 3
"""From this version LeaveGroup names several members and each has its own result (LV-6)."""


def decide_leave(
    group: ConsumerMembership, request: ConsumerGroupHeartbeatRequest, environment: Environment
) -> Decision:
    """Decide a heartbeat by which a member leaves, for good or temporarily. Raises Refused
    (K8-LV-1..3).
    """
    reply = ConsumerGroupHeartbeatResponse(
        member_id=request.member_id, member_epoch=request.member_epoch
    )
    if request.instance_id is None:
        member = group.members.get(request.member_id)
        if member is None:
            raise unknown_member(group, request.member_id)
        return remove(group, [member], Removal.LEFT, environment, reply)
    member = known_static_member(group, request.instance_id, request.member_id)
    if request.member_epoch != LEAVING_FOR_NOW:
        return remove(group, [member], Removal.LEFT, environment, reply)
    held = {topic_id: dict.fromkeys(partitions, 0) for topic_id, partitions in member.held.items()}
    gone = member._replace(member_epoch=LEFT_FOR_NOW, held=held, revoking=NOTHING)
    return Decision(
        (reconciled(gone, environment.topics),),
        reply,
        (Timer(TimerKind.REBALANCE, member.member_id, None),),
    )


def remove(
    group: ConsumerMembership,
    members: Collection[Member],
    reason: str,
    environment: Environment,
    reply: Response | None = None,
    detail: str | None = None,
) -> Decision:
    """Remove members, with one bump of the group epoch for all (K8-LV-1, K8-LV-5)."""
    if not members:
        return Decision(reply=reply)
    ids = tuple(member.member_id for member in members)
    if leaves_only_classic(group, members) and _may_downgrade(
        group, len(group.members) - len(members), environment
    ):
        why = f"Downgrade group {group.group_id} from consumer to classic for member leaving."
        return Decision(reply=reply, downgrade=Downgrade(ids, reason, detail, rebalance=why))
    events: list[ev.ConsumerEvent] = [
        ev.ConsumerMemberRemoved(member_id, reason, detail) for member_id in ids
    ]
    subscribers, forgotten = without(group, members)
    events += [ev.TopicRegexForgotten(regex) for regex in forgotten]
    new_hash = metadata_hash(subscribers, environment.topics)
    epoch = group.group_epoch + 1
    events.append(ev.GroupEpochBumped(epoch, new_hash, f"{', '.join(ids)} {_why(reason, detail)}"))
    if len(members) == len(group.members) and environment.release.has("K8-EP-44-1"):
        events.append(ev.TargetAssigned(epoch, None, ()))
    return Decision(
        tuple(events),
        reply,
        tuple([Timer(kind, member_id, None) for member_id in ids for kind in TimerKind]),
    )


def _why(reason: str, detail: str | None) -> str:
    if reason != Removal.SESSION_EXPIRED:
        return reason
    by_hand = " (it was ended by hand)" if detail == Removal.ENDED_BY_HAND else ""
    return f"had a session that expired{by_hand}"


def leaves_only_classic(group: ConsumerMembership, leaving: Collection[Member]) -> bool:
    """Return True if some members would remain, all of the classic protocol."""
    classic = sum(member.classic is not None for member in leaving)
    left = len(group.members) - len(leaving)
    return left > 0 and group.classic_members - classic == left


def _may_downgrade(group: ConsumerMembership, size: int, environment: Environment) -> bool:
    return environment.migration.allows_downgrade and size <= environment.classic_max_size


def may_downgrade_for(
    group: ConsumerMembership, replaced: Member, environment: Environment
) -> bool:
    """Return True if the group becomes classic when a classic member replaces `replaced`
    (K8-MIG-2).
    """
    if replaced.classic is not None or group.classic_members != len(group.members) - 1:
        return False
    return _may_downgrade(group, len(group.members), environment)


def decide_leave_group(
    group: ConsumerMembership,
    request: LeaveGroupRequest,
    api_version: int,
    environment: Environment,
) -> Decision:
    """Decide a LeaveGroup with members of either protocol; each has its own result, and the epoch
    is bumped once (K8-CLS-7).
    """
    batch = api_version >= _LEAVE_NAMES_MEMBERS
    identities = request.members if batch else [MemberIdentity(member_id=request.member_id)]
    leaving: dict[str, Member] = {}
    results = []
    detail = None
    for identity in identities:
        error = ErrorCode.NONE
        try:
            member = _named(group, identity)
            leaving[member.member_id] = member
            detail = detail or identity.reason
        except Refused as refused:
            error = refused.error
        results.append(
            MemberResponse(
                member_id=identity.member_id,
                group_instance_id=identity.group_instance_id,
                error_code=error,
            )
        )
    reply = (
        LeaveGroupResponse(members=results)
        if batch
        else LeaveGroupResponse(error_code=results[0].error_code)
    )
    return remove(group, list(leaving.values()), Removal.LEFT, environment, reply, detail)


def _named(group: ConsumerMembership, identity: MemberIdentity) -> Member:
    if identity.group_instance_id is None:
        member = group.members.get(identity.member_id)
        if member is None:
            raise unknown_member(group, identity.member_id)
        return member
    holder = static_member(group, identity.group_instance_id)
    if holder is None:
        raise Refused(
            ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {identity.group_instance_id} is unknown."
        )
    if identity.member_id:
        refuse_fenced(holder, identity.group_instance_id, identity.member_id)
    return holder


_REASONS = {
    TimerKind.SESSION: Removal.SESSION_EXPIRED,
    TimerKind.REBALANCE: Removal.DID_NOT_REVOKE,
    TimerKind.JOIN: Removal.DID_NOT_REJOIN,
    TimerKind.SYNC: Removal.DID_NOT_SYNC,
}


def timer_expired(
    group: ConsumerMembership,
    kind: TimerKind,
    member_id: str,
    environment: Environment,
    *,
    by_hand: bool = False,
) -> Decision:
    """Remove a member whose timer expired or whose session a test ended (K8-LV-5, K8-REC-6,
    K8-CLS-6).
    """
    member = group.members.get(member_id)
    if member is None or (
        kind is TimerKind.REBALANCE and member.state is not MemberState.UNREVOKED
    ):
        return Decision()
    detail = None
    if by_hand:
        detail = Removal.ENDED_BY_HAND
    elif kind is TimerKind.SESSION:
        own = environment.settings(group.group_id) if member.classic is None else member.classic
        detail = f"{own.session_timeout_ms} ms"
    return remove(group, [member], _REASONS[kind], environment, detail=detail)


def timers_after_load(
    group: ConsumerMembership, now: int, environment: Environment
) -> tuple[Timer, ...]:
    """Return the timers after a load: every member's session, and the revocation timers (K8-HB-1
    step 8, K8-REC-6).
    """
    session_ms = environment.settings(group.group_id).session_timeout_ms
    timers = [Timer(TimerKind.SESSION, member_id, now + session_ms) for member_id in group.members]
    revoking = [
        m
        for m in group.members.values()
        if m.state is MemberState.UNREVOKED and m.member_epoch != LEFT_FOR_NOW
    ]
    timers += [
        Timer(TimerKind.REBALANCE, member.member_id, now + member.rebalance_timeout_ms)
        for member in revoking
    ]
    return tuple(timers)
