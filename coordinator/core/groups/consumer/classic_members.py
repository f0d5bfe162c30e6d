"""Members of the classic protocol in a consumer group: JoinGroup, SyncGroup and Heartbeat
(K8-CLS-1..6).

Such a member uses the group's epochs as generations. It is never parked: every request is
answered at once.
"""

from __future__ import annotations

from typing import Final

from coordinator.base.errors import ErrorCode
from coordinator.events.groups import consumer as ev
from coordinator.wire.consumer_protocol import HIGHEST_VERSION, Subscription, WireError
from coordinator.wire.consumer_protocol import Assignment as AssignmentBlob
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from coordinator.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from coordinator.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse

from .environment import Environment, MigrationPolicy, Topics
from .heartbeat import (
    Caller,
    advance,
    known_static_member,
    rebalance_timer,
    reconciled,
    refuse_fenced,
    refuse_if_full,
    replacement,
    static_member,
    subscribe,
    unknown_member,
)
from .leave import may_downgrade_for
from .model import ConsumerMembership, Held, Member, MemberState
from .requests import Decision, Downgrade, Refused, Timer, TimerKind
from .target import current_target, update_target

PROTOCOL_TYPE: Final = "consumer"
_KNOWN_ID_NEEDED: Final = 4
"""From this version a dynamic member must join with an id (KIP-394)."""


def decide_join(
    group: ConsumerMembership,
    request: JoinGroupRequest,
    api_version: int,
    fresh_id: str,
    caller: Caller,
    now: int,
    environment: Environment,
) -> Decision:
    """Decide a JoinGroup to a consumer group with members. Raises Refused (K8-CLS-1..3)."""
    disabled = environment.migration is MigrationPolicy.DISABLED
    if disabled and environment.release.has("K8-MIG-42-1"):
        raise Refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    unknown = not request.member_id
    member_id = request.member_id or fresh_id
    refuse_if_full(group, member_id, environment)
    if not _supports(group, request):
        raise Refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    instance_id = request.group_instance_id
    if unknown and instance_id is None and api_version >= _KNOWN_ID_NEEDED:
        return Decision(
            reply=JoinGroupResponse(error_code=ErrorCode.MEMBER_ID_REQUIRED, member_id=member_id)
        )
    old, replaced = _joining(group, member_id, instance_id, unknown)
    downgrades = False
    if instance_id is not None:
        holder = static_member(group, instance_id)
        downgrades = holder is not None and may_downgrade_for(group, holder, environment)
    subscription = _subscription(request, environment)
    protocols = tuple((protocol.name, bytes(protocol.metadata)) for protocol in request.protocols)
    new = old._replace(
        instance_id=old.instance_id if instance_id is None else instance_id,
        rack_id=subscription.rack_id or old.rack_id,
        rebalance_timeout_ms=old.rebalance_timeout_ms
        if request.rebalance_timeout_ms == -1
        else request.rebalance_timeout_ms,
        topics=frozenset(subscription.topics),
        regex="",
        client_id=caller.client_id,
        client_host=caller.client_host,
        classic=ev.ClassicSettings(request.session_timeout_ms, protocols),
    )
    events: list[ev.ConsumerEvent] = []
    if replaced is not None:
        events.append(replacement(group, old, replaced, environment.topics))
    progress = subscribe(group, old, new, subscription.topics, now, environment, by_join=True)
    events += progress.events
    owned = [
        (i, list(of.partitions))
        for of in subscription.owned_partitions
        if (i := environment.topics.topic_id(of.topic)) is not None
    ]
    if downgrades:
        return _downgrade(
            group,
            request,
            new,
            progress.group_epoch,
            progress.subscription_changed,
            owned,
            environment,
        )
    outcome = update_target(
        group, progress.group_epoch, old, new, progress.homogeneous, now, environment
    )
    if outcome.event is not None:
        events.append(outcome.event)
    moved = advance(
        group, new, outcome.epoch, outcome.target, progress.subscription_changed, owned, environment
    )
    timers = [
        Timer(TimerKind.JOIN, member_id, None),
        Timer(TimerKind.SESSION, member_id, now + request.session_timeout_ms),
        Timer(TimerKind.SYNC, member_id, now + request.rebalance_timeout_ms),
    ]
    if moved is not new:
        events.append(reconciled(moved, environment.topics))
        timers.append(rebalance_timer(moved, now))
    if replaced is not None and replaced.member_id != member_id:
        timers += [Timer(kind, replaced.member_id, None) for kind in TimerKind]
    return Decision(
        tuple(events),
        _joined(moved, request),
        tuple(timers),
        progress.checked_version,
        progress.resolve,
    )


def _supports(group: ConsumerMembership, request: JoinGroupRequest) -> bool:
    """Return True if the joining member shares a protocol with all classic members (K8-CLS-1)."""
    if request.protocol_type != PROTOCOL_TYPE:
        return False
    return any(
        group.classic_support.get(protocol.name, 0) == group.classic_members
        for protocol in request.protocols
    )


def _joining(
    group: ConsumerMembership, member_id: str, instance_id: str | None, unknown: bool
) -> tuple[Member, Member | None]:
    """Return the member before the request, and the member that it replaces (K8-CLS-3)."""
    if instance_id is None:
        return group.members.get(member_id) or Member(member_id), None
    if not unknown:
        return known_static_member(group, instance_id, member_id), None
    holder = static_member(group, instance_id)
    if holder is None:
        return Member(member_id), None
    return holder._replace(member_id=member_id, member_epoch=0, previous_epoch=0), holder


