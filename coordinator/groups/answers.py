"""Which parked requests an event releases, and with what.

To be asked before the event is folded: the group still shows who waits. Only the coordinator knows the waiting clients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..errors import ErrorCode
from ..wire.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from ..wire.messages.sync_group import SyncGroupResponse
from ..wire.schema import Response
from . import events as ev
from .model import Group, Member
from .requests import Parked

Answer = tuple[str, Parked, Response]  # member id, which of its requests, with what


def answers(group: Group, event: ev.Event) -> Iterator[Answer] | tuple[()]:
    """The parked requests of `group` that `event` answers, in Java's order of members."""
    find = _ANSWERS.get(type(event))
    return () if find is None else find(group, event)


def join_error(error: int, member_id: str = "") -> JoinGroupResponse:
    """A refused JoinGroup: generation -1, no leader, no members, null protocol (JOIN-9)."""
    return JoinGroupResponse(error_code=error, member_id=member_id, generation_id=-1, protocol_name=None)


def sync_error(error: int) -> SyncGroupResponse:
    """A refused SyncGroup: no assignment, null protocol type and name (SYNC-1)."""
    return SyncGroupResponse(error_code=error)


def members_for_leader(group: Group, protocol_name: str | None) -> list[JoinGroupResponseMember]:
    """The member list a leader gets: everyone, in Java's order, with the metadata of the selected protocol (JOIN-9)."""
    return [
        JoinGroupResponseMember(member_id=m.member_id, group_instance_id=m.group_instance_id, metadata=m.metadata(protocol_name))
        for m in group
    ]


def _generation_started(group: Group, event: ev.GenerationStarted) -> Iterator[Answer]:
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


def _generation_stored(group: Group, event: ev.GenerationStored) -> Iterator[Answer]:
    for stored in event.members:
        if group.members[stored.member_id].awaiting_sync:
            response = SyncGroupResponse(
                protocol_type=event.protocol_type, protocol_name=event.protocol_name, assignment=stored.assignment
            )
            yield stored.member_id, Parked.SYNC, response


def _syncs(group: Group, error: int) -> Iterator[Answer]:
    for member in group:
        if member.awaiting_sync:
            yield member.member_id, Parked.SYNC, sync_error(error)


def _rebalance_started(group: Group, event: ev.RebalanceStarted) -> Iterator[Answer]:
    return _syncs(group, ErrorCode.REBALANCE_IN_PROGRESS)


def _rejected(group: Group, event: ev.AssignmentRejected) -> Iterator[Answer]:
    return _syncs(group, event.error)


def _removed(group: Group, event: ev.MemberRemoved) -> Iterator[Answer]:
    """A removed member's JoinGroup is answered; its SyncGroup never is (SYNC-7)."""
    if group.members[event.member_id].awaiting_join:
        yield event.member_id, Parked.JOIN, join_error(ErrorCode.UNKNOWN_MEMBER_ID)


def _replaced(group: Group, event: ev.MemberReplaced) -> Iterator[Answer]:
    yield from _waiting(group.members[event.replaced], ErrorCode.FENCED_INSTANCE_ID)


def _unloaded(group: Group, event: ev.GroupUnloaded) -> Iterator[Answer]:
    for member in group:
        yield from _waiting(member, event.error)


def _waiting(member: Member, error: int) -> Iterator[Answer]:
    if member.awaiting_join:
        yield member.member_id, Parked.JOIN, join_error(error, member.member_id)
    if member.awaiting_sync:
        yield member.member_id, Parked.SYNC, sync_error(error)


_ANSWERS: dict[type, Callable[[Group, Any], Iterator[Answer]]] = {
    ev.GenerationStarted: _generation_started,
    ev.GenerationStored: _generation_stored,
    ev.RebalanceStarted: _rebalance_started,
    ev.AssignmentRejected: _rejected,
    ev.MemberRemoved: _removed,
    ev.MemberReplaced: _replaced,
    ev.GroupUnloaded: _unloaded,
}
