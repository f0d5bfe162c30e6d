"""Responses to parked requests: which of them an event answers, and with what.

Call it before the event is folded, while the group still shows the waiting members. Only the
shard knows the clients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from coordinator.base.errors import ErrorCode
from coordinator.events import groups as ev
from coordinator.wire.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from coordinator.wire.messages.sync_group import SyncGroupResponse
from coordinator.wire.schema import Response

from ..requests import Parked
from .model import ClassicGroup, Member

ParkedResponse = tuple[str, Parked, Response]  # member id, which of its requests, the response


def responses_to_parked(
    group: ClassicGroup, event: ev.Event
) -> Iterator[ParkedResponse] | tuple[()]:
    """Return the responses to the parked requests that `event` answers, in Java's order of members
    (HM-3).
    """
    find = _RESPONSES.get(type(event))
    return () if find is None else find(group, event)


def join_error(error: int, member_id: str = "") -> JoinGroupResponse:
    """Return a refused JoinGroup: generation -1, no leader, no members, null protocol (JOIN-9)."""
    return JoinGroupResponse(
        error_code=error, member_id=member_id, generation_id=-1, protocol_name=None
    )


def in_version(response: Response, api_version: int) -> Response:
    """Adapt a JoinGroup response to its version: an absent or empty protocol name is "" before
    version 7 and null from then on (JOIN-9). Other responses are returned unchanged.
    """
    if isinstance(response, JoinGroupResponse) and not response.protocol_name:
        response.protocol_name = "" if api_version < 7 else None
    return response


def sync_error(error: int) -> SyncGroupResponse:
    """Return a refused SyncGroup: no assignment, null protocol type and name (SYNC-1)."""
    return SyncGroupResponse(error_code=error)


def members_for_leader(
    group: ClassicGroup, protocol_name: str | None
) -> list[JoinGroupResponseMember]:
    """Return the member list for the leader: all members in Java's order, with the metadata of the
    selected protocol (JOIN-9).
    """
    return [
        JoinGroupResponseMember(
            member_id=m.member_id,
            group_instance_id=m.group_instance_id,
            metadata=m.metadata(protocol_name),
        )
        for m in group
    ]


def _generation_started(
    group: ClassicGroup, event: ev.GenerationStarted
) -> Iterator[ParkedResponse]:
    nobody: list[JoinGroupResponseMember] = []
    for member in group:
        if not member.awaiting_join:
            continue
        leads = member.member_id == event.leader
        yield (
            member.member_id,
            Parked.JOIN,
            JoinGroupResponse(
                generation_id=event.generation,
                protocol_type=group.protocol_type,
                protocol_name=event.protocol_name,
                leader=event.leader,
                member_id=member.member_id,
                members=members_for_leader(group, event.protocol_name) if leads else nobody,
            ),
        )


def _generation_stored(group: ClassicGroup, event: ev.GenerationStored) -> Iterator[ParkedResponse]:
    for stored in event.members:
        if group.members[stored.member_id].awaiting_sync:
            response = SyncGroupResponse(
                protocol_type=event.protocol_type,
                protocol_name=event.protocol_name,
                assignment=stored.assignment,
            )
            yield stored.member_id, Parked.SYNC, response


def _syncs(group: ClassicGroup, error: int) -> Iterator[ParkedResponse]:
    for member in group:
        if member.awaiting_sync:
            yield member.member_id, Parked.SYNC, sync_error(error)


def _rebalance_started(group: ClassicGroup, event: ev.RebalanceStarted) -> Iterator[ParkedResponse]:
    return _syncs(group, ErrorCode.REBALANCE_IN_PROGRESS)


def _rejected(group: ClassicGroup, event: ev.AssignmentRejected) -> Iterator[ParkedResponse]:
    return _syncs(group, event.error)


def _removed(group: ClassicGroup, event: ev.MemberRemoved) -> Iterator[ParkedResponse]:
    """Answer a removed member's JoinGroup; its SyncGroup is never answered (SYNC-7)."""
    if group.members[event.member_id].awaiting_join:
        yield event.member_id, Parked.JOIN, join_error(ErrorCode.UNKNOWN_MEMBER_ID)


def _replaced(group: ClassicGroup, event: ev.MemberReplaced) -> Iterator[ParkedResponse]:
    yield from _waiting(group.members[event.replaced], ErrorCode.FENCED_INSTANCE_ID)


def _unloaded(group: ClassicGroup, event: ev.GroupUnloaded) -> Iterator[ParkedResponse]:
    for member in group:
        yield from _waiting(member, event.error)


def _waiting(member: Member, error: int) -> Iterator[ParkedResponse]:
    if member.awaiting_join:
        yield member.member_id, Parked.JOIN, join_error(error, member.member_id)
    if member.awaiting_sync:
        yield member.member_id, Parked.SYNC, sync_error(error)


_RESPONSES: dict[type, Callable[[ClassicGroup, Any], Iterator[ParkedResponse]]] = {
    ev.GenerationStarted: _generation_started,
    ev.GenerationStored: _generation_stored,
    ev.RebalanceStarted: _rebalance_started,
    ev.AssignmentRejected: _rejected,
    ev.MemberRemoved: _removed,
    ev.MemberReplaced: _replaced,
    ev.GroupUnloaded: _unloaded,
}
#: The events that may answer parked requests.
ANSWERING = _RESPONSES.keys()
