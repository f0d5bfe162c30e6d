"""Decisions about SyncGroup (A.5): the leader sends the assignments, every member receives its own."""

from __future__ import annotations

from coordinator.base.errors import ErrorCode
from coordinator.events import groups as ev
from coordinator.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse

from ...config import GroupConfig
from ...requests import Decision, Parked, RequestContext, Then
from ..model import ClassicGroup, Member
from ..responses import sync_error
from ..states import COMPLETING_REBALANCE, DEAD, EMPTY, PREPARING_REBALANCE
from .record import append_error, generation_record

#: From this version a request must name the group's protocol type and name (ENT-2, SYNC-5).
_NAMES_PROTOCOL = 5
NOT_STORED = "the leader's assignment could not be stored"
"""The reason of the rebalance after the leader's assignment could not be written (ERR-2)."""


def refuse_sync(
    request: SyncGroupRequest, context: RequestContext, config: GroupConfig
) -> ErrorCode:
    """Return the error of the check that needs no group: 23 for null protocol fields (ENT-2)."""
    if context.api_version >= _NAMES_PROTOCOL and (
        request.protocol_type is None or request.protocol_name is None
    ):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    return ErrorCode.NONE


def decide_sync(
    group: ClassicGroup,
    request: SyncGroupRequest,
    context: RequestContext,
    now: int,
    config: GroupConfig,
) -> Decision:
    """Decide a SyncGroup (SYNC-1, SYNC-2)."""
    error = _refuse(group, request)
    if error:
        return Decision(reply=sync_error(error))
    member = group.members[request.member_id]
    if group.state is PREPARING_REBALANCE:
        return Decision(reply=sync_error(ErrorCode.REBALANCE_IN_PROGRESS))
    if group.state is COMPLETING_REBALANCE:
        return _while_completing(group, member, request, config)
    reply = SyncGroupResponse(
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        assignment=member.assignment,
    )
    events = (
        (ev.MemberSynced(member.member_id, False),)
        if member.member_id in group.pending_sync
        else ()
    )
    renews = config.consumer is not None and not config.consumer.release.has("SYNC-40-1")
    return Decision(events, reply, alive=renews)


def _refuse(group: ClassicGroup, request: SyncGroupRequest) -> ErrorCode:
    if group.state is DEAD:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if group.state is EMPTY:
        return ErrorCode.UNKNOWN_MEMBER_ID
    error = group.refuse_member(request.member_id, request.group_instance_id)
    if error:
        return error
    if request.generation_id != group.generation:
        return ErrorCode.ILLEGAL_GENERATION
    if request.protocol_type != group.protocol_type and _inconsistent(
        request.protocol_type, group.protocol_type
    ):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if request.protocol_name != group.protocol_name and _inconsistent(
        request.protocol_name, group.protocol_name
    ):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    return ErrorCode.NONE


def _inconsistent(given: str | None, current: str | None) -> bool:
    """Return whether a given name contradicts the group's; a missing one does not."""
    return given is not None and current is not None


def _while_completing(
    group: ClassicGroup, member: Member, request: SyncGroupRequest, config: GroupConfig
) -> Decision:
    """Park the request; the leader's ends the sync phase, stored or not (SYNC-3). Assignments sent
    by other members are ignored (SYNC-4).
    """
    parks = (member.member_id, Parked.SYNC)
    synced = ev.MemberSynced(member.member_id, True)
    if member.member_id != group.leader:
        return Decision((synced,), parks=parks)
    record = generation_record(group, {a.member_id: a.assignment for a in request.assignments})
    error = append_error(group.group_id, record, config)
    if error:
        return Decision(
            (synced, ev.AssignmentRejected(error)),
            parks=parks,
            then=Then.REBALANCE,
            reason=NOT_STORED,
        )
    return Decision((synced, record), parks=parks)
