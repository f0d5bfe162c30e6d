"""Decisions about JoinGroup (A.3, A.4, A.7): new members, rejoining members, and static members
under a new member id.
"""

from __future__ import annotations

from coordinator.base.errors import ErrorCode
from coordinator.events import groups as ev
from coordinator.events.groups import Removal
from coordinator.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse

from ...config import GroupConfig
from ...requests import Decision, Parked, RequestContext, Then
from ..model import ClassicGroup, Member, Protocols
from ..responses import join_error, members_for_leader
from ..selection import select_protocol, supports
from ..settle import removal
from ..states import COMPLETING_REBALANCE, DEAD, EMPTY, PREPARING_REBALANCE, STABLE
from .record import append_error, record_if_replaced

#: From this version a dynamic member must first learn its id (KIP-394, MID-3).
_REQUIRES_KNOWN_MEMBER_ID = 4
#: From this version a leader can be told to skip the assignment (KIP-814, STA-4).
_CAN_SKIP_ASSIGNMENT = 9


def refuse_join(
    request: JoinGroupRequest, context: RequestContext, config: GroupConfig
) -> ErrorCode:
    """Return the error of the checks that need no group: INVALID_GROUP_ID for an empty id,
    INVALID_SESSION_TIMEOUT for one out of bounds (ENT-3).
    """
    if not request.group_id:
        return ErrorCode.INVALID_GROUP_ID
    if (
        not config.min_session_timeout_ms
        <= request.session_timeout_ms
        <= config.max_session_timeout_ms
    ):
        return ErrorCode.INVALID_SESSION_TIMEOUT
    return ErrorCode.NONE


def decide_join(
    group: ClassicGroup,
    request: JoinGroupRequest,
    context: RequestContext,
    now: int,
    config: GroupConfig,
) -> Decision:
    """Decide a JoinGroup in an existing, or just created, group (JOIN-3, JOIN-4)."""
    member_id = request.member_id
    if not _accepts(group, member_id, config):
        return _turned_away(group, member_id)
    if group.state is DEAD:
        return Decision(reply=join_error(ErrorCode.COORDINATOR_NOT_AVAILABLE, member_id))
    protocols: Protocols = tuple((p.name, p.metadata) for p in request.protocols)
    if not supports(group, request.protocol_type, protocols):
        return Decision(reply=join_error(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, member_id))
    if not member_id:
        return _new_member(group, request, protocols, context, now, config)
    if member_id in group.pending:
        if request.group_instance_id is not None:  # MID-7: Kafka trips over it
            return Decision(reply=join_error(ErrorCode.UNKNOWN_SERVER_ERROR))
        return _added(group, member_id, request, protocols, context)
    error = group.refuse_member(member_id, request.group_instance_id)
    if error:
        return Decision(reply=join_error(error, member_id))
    return _known_member(group, group.members[member_id], request, protocols, context)


def _accepts(group: ClassicGroup, member_id: str, config: GroupConfig) -> bool:
    """Return whether the group has room for this joining member (SIZE-1)."""
    if group.state is EMPTY or group.state is DEAD:
        return True
    member = group.members.get(member_id)
    if group.state is PREPARING_REBALANCE:
        return (
            member is not None and member.awaiting_join
        ) or group.awaiting_join < config.max_size
    return member is not None or len(group.members) < config.max_size


def _turned_away(group: ClassicGroup, member_id: str) -> Decision:
    """Refuse with GROUP_MAX_SIZE_REACHED and remove the member if its id was known, without
    checking whether the join phase is complete (SIZE-1, REB-8).
    """
    reply = join_error(ErrorCode.GROUP_MAX_SIZE_REACHED)
    if member_id in group.pending:
        return Decision((ev.PendingMemberRemoved(member_id, Removal.GROUP_FULL),), reply)
    member = group.members.get(member_id)
    if member is not None:
        return Decision((removal(group, member, Removal.GROUP_FULL),), reply)
    return Decision(reply=reply)


def _new_member(
    group: ClassicGroup,
    request: JoinGroupRequest,
    protocols: Protocols,
    context: RequestContext,
    now: int,
    config: GroupConfig,
) -> Decision:
    """Decide a JoinGroup without member id: a static member joins or replaces another, a dynamic
    one may first get its id (MID-1..4).
    """
    instance_id = request.group_instance_id
    if instance_id is not None:
        new_id = f"{instance_id}-{context.fresh_id}"
        if instance_id in group.static_members:
            return _replacement(
                group, new_id, instance_id, request, protocols, context, now, config
            )
        return _added(group, new_id, request, protocols, context)
    new_id = f"{context.client_id}-{context.fresh_id}"
    if context.api_version >= _REQUIRES_KNOWN_MEMBER_ID:
        pending = ev.MemberPending(new_id, context.client_id, now + request.session_timeout_ms)
        return Decision((pending,), join_error(ErrorCode.MEMBER_ID_REQUIRED, new_id))
    return _added(group, new_id, request, protocols, context)


