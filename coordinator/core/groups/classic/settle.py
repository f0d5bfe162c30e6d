"""Events that follow from a group's state alone: the start of a rebalance, the end of a join phase,
deadlines that passed.

Each function yields one event at a time; the caller folds it, and the function then reads the
new state. So every step is decided on the result of the steps before.
"""

from __future__ import annotations

from collections.abc import Iterator

from coordinator.events import groups as ev
from coordinator.events.groups import Removal

from ..config import GroupConfig
from ..requests import Then
from .model import ClassicGroup, Member
from .selection import select_protocol, topics_of
from .states import CAN_REBALANCE, COMPLETING_REBALANCE, EMPTY, PREPARING_REBALANCE, STABLE

#: The shortest time a join phase is extended by. Kafka has none: with timeouts of 0 it goes round
#: as fast as its timers turn.
LEAST_EXTENSION_MS = 100


def settle(
    group: ClassicGroup, then: Then, reason: str, now: int, config: GroupConfig
) -> Iterator[ev.Event]:
    """Yield the events that a decision's `then` asks for."""
    if then is Then.REBALANCE and group.state in CAN_REBALANCE:
        yield from start_rebalance(group, reason, now, config)
    elif then is not Then.NOTHING and group.state is PREPARING_REBALANCE and group.all_joined():
        # REB-2, DLY-4: only an expiry may cut an initial rebalance short
        if then is Then.COMPLETE_EVEN_INITIAL or group.previous_state is not EMPTY:
            yield from complete_join_phase(group, now)


def start_rebalance(
    group: ClassicGroup, reason: str, now: int, config: GroupConfig
) -> Iterator[ev.Event]:
    """Go to PreparingRebalance (REB-1, DLY-1), and on to the next generation if all members have
    joined already.
    """
    timeout_ms = group.max_rebalance_timeout_ms()
    if group.state is EMPTY:
        delay_ms = config.initial_rebalance_delay_ms
        yield ev.RebalanceStarted(reason, now + delay_ms, delay_ms, max(timeout_ms - delay_ms, 0))
        return
    yield ev.RebalanceStarted(reason, now + timeout_ms, None, 0)
    if group.all_joined():
        yield from complete_join_phase(group, now)


def join_deadline_passed(group: ClassicGroup, now: int, config: GroupConfig) -> Iterator[ev.Event]:
    """Handle the end of the join timer: an initial delay may be extended (DLY-2), else the join
    phase ends (REB-4).
    """
    if group.delay_ms is not None and group.new_member_added and group.delay_remaining_ms != 0:
        delay_ms = min(config.initial_rebalance_delay_ms, group.delay_remaining_ms)
        yield ev.DelayExtended(
            now + delay_ms, delay_ms, max(group.delay_remaining_ms - group.delay_ms, 0)
        )
    else:
        yield from complete_join_phase(group, now)


def complete_join_phase(group: ClassicGroup, now: int) -> Iterator[ev.Event]:
    """End the join phase: remove dynamic members that did not rejoin, choose the leader, start a
    generation (REB-4, REB-5).
    """
    if group.awaiting_join != len(group.members):
        for member in list(group):
            if not member.awaiting_join and member.group_instance_id is None:
                yield removal(group, member, Removal.DID_NOT_REJOIN)
    if group.leader is not None and not group.members[group.leader].awaiting_join:
        for member in group:
            if member.awaiting_join:
                yield ev.LeaderElected(member.member_id)  # LEAD-3
                break
        else:
            yield ev.JoinPhaseExtended(
                now + max(LEAST_EXTENSION_MS, group.max_rebalance_timeout_ms())
            )
            return
    yield next_generation(group, now)


def next_generation(group: ClassicGroup, now: int) -> ev.GenerationStarted | ev.GroupEmptied:
    """Return the event that starts the next generation, with or without members (REB-4, REB-7)."""
    generation = group.generation + 1
    if not group.members:
        return ev.GroupEmptied(
            generation, group.protocol_type, () if group.uses_consumer_protocol() else None
        )
    protocol_name = select_protocol(member.protocols for member in group)
    topics = topics_of(group, protocol_name)
    assert group.leader is not None, f"{group.group_id}: members without a leader"
    return ev.GenerationStarted(
        generation,
        protocol_name,
        group.leader,
        tuple(member.member_id for member in group),
        None if topics is None else tuple(sorted(topics)),
        now + group.max_rebalance_timeout_ms(),
    )


def sync_deadline_passed(group: ClassicGroup, now: int, config: GroupConfig) -> Iterator[ev.Event]:
    """Handle the end of the sync timer: members that have not synced are removed, static ones too,
    and a rebalance starts (SYNC-6).
    """
    for member_id in list(group.pending_sync):
        member = group.members.get(member_id)
        if (
            member is not None
        ):  # the id of a static member that was replaced since may still be owed (STA-2)
            yield removal(group, member, Removal.DID_NOT_SYNC)
    yield from start_rebalance(group, "members did not sync in time", now, config)


def session_expired(
    group: ClassicGroup, member_id: str, now: int, config: GroupConfig, *, by_hand: bool = False
) -> Iterator[ev.Event]:
    """Handle the end of a session or of a pending member's time, expired or ended by a test (SES-2,
    SES-3, JOIN-8, MID-5).
    """
    if member_id in group.pending:
        reason = Removal.ENDED_BY_HAND if by_hand else Removal.SESSION_EXPIRED
        yield ev.PendingMemberRemoved(member_id, reason)
        yield from settle(group, Then.COMPLETE_EVEN_INITIAL, "", now, config)
        return
    member = group.members.get(member_id)
    if member is None or (not member.is_new and (member.awaiting_join or member.awaiting_sync)):
        return
    new = member.is_new
    silence = f"{config.new_member_join_timeout_ms if new else member.session_timeout_ms} ms"
    if by_hand:
        yield removal(group, member, Removal.SESSION_EXPIRED, Removal.ENDED_BY_HAND)
    else:
        reason = Removal.NEVER_JOINED if new else Removal.SESSION_EXPIRED
        yield removal(group, member, reason, silence)
    if group.state in (STABLE, COMPLETING_REBALANCE):
        yield from start_rebalance(group, f"member {member_id} expired", now, config)
    else:
        yield from settle(group, Then.COMPLETE_EVEN_INITIAL, "", now, config)


def loaded(group: ClassicGroup, now: int, config: GroupConfig) -> Iterator[ev.Event]:
    """Yield the events of a group that was just loaded (ERR-7)."""
    yield ev.GroupLoaded(str(group.state), group.generation)
    if len(group.members) > config.max_size:
        yield from start_rebalance(group, "the group is larger than group.max.size", now, config)


def removal(
    group: ClassicGroup, member: Member, reason: str, detail: str | None = None
) -> ev.MemberRemoved:
    """Return the event that removes a member. If it was the leader, the first remaining member in
    Java's order leads (LEAD-2).
    """
    leader = group.leader
    if leader == member.member_id:
        next_one = group.members.first_in_java_order(without=member)
        leader = None if next_one is None else next_one.member_id
    return ev.MemberRemoved(member.member_id, reason, leader, detail)
