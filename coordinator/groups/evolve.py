"""(group, event) -> group: the only writer of a group. It holds no rule: every event says what became of it.

The group is changed in place, which copying thousands of members a rebalance could not afford.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import events as ev
from .model import Group, Member, Protocols
from .offset_table import Offset
from .states import COMPLETING_REBALANCE, DEAD, EMPTY, PREPARING_REBALANCE, STABLE, GroupState, may_follow


def evolve(group: Group, event: ev.Event, at: int) -> None:
    """Fold `event`, which happened at the instant `at`, into `group`."""
    _FOLDS[type(event)](group, event, at)


def _enter(group: Group, state: GroupState, at: int) -> None:
    assert may_follow(group.state, state), f"{group.group_id}: {group.state} -> {state}"
    group.previous_state = group.state
    group.state = state
    group.state_since_ms = at


def _write(group: Group, record: ev.GroupCreated | ev.GenerationStored | ev.GroupEmptied, at: int) -> None:
    group.record = record
    group.record_ms = at


def _offer(group: Group, protocols: Protocols, by: int) -> None:
    for name in {name: None for name, _ in protocols}:
        group.support[name] = group.support.get(name, 0) + by


def _await_join(group: Group, member: Member) -> None:
    if not member.awaiting_join:
        member.awaiting_join = True
        group.awaiting_join += 1


def _answered_join(group: Group, member: Member) -> None:
    if member.awaiting_join:
        member.awaiting_join = False
        group.awaiting_join -= 1


def _created(group: Group, event: ev.GroupCreated, at: int) -> None:
    if event.by == "join":
        _write(group, event, at)


def _pending(group: Group, event: ev.MemberPending, at: int) -> None:
    group.pending[event.member_id] = event.deadline_ms


def _pending_removed(group: Group, event: ev.PendingMemberRemoved, at: int) -> None:
    group.pending.pop(event.member_id, None)
    group.pending_sync.pop(event.member_id, None)


def _joined(group: Group, event: ev.MemberJoined, at: int) -> None:
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


def _update(group: Group, member: Member, event: ev.MemberRejoined | ev.MemberReplaced) -> None:
    _offer(group, member.protocols, -1)
    member.protocols = event.protocols
    _offer(group, event.protocols, 1)
    member.session_timeout_ms = event.session_timeout_ms
    member.rebalance_timeout_ms = event.rebalance_timeout_ms


def _rejoined(group: Group, event: ev.MemberRejoined, at: int) -> None:
    member = group.members[event.member_id]
    _update(group, member, event)
    _await_join(group, member)


def _replaced(group: Group, event: ev.MemberReplaced, at: int) -> None:
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


def _removed(group: Group, event: ev.MemberRemoved, at: int) -> None:
    member = group.members.remove(event.member_id)
    _answered_join(group, member)
    _offer(group, member.protocols, -1)
    if member.group_instance_id is not None and group.static_members.get(member.group_instance_id) == event.member_id:
        del group.static_members[member.group_instance_id]
    group.pending_sync.pop(event.member_id, None)
    group.leader = event.leader


def _leader_elected(group: Group, event: ev.LeaderElected, at: int) -> None:
    group.leader = event.member_id


def _rebalance_started(group: Group, event: ev.RebalanceStarted, at: int) -> None:
    if group.state is COMPLETING_REBALANCE:
        _forget_assignments(group)
    group.pending_sync.clear()
    group.sync_deadline = None
    group.join_deadline = event.deadline_ms
    group.delay_ms = event.delay_ms
    group.delay_remaining_ms = event.delay_remaining_ms
    _enter(group, PREPARING_REBALANCE, at)


def _forget_assignments(group: Group) -> None:
    for member in group.members.values():
        member.assignment = b""
        member.awaiting_sync = False


def _delay_extended(group: Group, event: ev.DelayExtended, at: int) -> None:
    group.new_member_added = False
    group.join_deadline = event.deadline_ms
    group.delay_ms = event.delay_ms
    group.delay_remaining_ms = event.delay_remaining_ms


def _join_phase_extended(group: Group, event: ev.JoinPhaseExtended, at: int) -> None:
    group.join_deadline = event.deadline_ms
    group.delay_ms = None


def _end_join_phase(group: Group, generation: int, topics: tuple[str, ...] | None) -> None:
    group.generation = generation
    group.join_deadline = None
    group.delay_ms = None
    group.subscribed_topics = None if topics is None else frozenset(topics)


def _generation_started(group: Group, event: ev.GenerationStarted, at: int) -> None:
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


def _emptied(group: Group, event: ev.GroupEmptied, at: int) -> None:
    _end_join_phase(group, event.generation, event.subscribed_topics)
    group.protocol_name = None
    _write(group, event, at)
    _enter(group, EMPTY, at)


def _synced(group: Group, event: ev.MemberSynced, at: int) -> None:
    group.pending_sync.pop(event.member_id, None)
    if not group.pending_sync:
        group.sync_deadline = None
    if event.parked:
        group.members[event.member_id].awaiting_sync = True


def _stored(group: Group, event: ev.GenerationStored, at: int) -> None:
    _write(group, event, at)
    for stored in event.members:
        member = group.members[stored.member_id]
        member.assignment = stored.assignment
        member.awaiting_sync = False
    if group.state is not STABLE:
        _enter(group, STABLE, at)


def _rejected(group: Group, event: ev.AssignmentRejected, at: int) -> None:
    _forget_assignments(group)


def _committed(group: Group, event: ev.OffsetsCommitted, at: int) -> None:
    for o in event.offsets:
        group.offsets.commit(o.topic, o.partition, Offset(o.offset, o.leader_epoch, o.metadata, at, o.expire_ms))
        group.pending_offsets.overtake((o.topic, o.partition))


def _offsets_pending(group: Group, event: ev.OffsetsPending, at: int) -> None:
    for o in event.offsets:
        offset = Offset(o.offset, o.leader_epoch, o.metadata, at, o.expire_ms)
        group.pending_offsets.add(event.producer_id, (o.topic, o.partition), offset)


def _pending_ended(group: Group, event: ev.PendingOffsetsEnded, at: int) -> None:
    for (topic, partition), offset in group.pending_offsets.end(event.producer_id, event.partitions).items():
        group.offsets.commit(topic, partition, offset)


def _offsets_removed(group: Group, event: ev.OffsetsRemoved, at: int) -> None:
    for key in event.partitions:
        group.offsets.forget(key)
        group.pending_offsets.cancel(key)


def _died(group: Group, event: ev.GroupDeleted | ev.GroupUnloaded, at: int) -> None:
    for member in group.members.values():
        member.awaiting_join = member.awaiting_sync = False
    group.awaiting_join = 0
    group.join_deadline = group.sync_deadline = None
    _enter(group, DEAD, at)


def _loaded(group: Group, event: ev.GroupLoaded, at: int) -> None:
    """The group was built from its last record (`load`); loading itself changes nothing more."""


_FOLDS: dict[type, Callable[[Group, Any, int], None]] = {
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
    ev.OffsetsCommitted: _committed,
    ev.OffsetsPending: _offsets_pending,
    ev.PendingOffsetsEnded: _pending_ended,
    ev.OffsetsRemoved: _offsets_removed,
    ev.GroupDeleted: _died,
    ev.GroupUnloaded: _died,
    ev.GroupLoaded: _loaded,
}
