"""Bugs that are planted where a group still works: what ends too early or too late, assignments that
are bad and legal, what listeners are told, epochs that do not fence."""

from __future__ import annotations

from copy import copy
from typing import Any

import pytest

from assignors.model import Assignment as Plan
from assignors.server_side.uniform import UniformAssignor
from assignors.sticky_assignor import StickyAssignor
from coordinator.core.groups import decide as of_groups
from coordinator.core.groups.classic import responses
from coordinator.core.groups.classic.decide import heartbeat, sync
from coordinator.core.groups.classic.model import ClassicGroup
from coordinator.core.groups.classic.states import STABLE
from coordinator.core.groups.consumer import heartbeat as of_consumer_groups
from coordinator.core.groups.offsets import views
from coordinator.core.shards import shard, sweep, timers
from coordinator.core.shards.timers import TimerKind, Timers
from coordinator.core.transactions import decide
from coordinator.events.groups import GroupLoaded
from coordinator.events.transactions import ProducerInitialized
from coordinator.lab.simulator.clients import skipping
from coordinator.members import offsets, rebalancing
from coordinator.members.consumer_protocol import reconciling
from coordinator.members.membership import Membership
from coordinator.server.security.authorizer import Authorizer
from coordinator.wire.consumer_protocol import Assignment
from coordinator.wire.messages.sync_group import SyncGroupRequest

Patch = pytest.MonkeyPatch

_CUT_OFF_MEANWHILE = """
duration = "150s"
[topics]
orders = 4
[[members]]
name = "app"
count = 2
topics = "orders"
static = true
reads = 0
config = { "max.poll.interval.ms" = 12000, "session.timeout.ms" = 45000 }
[[members]]
name = "late"
group = "app"
topics = "orders"
start = "30s"
config = { "max.poll.interval.ms" = 12000 }
[[faults]]
verb = "CutMember"
member = "app-2"
direction = "to_broker"
at = "29s"
lasts = "16s"
"""
_TWO_EPOCHS_UNHEARD = """
duration = "150s"
[topics]
orders = 2
[brokers]
config = { "group.consumer.session.timeout.ms" = 60000, "group.consumer.max.session.timeout.ms" = 60000 }
[[members]]
name = "app"
count = 2
topics = "orders"
protocol = "consumer"
reads = 0
config = { "request.timeout.ms" = 15000 }
[[members]]
name = "late"
group = "app"
count = 2
topics = "orders"
protocol = "consumer"
start = ["28s", "40s"]
reads = 0
[[faults]]
action = "lose_answer"
api = "ConsumerGroupHeartbeat"
client_id = "app-1"
times = 2
at = "29s"
"""
SCENARIOS = {
    "heartbeats_of_old_generations_are_accepted": _CUT_OFF_MEANWHILE,
    "heartbeats_of_any_member_epoch_are_accepted": _TWO_EPOCHS_UNHEARD,
}
"""As in `planted_in_groups_and_logs`: a static member's heartbeat arrives when the generation is
over for which it was sent, and before who has not synced is removed; a member of a consumer group
does not hear of two of its epochs."""


# -- time


def long_sessions_end_early(patch: Patch) -> None:
    """By 15 s: a member of 45 s is removed after 30."""
    arm_all, renewing = Timers.arm_sessions, skipping._renewing

    def shorter(session_ms: int) -> int:
        return 30_000 if session_ms == 45_000 else session_ms

    def renew(self: Timers, group: Any, member_id: str, now: int) -> None:
        session_ms = group.members[member_id].session_timeout_ms
        self.arm_session(group.group_id, member_id, now + shorter(session_ms))

    def arm_sessions(self: Timers, group: Any, now: int) -> None:
        arm_all(self, group, now)
        for member in group.members.values():
            if not member.is_new:
                renew(self, group, member.member_id, now)

    def of_quiet(*arguments: Any) -> Any:
        found = renewing(*arguments)
        return None if found is None else found._replace(session_ms=shorter(found.session_ms))

    patch.setattr(Timers, "renew", renew)
    patch.setattr(Timers, "arm_sessions", arm_sessions)
    patch.setattr(skipping, "_renewing", of_quiet)


def rebalance_timeouts_are_doubled(patch: Patch) -> None:
    longest = ClassicGroup.max_rebalance_timeout_ms
    patch.setattr(ClassicGroup, "max_rebalance_timeout_ms", lambda self: 2 * longest(self))


def revocations_have_no_timeout(patch: Patch) -> None:
    set_timer = Timers.set_timer

    def sets(self: Timers, group_id: str, timer: Any) -> None:
        if timers.CONSUMER_TIMERS[timer.kind] != TimerKind.REBALANCE:
            set_timer(self, group_id, timer)

    patch.setattr(Timers, "set_timer", sets)


def join_phases_end_one_member_short(patch: Patch) -> None:
    patch.setattr(
        ClassicGroup,
        "all_joined",
        lambda self: self.awaiting_join >= max(len(self.members) - 1, 1) and not self.pending,
    )


