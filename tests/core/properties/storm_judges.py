"""What must hold after every step of the storm."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from coordinator.core.group_coordinator import GroupCoordinator, LoggedEvent
from coordinator.core.groups.classic.model import ClassicGroup
from coordinator.core.groups.classic.states import (
    COMPLETING_REBALANCE,
    EMPTY,
    PREPARING_REBALANCE,
    STABLE,
)
from coordinator.core.groups.evolve import evolve
from coordinator.core.groups.group import Group
from coordinator.core.groups.requests import Parked
from coordinator.events import groups as ev
from coordinator.wire.messages.join_group import JoinGroupRequest
from coordinator.wire.messages.sync_group import SyncGroupRequest
from tests.core.groups.callers import Call
from tests.core.groups.kit import World

#: Errors a JoinGroup may be refused with, and what may have happened all the same.
MAY_HAPPEN = {
    79: (ev.GroupCreated, ev.MemberPending),
    81: (ev.MemberRemoved, ev.PendingMemberRemoved),
}
PARKABLE = (JoinGroupRequest, SyncGroupRequest)


class Judges:
    """What must hold whatever happens."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.mirror: dict[str, Group] = {}
        self.folded = 0
        self.generations: dict[str, int] = {}
        self.written: dict[str, dict[str, Any]] = {}
        self.homes: dict[Call, tuple[str, str, Parked]] = {}
        self.snapshot: dict[str, object] = {}
        self.steps = 0
        self.unloaded = 0

    def before(self) -> None:
        """Remember how things were."""
        self.snapshot = self.world.snapshot()

    def after(self, calls: list[Call]) -> None:
        """Look at everything a step may have broken."""
        self.steps += 1
        fresh = self.world.log[self.folded :]
        events = [logged.event for logged in fresh]
        self.refusals_change_nothing(calls, events)
        self.generations_go_up()
        self.log_says_it_all()
        self.parked_requests_are_followed(calls, events)
        for group in self.world.coordinator.groups.values():
            self.counters(group.membership)
            self.shape(group.membership)
            self.deadlines(group.membership)
        self.one_leader(calls)
        self.what_lasts(fresh)
        if self.steps % 100 == 0:
            self.full_replay()

    # -- judges

    def refusals_change_nothing(self, calls: list[Call], events: list[ev.Event]) -> None:
        """A refusal causes no event but those that MID-3, JOIN-2 and SIZE-1 name; without an event
        nothing changes."""
        if not events:
            assert self.world.snapshot() == self.snapshot, "a change without an event"
        for call in calls:
            errors = error_codes(call)
            if call.parked or not errors or 0 in errors:
                continue
            allowed: tuple[type, ...] = MAY_HAPPEN.get(errors[0], (ev.GroupCreated,))
            if any(isinstance(event, ev.AssignmentRejected) for event in call.events):
                continue  # SYNC-3: the error is told after a rebalance began
            assert all(isinstance(event, allowed) for event in call.events), (
                f"refused, yet {call.events}"
            )

    def generations_go_up(self) -> None:
        """REB-7: but for a load, which goes back to the last record, and a deleted group, which
        begins anew."""
        for logged in self.world.log[self.folded :]:
            event, group_id = logged.event, logged.group
            if isinstance(event, (ev.GroupDeleted, ev.GroupUnloaded)):
                self.unloaded = len(self.world.calls)
                self.generations.pop(group_id, None)
            elif isinstance(event, ev.GroupLoaded):
                self.generations[group_id] = event.generation
            elif isinstance(event, (ev.GenerationStarted, ev.GroupEmptied)):
                assert event.generation == self.generations.get(group_id, 0) + 1, (
                    f"generation {event.generation}"
                )
                self.generations[group_id] = event.generation

    def log_says_it_all(self) -> None:
        """Folding the log a second time gives the same groups; only a load needs more than its
        event."""
        loaded = set()
        for at, group_id, event in self.world.log[self.folded :]:
            if group_id is None:
                continue
            if isinstance(event, ev.GroupLoaded):
                loaded.add(group_id)
            if group_id in loaded:
                continue
            group = self.mirror.get(group_id)
            if group is None:
                assert isinstance(event, ev.GroupCreated)
                group = self.mirror[group_id] = Group(group_id, at)
            if isinstance(event, ev.GenerationStarted):  # REB-4, LEAD-3
                waiting = group.membership
                assert all(m.awaiting_join or m.group_instance_id is not None for m in waiting), (
                    "a member that did not rejoin"
                )
                assert waiting.members[event.leader].awaiting_join, "an absent leader"
            evolve(group, event, at)
            if group.membership.is_dead():
                del self.mirror[group_id]
        self.folded = len(self.world.log)
        live = self.world.coordinator.groups
        if loaded:
            self.mirror |= {
                group_id: group
                for group_id, group in self.replayed().groups.items()
                if group_id in loaded
            }
        assert self.mirror.keys() == live.keys()
        for group_id, group in live.items():
            assert group.snapshot() == self.mirror[group_id].snapshot(), (
                f"{group_id}: the log tells another story"
            )

    def replayed(self) -> GroupCoordinator:
        return GroupCoordinator.replay(self.world.config, self.world.log, self.world.now)

    def full_replay(self) -> None:
        """The whole log, through the coordinator's own door."""
        replayed = {
            group_id: group.snapshot() for group_id, group in self.replayed().groups.items()
        }
        assert replayed == self.world.snapshot()

    def parked(self) -> dict[tuple[str, str, Parked], tuple[object, int]]:
        """Every parked request, of all shards."""
        return {
            key: waiting
            for shard in self.world.coordinator.shards.values()
            for key, waiting in shard.parked.items()
        }

    def parked_requests_are_followed(self, calls: list[Call], events: list[ev.Event]) -> None:
        """A member waits if and only if its request is parked; one that is dropped was superseded,
        or its member removed."""
        coordinator = self.world.coordinator
        parked = self.parked()
        waiting = set()
        for group in (group.membership for group in coordinator.groups.values()):
            waiting |= {
                (group.group_id, m.member_id, Parked.JOIN)
                for m in group.members.values()
                if m.awaiting_join
            }
            waiting |= {
                (group.group_id, m.member_id, Parked.SYNC)
                for m in group.members.values()
                if m.awaiting_sync
            }
        assert set(parked) == waiting, f"{set(parked) ^ waiting}"
        removed = {event.member_id for event in events if isinstance(event, ev.MemberRemoved)}
        live = {}
        for key, (call, _) in parked.items():
            assert isinstance(call, Call) and call.parked, f"{key} waits for an answer it has"
            live[call] = key
        taken = [
            call.message
            for call in calls
            if isinstance(call.message, PARKABLE) and (call.parked or call.ok)
        ]
        later = {(message.group_id, message.member_id) for message in taken}
        for call, (group_id, member_id, kind) in self.homes.items():
            if call.parked and call not in live:
                superseded = (group_id, member_id) in later  # JOIN-7
                gone = kind is Parked.SYNC and member_id in removed  # SYNC-7
                assert superseded or gone, f"{call!r} was forgotten"
        self.homes = live

    def counters(self, group: ClassicGroup) -> None:
        """Counted again, one by one."""
        members = group.members.values()
        assert group.awaiting_join == sum(m.awaiting_join for m in members)
        support: dict[str, int] = {}
        for m in members:
            for name in {name for name, _ in m.protocols}:
                support[name] = support.get(name, 0) + 1
        assert {name: n for name, n in group.support.items() if n} == support
        assert group.static_members == {
            m.group_instance_id: m.member_id for m in members if m.group_instance_id is not None
        }
        assert not group.pending.keys() & group.members.keys()
        assert group.leader in group.members if group.members else group.leader is None

    def shape(self, group: ClassicGroup) -> None:
        """What each state may look like."""
        members = group.members.values()
        if group.state is EMPTY:
            assert not members and group.protocol_name is None
        assert (group.join_deadline is not None) == (group.state is PREPARING_REBALANCE)
        assert not group.pending_sync or group.sync_deadline is not None
        if group.sync_deadline is not None:
            assert group.state in (COMPLETING_REBALANCE, STABLE)
        for m in members:
            assert not m.awaiting_join or group.state is PREPARING_REBALANCE
            assert not m.awaiting_sync or group.state is COMPLETING_REBALANCE
            if group.state in (COMPLETING_REBALANCE, STABLE):
                assert group.protocol_name in {name for name, _ in m.protocols}
                assert not m.is_new
            if group.state is STABLE and m.stored is not None:
                assert m.stored == (
                    m.member_id,
                    m.group_instance_id,
                    m.client_id,
                    m.client_host,
                    m.session_timeout_ms,
                    m.rebalance_timeout_ms,
                    m.metadata(group.protocol_name),
                    m.assignment,
                )

    def deadlines(self, group: ClassicGroup) -> None:
        """Whoever does not wait for an answer has a session that ends; so have new members and
        pending ids."""
        coordinator = self.world.coordinator
        at = coordinator.shards[coordinator.partition_for(group.group_id)].timers
        assert at.next() == min(entry.at for entry in at._entries.values() if entry.at is not None)
        due = coordinator.next_deadline()
        assert due is not None and due == min(
            d for shard in coordinator.shards.values() if (d := shard.next_deadline()) is not None
        )
        for m in group.members.values():
            if m.is_new or not (m.awaiting_join or m.awaiting_sync):
                assert at.get((0, group.group_id, m.member_id)) is not None, f"{m} lives for ever"
        for pending in group.pending:
            assert at.get((0, group.group_id, pending)) is not None
        assert at.get((1, group.group_id, "")) == group.join_deadline
        assert at.get((2, group.group_id, "")) == group.sync_deadline

    def one_leader(self, calls: Iterable[Call]) -> None:
        """Of those who are answered at the same time for the same generation, one at most leads."""
        recent = self.world.calls[max(self.unloaded, len(self.world.calls) - 40) :]
        answered = [
            call
            for call in recent
            if call.at == self.world.now and isinstance(call.message, JoinGroupRequest)
        ]
        led: dict[tuple[str, int], set[str]] = {}
        for call in answered:
            if call.ok and call.reply.members:
                assert call.reply.leader == call.reply.member_id
                itself = next(m for m in call.reply.members if m.member_id == call.reply.member_id)
                who = (
                    itself.member_id
                    if itself.group_instance_id is None
                    else itself.group_instance_id
                )
                led.setdefault((call.message.group_id, call.reply.generation_id), set()).add(who)
        for (group_id, generation), leaders in led.items():
            group = self.world.coordinator.groups.get(group_id)
            if group is not None and group.generation == generation:
                assert len(leaders) == 1, f"{group_id} generation {generation} is led by {leaders}"

    def what_lasts(self, fresh: list[Any]) -> None:
        """PST-1: a load finds the members of the last completed sync, Empty groups, and every
        offset."""
        live = self.world.coordinator.groups
        for logged in fresh:
            event = logged.event
            if isinstance(event, ev.GroupDeleted):
                self.written.pop(logged.group, None)
            elif isinstance(event, ev.GroupCreated) and event.by == "join":
                self.written[logged.group] = {"generation": 0}
            elif isinstance(event, ev.GroupEmptied):
                self.written[logged.group] = {"generation": event.generation}
            elif isinstance(event, ev.GenerationStored):
                group = live[logged.group].membership
                self.written[logged.group] = {
                    "generation": group.generation,
                    "leader": group.leader,
                    "members": shares_of(group),
                }
        for group_id, group in live.items():
            if group.membership.state is STABLE:
                assert self.written[group_id]["members"].keys() == group.members.keys(), (
                    "a load would find others"
                )
        if not fresh or self.steps % 10:
            return
        loaded = GroupCoordinator.load(self.world.config, self.world.log, self.world.now).groups
        if live:
            assert live.keys() >= loaded.keys() >= written(self.world.log) & live.keys()
        for group_id, whole in loaded.items():
            group = whole.membership
            expected = self.written.get(group_id, {"generation": 0})
            assert group.generation == expected["generation"]
            assert group.leader == expected.get("leader")
            shares = shares_of(group)
            assert shares == expected.get("members", {})
            large = len(shares) > self.world.config.max_size
            assert group.state is (PREPARING_REBALANCE if large else STABLE if shares else EMPTY)
            if group_id in live:
                assert whole.offsets == live[group_id].offsets

    def nothing_waits(self) -> None:
        """In the end every request that is still parked has an answer."""
        assert not self.parked(), f"still parked: {list(self.parked())}"
        assert not any(
            group.members or group.membership.pending
            for group in self.world.coordinator.groups.values()
        )