def _subscription(request: JoinGroupRequest, environment: Environment) -> Subscription:
    """Decode the member's subscription. Raises Refused if it cannot be decoded (K8-CLS-44-3)."""
    try:
        return Subscription.decode(bytes(request.protocols[0].metadata))
    except WireError:
        raise Refused(
            ErrorCode.INCONSISTENT_GROUP_PROTOCOL
            if environment.release.has("K8-CLS-44-3")
            else ErrorCode.UNKNOWN_SERVER_ERROR
        ) from None


def _joined(member: Member, request: JoinGroupRequest) -> JoinGroupResponse:
    """Return the JoinGroup response, in which every member is a follower: no leader, no member list
    (K8-CLS-2).
    """
    return JoinGroupResponse(
        member_id=member.member_id,
        generation_id=member.member_epoch,
        protocol_type=PROTOCOL_TYPE,
        protocol_name=request.protocols[0].name,
    )


def _downgrade(
    group: ConsumerMembership,
    request: JoinGroupRequest,
    new: Member,
    group_epoch: int,
    changed: bool,
    owned: list[tuple[bytes, list[int]]],
    environment: Environment,
) -> Decision:
    """Decide a replacement of the last member of the consumer protocol by a classic one, which
    makes the group classic (K8-MIG-2).
    """
    stale = group.assignment_epoch < group_epoch
    moved = new
    if not stale:
        moved = advance(
            group,
            new,
            group.assignment_epoch,
            current_target(group, new),
            changed,
            owned,
            environment,
        )
    why = (
        f"Downgrade group {group.group_id} from consumer to classic with stale assignment."
        if stale
        else None
    )
    replaced = group.static_members[new.instance_id or ""]
    return Decision(
        reply=_joined(moved, request), downgrade=Downgrade((), "replaced", None, replaced, new, why)
    )


def decide_sync(
    group: ConsumerMembership, request: SyncGroupRequest, now: int, topics: Topics
) -> Decision:
    """Decide the SyncGroup of a classic member: return its assignment in the classic format. Raises
    Refused (K8-CLS-4).
    """
    member = _classic_member(
        group, request.member_id, request.group_instance_id, request.generation_id
    )
    assert member.classic is not None
    first, metadata = member.classic.protocols[0]
    if request.protocol_type not in (None, PROTOCOL_TYPE) or request.protocol_name not in (
        None,
        first,
    ):
        raise Refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if group.assignment_epoch > member.member_epoch and member.state is not MemberState.UNREVOKED:
        due = Timer(
            TimerKind.JOIN, member.member_id, now + member.rebalance_timeout_ms, if_absent=True
        )
        return Decision(
            reply=SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS), timers=(due,)
        )
    timers = (
        Timer(TimerKind.SYNC, member.member_id, None),
        Timer(TimerKind.SESSION, member.member_id, now + member.classic.session_timeout_ms),
    )
    blob = assignment_blob({t: tuple(p) for t, p in member.held.items()}, metadata, topics)
    reply = SyncGroupResponse(
        protocol_type=request.protocol_type, protocol_name=request.protocol_name, assignment=blob
    )
    return Decision(reply=reply, timers=timers)


def decide_classic_heartbeat(
    group: ConsumerMembership, request: HeartbeatRequest, now: int, environment: Environment
) -> Decision:
    """Decide the Heartbeat of a classic member: it must rejoin if its assignment changes. Raises
    Refused (K8-CLS-5, K8-CLS-43-5).
    """
    member = _classic_member(
        group, request.member_id, request.group_instance_id, request.generation_id
    )
    assert member.classic is not None
    session = Timer(TimerKind.SESSION, member.member_id, now + member.classic.session_timeout_ms)
    by_target = environment.release.has("K8-CLS-43-5")
    behind = member.member_epoch < (group.assignment_epoch if by_target else group.group_epoch)
    released = member.state is MemberState.UNRELEASED and not _waits(group, member)
    if not (behind or member.state is MemberState.UNREVOKED or released):
        return Decision(reply=HeartbeatResponse(), timers=(session,))
    due = Timer(TimerKind.JOIN, member.member_id, now + member.rebalance_timeout_ms, if_absent=True)
    return Decision(
        reply=HeartbeatResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS), timers=(session, due)
    )


def _waits(group: ConsumerMembership, member: Member) -> bool:
    """Return True if another member still holds a partition of the member's target."""
    held: Held = member.held
    return any(
        partition not in held.get(topic_id, {}) and group.owner_epoch(topic_id, partition) != -1
        for topic_id, partitions in group.target(member.member_id).items()
        for partition in partitions
    )


def _classic_member(
    group: ConsumerMembership, member_id: str, instance_id: str | None, generation: int
) -> Member:
    """Return the member that sent a request of the classic protocol. Raises Refused with 25, 82 or
    22 (K8-CLS-4, K8-CLS-5).
    """
    if instance_id is None:
        member = group.members.get(member_id)
    else:
        member = static_member(group, instance_id)
        if member is not None:
            refuse_fenced(member, instance_id, member_id)
    if member is None or member.classic is None:
        raise unknown_member(group, member_id)
    if member.member_epoch != generation:
        raise Refused(ErrorCode.ILLEGAL_GENERATION)
    return member


def assignment_blob(target: dict[bytes, tuple[int, ...]], metadata: bytes, topics: Topics) -> bytes:
    """Encode partitions as in a SyncGroup response, in the version of the member's subscription;
    deleted topics are left out.
    """
    version = int.from_bytes(metadata[:2], "big", signed=True)
    named = {
        name: partitions
        for topic_id, partitions in target.items()
        if (name := topics.topic_name(topic_id)) is not None
    }
    return AssignmentBlob.of(named).encode(min(version, HIGHEST_VERSION))
