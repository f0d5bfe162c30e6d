"""Decisions about LeaveGroup (A.8): one or several members leave, each with its own result."""

from __future__ import annotations

from coordinator.base.errors import ErrorCode
from coordinator.events import groups as ev
from coordinator.events.groups import Removal
from coordinator.wire.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)

from ...config import GroupConfig
from ...requests import Decision, RequestContext, Then
from ..model import ClassicGroup
from ..states import COMPLETING_REBALANCE, DEAD, STABLE

#: From this version a request names several members and each has its own result (LV-6).
_BATCH = 3


def identities(request: LeaveGroupRequest, context: RequestContext) -> list[MemberIdentity]:
    """Return the members that are to leave: the batch, or the single member of old versions (LV-6)."""
    return (
        request.members
        if context.api_version >= _BATCH
        else [MemberIdentity(member_id=request.member_id)]
    )


def leave_response(context: RequestContext, results: list[MemberResponse]) -> LeaveGroupResponse:
    """Return the response in the form of the request's version; old versions have the single
    member's error only (LV-6).
    """
    if context.api_version >= _BATCH:
        return LeaveGroupResponse(members=results)
    return LeaveGroupResponse(error_code=results[0].error_code)


def leave_without_group(request: LeaveGroupRequest, context: RequestContext) -> LeaveGroupResponse:
    """Return the response if the group does not exist: every member is unknown (LV-1)."""
    return leave_response(
        context, [_result(i, ErrorCode.UNKNOWN_MEMBER_ID) for i in identities(request, context)]
    )


def decide_leave(
    group: ClassicGroup,
    request: LeaveGroupRequest,
    context: RequestContext,
    now: int,
    config: GroupConfig,
) -> Decision:
    """Remove the members that the request names, then settle once (LV-2, LV-4, LV-8)."""
    if group.state is DEAD:
        return Decision(reply=LeaveGroupResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE))
    leaving = _Leaving(group)
    results = [
        _result(identity, leaving.take(identity)) for identity in identities(request, context)
    ]
    reply = leave_response(context, results)
    if not leaving.events:
        return Decision(reply=reply)
    then = Then.COMPLETE
    if group.state in (STABLE, COMPLETING_REBALANCE) and (
        any(isinstance(event, ev.MemberRemoved) for event in leaving.events)
        or config.consumer is None
        or config.consumer.release.has("LV-40-1")
    ):
        then = Then.REBALANCE
    return Decision(
        tuple(leaving.events), reply, then=then, reason=f"{', '.join(leaving.names)} left"
    )


def _result(identity: MemberIdentity, error: ErrorCode) -> MemberResponse:
    return MemberResponse(
        member_id=identity.member_id, group_instance_id=identity.group_instance_id, error_code=error
    )


class _Leaving:
    """Members of one batch, removed one after the other; each check sees the earlier removals."""

    def __init__(self, group: ClassicGroup) -> None:
        self.group = group
        self.gone: set[str] = set()
        self.leader = group.leader
        self.candidates = group.members.walk()
        """Members that may lead next. Who was passed over is gone, so the search never starts
        again."""
        self.events: list[ev.Event] = []
        self.names: list[str] = []

    def take(self, identity: MemberIdentity) -> ErrorCode:
        group, member_id, instance_id = self.group, identity.member_id, identity.group_instance_id
        if not member_id:
            known = group.static_members.get(instance_id) if instance_id is not None else None
            if known is None or known in self.gone:
                return ErrorCode.UNKNOWN_MEMBER_ID
            member_id = known
        elif member_id in group.pending and member_id not in self.gone:
            self._record(member_id, ev.PendingMemberRemoved(member_id, Removal.LEFT))
            return ErrorCode.NONE
        else:
            error = self._refuse(member_id, instance_id)
            if error:
                return error
        self._remove(member_id, identity.reason)
        return ErrorCode.NONE

    def _refuse(self, member_id: str, instance_id: str | None) -> ErrorCode:
        """Return the error of a member (VAL-1), where earlier members of the batch count as gone."""
        if instance_id is not None and self.group.static_members.get(instance_id) in self.gone:
            return ErrorCode.UNKNOWN_MEMBER_ID
        error = self.group.refuse_member(member_id, instance_id)
        return ErrorCode.UNKNOWN_MEMBER_ID if not error and member_id in self.gone else error

    def _remove(self, member_id: str, reason: str | None) -> None:
        if self.leader == member_id:
            self.leader = self._first_other(member_id)
        self._record(member_id, ev.MemberRemoved(member_id, Removal.LEFT, self.leader, reason))

    def _first_other(self, member_id: str) -> str | None:
        """Return the first member in Java's order that remains after this one left (LEAD-2). The
        members are walked over once for the whole batch.
        """
        for member in self.candidates:
            if member.member_id != member_id and member.member_id not in self.gone:
                return member.member_id
        return None

    def _record(self, member_id: str, event: ev.Event) -> None:
        self.gone.add(member_id)
        self.events.append(event)
        self.names.append(member_id)