def shares_of(group: ClassicGroup) -> dict[str, tuple[str | None, bytes, bytes]]:
    """What each member has and wants."""
    return {
        m.member_id: (m.group_instance_id, m.assignment, m.metadata(group.protocol_name))
        for m in group.members.values()
    }


def written(log: Iterable[LoggedEvent]) -> set[str]:
    """The groups of which anything was written that still stands."""
    found: dict[str, None] = {}
    for _, group_id, event in log:
        if group_id is not None and isinstance(event, ev.GroupDeleted):
            found.pop(group_id, None)
        elif group_id is not None and type(event) in ev.DURABLE:
            found[group_id] = None
    return set(found)


def error_codes(call: Call) -> list[int]:
    """Every code of an answer: of the whole, or of each item."""
    reply = call.reply
    if reply is None:
        return []
    match type(reply).__name__:
        case "OffsetCommitResponse":
            return [p.error_code for t in reply.topics for p in t.partitions]
        case "LeaveGroupResponse" if reply.members:
            return [m.error_code for m in reply.members]
        case "DeleteGroupsResponse":
            return [row.error_code for row in reply.results]
        case (
            "JoinGroupResponse"
            | "SyncGroupResponse"
            | "HeartbeatResponse"
            | "LeaveGroupResponse"
            | "OffsetDeleteResponse"
        ):
            return [reply.error_code]
    return []
