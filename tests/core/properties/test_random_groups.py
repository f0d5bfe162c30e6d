"""Random storms of requests against the group coordinator. Their judges find each planted bug,
which proves them (see `storm`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from coordinator.base.deadlines import Deadlines
from coordinator.base.errors import ErrorCode
from coordinator.core.groups import decide as groups_decide
from coordinator.core.groups.classic import evolve, responses, selection, settle
from coordinator.core.groups.classic.decide import heartbeat, join, leave, sync
from coordinator.core.groups.classic.model import ClassicGroup, Member
from coordinator.core.groups.config import GroupConfig
from coordinator.core.groups.offsets import decide as decide_offsets
from coordinator.core.groups.requests import Parked
from coordinator.core.shards import shard, timers
from coordinator.core.shards.shard import Shard
from coordinator.core.shards.timers import Timers
from coordinator.events import groups as ev
from coordinator.wire.messages.join_group import JoinGroupRequest
from coordinator.wire.messages.offset_commit import OffsetCommitRequest
from tests.core.properties.storm import Storm

pytestmark = pytest.mark.unmeasured

STEPS = 200


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_storms(first: int) -> None:
    """META-1, JOIN-7, SYNC-7, REB-7, PST-1, ERR-7, LEAD-1..3 and all that the judges say, in ten
    storms each."""
    for seed in range(first, first + 10):
        Storm(seed).run(STEPS)


def test_the_same_seed_is_the_same_storm() -> None:
    """Nothing but the seed decides: same seed, same log."""
    one, two = Storm(3), Storm(3)
    one.run(STEPS), two.run(STEPS)
    assert one.world.log == two.world.log
    assert one.said == two.said


Patch = Callable[[pytest.MonkeyPatch], None]
BUGS: dict[str, Patch] = {}


def bug(plant: Patch) -> Patch:
    """Register a planted bug under its name."""
    BUGS[plant.__name__] = plant
    return plant


@bug
def removed_members_are_still_counted_as_waiting(patch: pytest.MonkeyPatch) -> None:
    def removed(group: ClassicGroup, event: ev.MemberRemoved, at: int) -> None:
        waiting = group.awaiting_join
        right(group, event, at)
        group.awaiting_join = waiting

    right = evolve.FOLDS[ev.MemberRemoved]
    patch.setitem(evolve.FOLDS, ev.MemberRemoved, removed)


@bug
def support_only_grows(patch: pytest.MonkeyPatch) -> None:
    right = evolve._offer
    patch.setattr(
        evolve, "_offer", lambda group, protocols, by: right(group, protocols, max(by, 0))
    )


@bug
def a_removed_members_join_is_never_answered(patch: pytest.MonkeyPatch) -> None:
    patch.delitem(responses._RESPONSES, ev.MemberRemoved)


@bug
def the_parked_join_of_a_replaced_member_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.delitem(responses._RESPONSES, ev.MemberReplaced)


@bug
def the_sync_of_a_removed_member_stays_parked(patch: pytest.MonkeyPatch) -> None:
    def fold(self: Shard, group: Any, event: Any, *rest: Any) -> Any:
        parked = dict(self.parked) if isinstance(event, ev.MemberRemoved) else {}
        seq = right(self, group, event, *rest)
        kept = {
            key: waiting
            for key, waiting in parked.items()
            if key[1] == event.member_id and key[2] is Parked.SYNC
        }
        self.parked.update(kept)
        return seq

    right = Shard._fold
    patch.setattr(Shard, "_fold", fold)


@bug
def everybody_is_told_to_lead(patch: pytest.MonkeyPatch) -> None:
    def started(group: ClassicGroup, event: ev.GenerationStarted) -> Any:
        for member_id, kind, reply in right(group, event):
            yield member_id, kind, reply
            reply.leader = reply.member_id
            reply.members = responses.members_for_leader(group, event.protocol_name)

    right = responses._RESPONSES[ev.GenerationStarted]
    patch.setitem(responses._RESPONSES, ev.GenerationStarted, started)


@bug
def a_generation_comes_back(patch: pytest.MonkeyPatch) -> None:
    def emptied(group: ClassicGroup, now: int) -> Any:
        event = right(group, now)
        return (
            event._replace(generation=group.generation)
            if isinstance(event, ev.GroupEmptied)
            else event
        )

    right = settle.next_generation
    patch.setattr(settle, "next_generation", emptied)


@bug
def absent_dynamic_members_are_kept(patch: pytest.MonkeyPatch) -> None:
    """Kept without a vote: they would wait for ever, or lead unseen."""

    def complete(group: ClassicGroup, now: int) -> Any:
        yield settle.next_generation(group, now)

    patch.setattr(settle, "complete_join_phase", complete)


@bug
def the_leader_is_not_replaced_when_it_goes(patch: pytest.MonkeyPatch) -> None:
    def removal(
        group: ClassicGroup, member: Member, reason: str, detail: str | None = None
    ) -> ev.MemberRemoved:
        return ev.MemberRemoved(member.member_id, reason, group.leader, detail)

    for module in (settle, join):
        patch.setattr(module, "removal", removal)
    patch.setattr(leave._Leaving, "_first_other", lambda self, member_id: member_id)


@bug
def strangers_may_sync(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sync, "_refuse", lambda *_: ErrorCode.NONE)


@bug
def strangers_may_heartbeat(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ClassicGroup, "refuse_member", lambda *_: ErrorCode.NONE)


@bug
def any_protocol_will_do(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(join, "supports", lambda group, kind, protocols: bool(protocols))


@bug
def candidates_need_not_be_shared(patch: pytest.MonkeyPatch) -> None:
    def select(offers: Any) -> str:
        return next(iter(offers))[0][0]

    patch.setattr(settle, "select_protocol", select)
    patch.setattr(selection, "select_protocol", select)


@bug
def new_members_have_no_deadline(patch: pytest.MonkeyPatch) -> None:
    patch.delitem(timers.FOLLOW, ev.MemberJoined)


@bug
def sessions_are_not_armed_with_a_generation(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Timers, "arm_sessions", lambda *_: None)


@bug
def an_early_deadline_is_lost(patch: pytest.MonkeyPatch) -> None:
    arm = Deadlines.arm

    def arm_late(self: Deadlines[Any], key: Any, at: int) -> None:
        entry = self._entries.get(key)
        if entry is None or entry.at is None or entry.queued is None or at >= entry.queued:
            arm(self, key, at)
        else:
            entry.at = at

    patch.setattr(Deadlines, "arm", arm_late)


@bug
def the_join_deadline_has_no_timer(patch: pytest.MonkeyPatch) -> None:
    patch.delitem(timers.FOLLOW, ev.RebalanceStarted)


@bug
def owing_a_sync_has_no_end(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(
        timers.FOLLOW,
        ev.GenerationStarted,
        lambda self, group, event, now: self.arm_sessions(group, now),
    )


@bug
def a_refused_join_starts_a_rebalance(patch: pytest.MonkeyPatch) -> None:
    def decide(group: ClassicGroup, request: Any, *rest: Any) -> Any:
        decision = right(group, request, *rest)
        if (
            decision.reply is not None
            and decision.reply.error_code == ErrorCode.UNKNOWN_MEMBER_ID
            and group.state in settle.CAN_REBALANCE
        ):
            return decision._replace(events=(ev.RebalanceStarted("", rest[1] + 5, None, 0),))
        return decision

    right = join.decide_join
    patch.setitem(groups_decide._OF_MEMBERSHIP, JoinGroupRequest, decide)


@bug
def a_change_that_no_event_tells(patch: pytest.MonkeyPatch) -> None:
    def decide(group: ClassicGroup, *rest: Any) -> Any:
        group.new_member_added = not group.new_member_added
        return right(group, *rest)

    right = heartbeat.decide_heartbeat
    patch.setattr(shard, "decide_heartbeat", decide)


@bug
def a_load_forgets_that_offsets_were_removed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ev, "DURABLE", ev.DURABLE - {ev.OffsetsRemoved})


@bug
def a_load_finds_nobody(patch: pytest.MonkeyPatch) -> None:
    def stored(group: ClassicGroup, event: ev.GenerationStored, at: int) -> None:
        right(group, event._replace(members=()) if group.loading else event, at)

    right = evolve.FOLDS[ev.GenerationStored]
    patch.setitem(evolve.FOLDS, ev.GenerationStored, stored)


@bug
def a_member_keeps_its_first_row(patch: pytest.MonkeyPatch) -> None:
    def stored(group: ClassicGroup, event: ev.GenerationStored, at: int) -> None:
        rows = {member.member_id: member.stored for member in group.members.values()}
        right(group, event, at)
        for member in group.members.values():
            member.stored = rows.get(member.member_id) or member.stored

    right = evolve.FOLDS[ev.GenerationStored]
    patch.setitem(evolve.FOLDS, ev.GenerationStored, stored)


@bug
def a_replacement_is_not_written_down(patch: pytest.MonkeyPatch) -> None:
    def quiet(*args: Any) -> Any:
        decision = right(*args)
        return decision._replace(events=decision.events[:1])

    right = join._quiet_replacement
    patch.setattr(join, "_quiet_replacement", quiet)


@bug
def an_unwritable_commit_is_kept(patch: pytest.MonkeyPatch) -> None:
    def decide(group: Any, request: Any, context: Any, now: int, config: GroupConfig) -> Any:
        failing, config.append_error = config.append_error, ErrorCode.NONE
        decision = right(group, request, context, now, config)
        config.append_error = failing
        return (
            decision._replace(reply=decide_offsets.commit_response(request, failing))
            if failing and decision.events
            else decision
        )

    right = decide_offsets.decide_commit
    patch.setitem(groups_decide._OF_OFFSETS, OffsetCommitRequest, decide)


@bug
def a_pending_id_stays_pending_when_it_joins(patch: pytest.MonkeyPatch) -> None:
    def joined(group: ClassicGroup, event: ev.MemberJoined, at: int) -> None:
        pending = dict(group.pending)
        right(group, event, at)
        group.pending = pending

    right = evolve.FOLDS[ev.MemberJoined]
    patch.setitem(evolve.FOLDS, ev.MemberJoined, joined)


@pytest.mark.unjudged
@pytest.mark.parametrize("name", BUGS)
def test_planted_bugs_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge that never condemns proves nothing: thirty storms find each of these."""
    BUGS[name](monkeypatch)
    for seed in range(30):
        try:
            Storm(seed).run(STEPS)
        except (AssertionError, KeyError, StopIteration, RuntimeError):
            return
    pytest.fail(f"nobody noticed that {name.replace('_', ' ')}")