def loaded_groups_have_no_sessions(patch: Patch) -> None:
    patch.setitem(timers.FOLLOW, GroupLoaded, lambda *_: None)


def offsets_in_use_expire(patch: Patch) -> None:
    patch.setattr(ClassicGroup, "offsets_may_expire", lambda self: True)
    patch.setattr(ClassicGroup, "is_subscribed_to", lambda self, topic: False)


def offsets_of_empty_groups_expire_from_their_commit(patch: Patch) -> None:
    patch.setattr(ClassicGroup, "offsets_unused_since_ms", lambda self: None)


def offsets_expire_half_a_minute_late(patch: Patch) -> None:
    expired = sweep.expired
    patch.setattr(sweep, "expired", lambda group, now, config: expired(group, now - 30_000, config))


# -- fences


def heartbeats_of_old_generations_are_accepted(patch: Patch) -> None:
    def accepts(group: Any, request: Any, *rest: Any) -> Any:
        if 0 <= request.generation_id < group.generation:
            request = copy(request)
            request.generation_id = group.generation
        return heartbeat.decide_heartbeat(group, request, *rest)

    patch.setattr(shard, "decide_heartbeat", accepts)


def heartbeats_of_any_member_epoch_are_accepted(patch: Patch) -> None:
    patch.setattr(of_consumer_groups, "_check_epoch", lambda *_: None)


def require_stable_is_ignored(patch: Patch) -> None:
    patch.setattr(views, "_pending_of", lambda group, require_stable: ())


def transactional_epochs_are_not_raised(patch: Patch) -> None:
    init = decide.decide_init

    def same(transaction: Any, *rest: Any, **options: Any) -> Any:
        decision = init(transaction, *rest, **options)
        event = decision.event
        if isinstance(event, ProducerInitialized) and event.producer_epoch > 0:
            event = event._replace(producer_epoch=event.producer_epoch - 1)
            decision = decision._replace(event=event)
        return decision

    patch.setattr(decide, "decide_init", same)


# -- assignments


def sticky_gives_everything_to_one_member(patch: Patch) -> None:
    assign = StickyAssignor.assign

    def greedy(self: StickyAssignor, *arguments: Any, **options: Any) -> dict[str, Plan]:
        plan = assign(self, *arguments, **options)
        everything = tuple(each for one in plan.values() for each in one.partitions)
        first = next(iter(plan))
        return {name: Plan(everything if name == first else ()) for name in plan}

    patch.setattr(StickyAssignor, "assign", greedy)


def uniform_leaves_a_partition_out(patch: Patch) -> None:
    assign = UniformAssignor.assign

    def forgets(self: UniformAssignor, spec: Any) -> Any:
        plan = dict(assign(self, spec))
        for name, topics in plan.items():
            for topic, partitions in topics.items():
                if len(partitions) > 1:
                    return {**plan, name: {**topics, topic: partitions[:-1]}}
        return plan

    patch.setattr(UniformAssignor, "assign", forgets)


def leaders_are_shown_one_member_less(patch: Patch) -> None:
    shown = responses.members_for_leader

    def less(group: Any, protocol_name: Any) -> Any:
        rows = shown(group, protocol_name)
        other = next((row for row in reversed(rows) if row.member_id != group.leader), None)
        return [row for row in rows if row is not other]

    patch.setattr(responses, "members_for_leader", less)


def late_syncs_get_nothing(patch: Patch) -> None:
    def nothing(group: Any, request: Any, *rest: Any) -> Any:
        late = group.state is STABLE
        decision = sync.decide_sync(group, request, *rest)
        if late and decision.reply is not None and not decision.reply.error_code:
            decision.reply.assignment = Assignment(()).encode()
        return decision

    patch.setitem(of_groups._OF_MEMBERSHIP, SyncGroupRequest, nothing)


# -- what applications are told


def listeners_are_told_revoked_instead_of_lost(patch: Patch) -> None:
    call = rebalancing.call

    def told(callback: Any, partitions: Any) -> Any:
        if callback.__name__ == "on_partitions_lost":
            callback = callback.__self__.on_partitions_revoked
        return call(callback, partitions)

    patch.setattr(rebalancing, "call", told)
    patch.setattr(reconciling, "call", told)


def nothing_is_committed_before_a_revocation(patch: Patch) -> None:
    patch.setattr(offsets, "commit_before_rebalance", lambda m, now: True)


def cooperative_members_do_not_rejoin(patch: Patch) -> None:
    rejoin = Membership.request_rejoin

    def forgets(self: Membership, reason: str) -> None:
        if not reason.startswith("partitions were revoked"):
            rejoin(self, reason)

    patch.setattr(Membership, "request_rejoin", forgets)


def decisions_outlive_the_acls(patch: Patch) -> None:
    changed = Authorizer._changed

    def keeps(self: Authorizer) -> None:
        decided = dict(self._decided)
        changed(self)
        self._decided.update(decided)

    patch.setattr(Authorizer, "_changed", keeps)
