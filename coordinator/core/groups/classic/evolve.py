"""Fold of classic membership events into a group: the only writer of a `ClassicGroup`. Contains no
rule: every event says the new state.

A group that is `loading` is folded from durable events alone (ERR-7): its members come from
GenerationStored, because the events of single members are not durable. GroupLoaded ends that.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

from coordinator.events import groups as ev
from coordinator.events.groups.consumer import ConsumerGroupDowngraded

from .model import ClassicGroup, Member, Members, Protocols
from .selection import topics_of
from .states import (
    COMPLETING_REBALANCE,
    DEAD,
    EMPTY,
    PREPARING_REBALANCE,
    STABLE,
    GroupState,
    may_follow,
)

_name = itemgetter(0)


def evolve(group: ClassicGroup, event: ev.Event, at: int) -> None:
    """Fold `event`, which happened at the instant `at`, into `group`."""
    FOLDS[type(event)](group, event, at)


def _enter(group: ClassicGroup, state: GroupState, at: int) -> None:
    assert may_follow(group.state, state), f"{group.group_id}: {group.state} -> {state}"
    group.previous_state = group.state
    group.state = state
    group.state_since_ms = at


def _offer(group: ClassicGroup, protocols: Protocols, by: int) -> None:
    for name in {name: None for name, _ in protocols}:
        group.support[name] = group.support.get(name, 0) + by


def _await_join(group: ClassicGroup, member: Member) -> None:
    if not member.awaiting_join:
        member.awaiting_join = True
        group.awaiting_join += 1


def _answered_join(group: ClassicGroup, member: Member) -> None:
    if member.awaiting_join:
        member.awaiting_join = False
        group.awaiting_join -= 1


def _created(group: ClassicGroup, event: ev.GroupCreated, at: int) -> None:
    """Do nothing: a new group is Empty already."""


def _pending(group: ClassicGroup, event: ev.MemberPending, at: int) -> None:
    group.pending[event.member_id] = event.deadline_ms


def _pending_removed(group: ClassicGroup, event: ev.PendingMemberRemoved, at: int) -> None:
    group.pending.pop(event.member_id, None)
    group.pending_sync.pop(event.member_id, None)


def _joined(group: ClassicGroup, event: ev.MemberJoined, at: int) -> None:
    if not group.members:
        group.protocol_type = event.protocol_type
    member = Member(
        event.member_id,
        event.group_instance_id,
        event.client_id,
        event.client_host,
        event.session_timeout_ms,
        event.rebalance_timeout_ms,
        event.protocols,
    )
    member.is_new = True
    group.members.add(member)
    _offer(group, event.protocols, 1)
    _await_join(group, member)
    group.pending.pop(event.member_id, None)
    if event.group_instance_id is not None:
        group.static_members[event.group_instance_id] = event.member_id
    group.leader = event.leader
    if event.extends_delay:
        group.new_member_added = True


def _update(
    group: ClassicGroup, member: Member, event: ev.MemberRejoined | ev.MemberReplaced
) -> None:
    before, member.protocols = member.protocols, event.protocols
    if [*map(_name, before)] != [*map(_name, event.protocols)]:  # mostly only the metadata changes
        _offer(group, before, -1)
        _offer(group, event.protocols, 1)
    member.session_timeout_ms = event.session_timeout_ms
    member.rebalance_timeout_ms = event.rebalance_timeout_ms


def _rejoined(group: ClassicGroup, event: ev.MemberRejoined, at: int) -> None:
    member = group.members[event.member_id]
    _update(group, member, event)
    _await_join(group, member)


def _replaced(group: ClassicGroup, event: ev.MemberReplaced, at: int) -> None:
    old = group.members.remove(event.replaced)
    _answered_join(group, old)
    member = Member(
        event.member_id,
        old.group_instance_id,
        old.client_id,
        old.client_host,
        old.session_timeout_ms,
        old.rebalance_timeout_ms,
        old.protocols,
        old.assignment,
    )
    group.members.add(member)
    group.static_members[event.group_instance_id] = event.member_id
    group.leader = event.leader
    _update(group, member, event)
    if event.parked:
        _await_join(group, member)


def _removed(group: ClassicGroup, event: ev.MemberRemoved, at: int) -> None:
    member = group.members.remove(event.member_id)
    _answered_join(group, member)
    _offer(group, member.protocols, -1)
    if (
        member.group_instance_id is not None
        and group.static_members.get(member.group_instance_id) == event.member_id
    ):
        del group.static_members[member.group_instance_id]
    group.pending_sync.pop(event.member_id, None)
    group.leader = event.leader


def _leader_elected(group: ClassicGroup, event: ev.LeaderElected, at: int) -> None:
    group.leader = event.member_id


def _rebalance_started(group: ClassicGroup, event: ev.RebalanceStarted, at: int) -> None:
    if group.state is COMPLETING_REBALANCE:
        _forget_assignments(group)
    group.pending_sync.clear()
    group.sync_deadline = None
    group.join_deadline = event.deadline_ms
    group.delay_ms = event.delay_ms
    group.delay_remaining_ms = event.delay_remaining_ms
    _enter(group, PREPARING_REBALANCE, at)


def _forget_assignments(group: ClassicGroup) -> None:
    for member in group.members.values():
        member.assignment = b""
        member.awaiting_sync = False


def _delay_extended(group: ClassicGroup, event: ev.DelayExtended, at: int) -> None:
    group.new_member_added = False
    group.join_deadline = event.deadline_ms
    group.delay_ms = event.delay_ms
    group.delay_remaining_ms = event.delay_remaining_ms


def _join_phase_extended(group: ClassicGroup, event: ev.JoinPhaseExtended, at: int) -> None:
    group.join_deadline = event.deadline_ms
    group.delay_ms = None


def _end_join_phase(group: ClassicGroup, generation: int, topics: tuple[str, ...] | None) -> None:
    group.generation = generation
    group.join_deadline = None
    group.delay_ms = None
    group.subscribed_topics = None if topics is None else frozenset(topics)


def _generation_started(group: ClassicGroup, event: ev.GenerationStarted, at: int) -> None:
    _end_join_phase(group, event.generation, event.subscribed_topics)
    group.protocol_name = event.protocol_name
    group.leader = event.leader
    group.sync_deadline = event.deadline_ms
    group.pending_sync = dict.fromkeys(event.members)
    for member in group.members.values():
        member.awaiting_join = False
        member.is_new = False
    group.awaiting_join = 0
    _enter(group, COMPLETING_REBALANCE, at)


def _emptied(group: ClassicGroup, event: ev.GroupEmptied, at: int) -> None:
    _end_join_phase(group, event.generation, event.subscribed_topics)
    group.protocol_name = None
    if group.loading:
        group.protocol_type = event.protocol_type
        group.leader = None
        _members_from(group, (), "")
        _load_as(group, EMPTY, at)
    else:
        _enter(group, EMPTY, at)


def _synced(group: ClassicGroup, event: ev.MemberSynced, at: int) -> None:
    group.pending_sync.pop(event.member_id, None)
    if not group.pending_sync:
        group.sync_deadline = None
    if event.parked:
        group.members[event.member_id].awaiting_sync = True


def _stored(group: ClassicGroup, event: ev.GenerationStored, at: int) -> None:
    if group.loading:
        group.generation = event.generation
        group.protocol_type = event.protocol_type
        group.protocol_name = event.protocol_name
        group.leader = event.leader
        group.subscribed_topics = None  # read from the members once they are loaded
        _members_from(group, event.members, event.protocol_name)
        _load_as(group, STABLE, at)
        return
    for stored in event.members:
        member = group.members[stored.member_id]
        member.assignment, member.stored = stored.assignment, stored
        member.awaiting_sync = False
    if group.state is not STABLE:
        _enter(group, STABLE, at)


def _load_as(group: ClassicGroup, state: GroupState, at: int) -> None:
    """Set the state of a loaded group, which it has had since its record was written (EXP-1)."""
    group.state = state
    group.state_since_ms = at


def _members_from(
    group: ClassicGroup, members: tuple[ev.StoredMember, ...], protocol_name: str
) -> None:
    """Set the members of a loading group. Each offers the selected protocol only; a rebalance
    timeout of -1, in records of old formats, means the session timeout (ERR-7).
    """
    group.members = Members()
    group.support = {protocol_name: len(members)} if members else {}
    group.static_members = {}
    for stored in members:
        member = Member(
            stored.member_id,
            stored.group_instance_id,
            stored.client_id,
            stored.client_host,
            stored.session_timeout_ms,
            stored.session_timeout_ms
            if stored.rebalance_timeout_ms == -1
            else stored.rebalance_timeout_ms,
            ((protocol_name, stored.subscription),),
            stored.assignment,
        )
        group.members.add(member)
        if stored.group_instance_id is not None:
            group.static_members[stored.group_instance_id] = stored.member_id


def _rejected(group: ClassicGroup, event: ev.AssignmentRejected, at: int) -> None:
    _forget_assignments(group)


def _died(group: ClassicGroup, event: ev.GroupDeleted | ev.GroupUnloaded, at: int) -> None:
    for member in group.members.values():
        member.awaiting_join = member.awaiting_sync = False
    group.awaiting_join = 0
    group.join_deadline = group.sync_deadline = None
    _enter(group, DEAD, at)


def take_over(group: ClassicGroup, event: ConsumerGroupDowngraded, at: int) -> None:
    """Take the state of a consumer group that became classic, because all remaining members use the
    classic protocol (K8-MIG-2).
    """
    group.generation = event.generation
    group.protocol_type, group.protocol_name, group.leader = (
        event.protocol_type,
        event.protocol_name,
        event.leader,
    )
    for said in event.members:
        protocols = said.protocols
        if group.loading:  # as a record of the group tells it (ERR-7)
            protocols = tuple(
                (name, data) for name, data in protocols if name == event.protocol_name
            )[:1]
        member = Member(
            said.member_id,
            said.group_instance_id,
            said.client_id,
            said.client_host,
            said.session_timeout_ms,
            said.rebalance_timeout_ms,
            protocols,
            said.assignment,
        )
        group.members.add(member)
        _offer(group, protocols, 1)
        if said.group_instance_id is not None:
            group.static_members[said.group_instance_id] = said.member_id
    group.subscribed_topics = topics_of(group, event.protocol_name)
    group.state, group.state_since_ms = STABLE, at
    if not group.loading:  # no record tells which state came before
        group.previous_state = EMPTY


def _loaded(group: ClassicGroup, event: ev.GroupLoaded, at: int) -> None:
    """End the loading of a group: it is served from now on (ERR-7)."""
    group.loading = False
    if group.state is STABLE:
        group.subscribed_topics = topics_of(group, group.protocol_name)


FOLDS: dict[type, Callable[[ClassicGroup, Any, int], None]] = {
    ev.GroupCreated: _created,
    ev.MemberPending: _pending,
    ev.PendingMemberRemoved: _pending_removed,
    ev.MemberJoined: _joined,
    ev.MemberRejoined: _rejoined,
    ev.MemberReplaced: _replaced,
    ev.MemberRemoved: _removed,
    ev.LeaderElected: _leader_elected,
    ev.RebalanceStarted: _rebalance_started,
    ev.DelayExtended: _delay_extended,
    ev.JoinPhaseExtended: _join_phase_extended,
    ev.GenerationStarted: _generation_started,
    ev.GroupEmptied: _emptied,
    ev.MemberSynced: _synced,
    ev.GenerationStored: _stored,
    ev.AssignmentRejected: _rejected,
    ev.GroupDeleted: _died,
    ev.GroupUnloaded: _died,
    ev.GroupLoaded: _loaded,
}