def _added(
    group: ClassicGroup,
    member_id: str,
    request: JoinGroupRequest,
    protocols: Protocols,
    context: RequestContext,
) -> Decision:
    """Add a new member and park it; a rebalance starts or continues (JOIN-6, JOIN-11, JOIN-12)."""
    joined = ev.MemberJoined(
        member_id,
        request.group_instance_id,
        context.client_id,
        context.client_host,
        request.session_timeout_ms,
        _rebalance_timeout_ms(request, context),
        request.protocol_type,
        protocols,
        group.leader if group.leader is not None else member_id,  # LEAD-1
        group.state is PREPARING_REBALANCE and group.previous_state is EMPTY,  # DLY-3
    )
    return _parked(member_id, joined, f"member {member_id} joined")


def _parked(member_id: str, event: ev.Event, reason: str) -> Decision:
    return Decision((event,), parks=(member_id, Parked.JOIN), then=Then.REBALANCE, reason=reason)


def _rebalance_timeout_ms(request: JoinGroupRequest, context: RequestContext) -> int:
    """Return the rebalance timeout; for version 0, which has none, the session timeout (ENT-7)."""
    return request.session_timeout_ms if context.api_version == 0 else request.rebalance_timeout_ms


def _known_member(
    group: ClassicGroup,
    member: Member,
    request: JoinGroupRequest,
    protocols: Protocols,
    context: RequestContext,
) -> Decision:
    """Decide the JoinGroup of a known member id, by the state table of JOIN-4."""
    leads = member.member_id == group.leader
    changed = protocols != member.protocols
    if group.state is EMPTY:
        return Decision(reply=join_error(ErrorCode.UNKNOWN_MEMBER_ID, member.member_id))
    if not changed and (
        group.state is COMPLETING_REBALANCE or (group.state is STABLE and not leads)
    ):
        return Decision(
            reply=_current_generation(
                group, member.member_id, leads and group.state is COMPLETING_REBALANCE
            )
        )
    event = ev.MemberRejoined(
        member.member_id,
        request.session_timeout_ms,
        _rebalance_timeout_ms(request, context),
        protocols,
        changed,
    )
    who = "leader" if leads else "member"
    return _parked(
        member.member_id,
        event,
        f"{who} {member.member_id} rejoined" + (" with changed metadata" if changed else ""),
    )


def _current_generation(
    group: ClassicGroup, member_id: str, with_members: bool
) -> JoinGroupResponse:
    assert group.leader is not None
    return JoinGroupResponse(
        generation_id=group.generation,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader=group.leader,
        member_id=member_id,
        members=members_for_leader(group, group.protocol_name) if with_members else [],
    )


def _replacement(
    group: ClassicGroup,
    new_id: str,
    instance_id: str,
    request: JoinGroupRequest,
    protocols: Protocols,
    context: RequestContext,
    now: int,
    config: GroupConfig,
) -> Decision:
    """Replace a static member by its new member id (STA-2), without a rebalance if the group is
    Stable and its protocol stays (STA-3).
    """
    old_id = group.static_members[instance_id]
    leader = new_id if group.leader == old_id else group.leader
    quiet = group.state is STABLE and _protocol_stays(group, old_id, new_id, protocols)
    replaced = ev.MemberReplaced(
        new_id,
        old_id,
        instance_id,
        request.session_timeout_ms,
        _rebalance_timeout_ms(request, context),
        protocols,
        leader,
        not quiet,
    )
    if quiet:
        return _quiet_replacement(group, replaced, context, config)
    return _parked(new_id, replaced, f"static member {instance_id} came back as {new_id}")


def _protocol_stays(group: ClassicGroup, old_id: str, new_id: str, protocols: Protocols) -> bool:
    """Return True if the group would select the same protocol after the replacement."""
    if len(protocols) == 1 and protocols[0][0] == group.protocol_name:
        # all members offer the group's protocol, and this one offers no other: there is no choice
        return True
    order = group.members.order_if_replaced(old_id, new_id)
    offers = (
        protocols if member_id == new_id else group.members[member_id].protocols
        for member_id in order
    )
    return select_protocol(offers) == group.protocol_name


def _quiet_replacement(
    group: ClassicGroup, replaced: ev.MemberReplaced, context: RequestContext, config: GroupConfig
) -> Decision:
    """Answer a replacement without a rebalance (STA-4). If the new membership cannot be written,
    nothing changes (STA-5).
    """
    record = record_if_replaced(group, replaced)
    error = append_error(group.group_id, record, config)
    before = group.leader
    if error:
        reply = _current_generation(group, "", False)
        reply.error_code = error
        return Decision(reply=reply)

    def answer() -> JoinGroupResponse:
        if context.api_version < _CAN_SKIP_ASSIGNMENT:
            reply = _current_generation(group, replaced.member_id, False)
            reply.leader = before or ""
            return reply
        leads = group.leader == replaced.member_id
        reply = _current_generation(group, replaced.member_id, leads)
        reply.skip_assignment = leads
        return reply

    return Decision((replaced, record), answer=answer)
