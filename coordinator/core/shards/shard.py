"""Shard: one partition of __consumer_offsets as its leader serves it.

Owns the partition's groups (hard state: the fold of their events), sessions and parked requests
(soft state: lost when the partition moves, as in Kafka), and deadlines. Its durable events
belong to the partition and outlive the shard. Time is an argument, clients are opaque tokens.
Does not know whether the partition is led.

The order for one event: the parked requests it answers are found, it is folded, deadlines
follow, it is stored if durable, and it is logged. `evolve` is the only writer of a group, so a
replay of the events gives the same groups.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator
from typing import TYPE_CHECKING, get_args

from coordinator.base.errors import ErrorCode
from coordinator.events import groups as ev
from coordinator.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from coordinator.wire.messages.join_group import JoinGroupResponse
from coordinator.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from coordinator.wire.schema import Request as RequestMessage
from coordinator.wire.schema import Response

from ..groups.append_errors import client_append_error, client_operation_error
from ..groups.classic.decide.heartbeat import decide_heartbeat
from ..groups.classic.evolve import FOLDS as CLASSIC_FOLDS
from ..groups.classic.model import ClassicGroup
from ..groups.classic.responses import ANSWERING, in_version, responses_to_parked
from ..groups.classic.settle import (
    join_deadline_passed,
    loaded,
    session_expired,
    settle,
    sync_deadline_passed,
)
from ..groups.config import GroupConfig
from ..groups.consumer.model import ConsumerMembership, Renewal
from ..groups.consumer.renewal import renewal
from ..groups.decide import ENTRIES, decide, without_group
from ..groups.evolve import evolve
from ..groups.group import Group
from ..groups.offsets.decide import transaction_ended
from ..groups.refusals import refusal
from ..groups.requests import Decision, Parked, Reply, RequestContext, Then
from ..groups.share.model import Renewal as ShareRenewal
from ..groups.share.model import ShareMembership
from .causes import CauseTracker
from .durable import DurableEvents
from .journal import Effects, EventSink
from .sweep import Sweep, cleaning_up, removing_offsets
from .timers import CLEANUP, FOLLOW, TimerKind, Timers

if TYPE_CHECKING:
    from .consumer_groups import ConsumerGroups
    from .share_groups import ShareGroups

_SESSION, _JOIN, _SYNC = (
    int(TimerKind.SESSION),
    int(TimerKind.JOIN_PHASE),
    int(TimerKind.SYNC_PHASE),
)
#: Events whose answers to parked syncs renew those members' sessions (SES-1).
_RENEWING = frozenset({ev.RebalanceStarted, ev.GenerationStored, ev.AssignmentRejected})
ENDS = (ev.GroupDeleted, ev.GroupUnloaded)
"""Events after which a shard does not have a group any more."""
#: Events of a classic group that answer nobody and are not durable; nothing follows from them but
#: what `FOLLOW` says.
_PLAIN = frozenset(
    {ev.MemberPending, ev.PendingMemberRemoved, ev.MemberJoined, ev.MemberRejoined, ev.MemberSynced}
)
_NO_CONTEXT = RequestContext(0)
_CONSUMER_SESSION = int(TimerKind.CONSUMER_SESSION)
_SHARE_SESSION = int(TimerKind.SHARE_SESSION)
_BEYOND_CLASSIC = frozenset({*get_args(ev.ConsumerEvent), *get_args(ev.ShareEvent)})
"""Events of groups of the newer protocols, some of which convert a classic group."""


class Shard:
    """Groups of one partition. `index`: the shard of each served group, shared by all shards of a
    coordinator.
    """

    def __init__(
        self,
        config: GroupConfig,
        durable: DurableEvents,
        index: dict[str, Shard],
        log: EventSink | None,
        wake: Callable[[int], None],
        looks_since: int,
    ) -> None:
        """`looks_since`: expired offsets are looked for at whole intervals after this instant
        (EXP-5).
        """
        self.groups: dict[str, Group] = {}
        self.durable = durable
        self.timers = Timers(config, wake)
        self.parked: dict[tuple[str, str, Parked], tuple[Hashable, int]] = {}
        """(group, member, kind of request) -> (token of the client, API version)."""
        self.config = config
        self._looks_since = looks_since
        self._index = index
        self.log = log
        self._causes: dict[str, CauseTracker] = {}
        self._sweeps: list[Sweep] = []
        self._sweeps_since = 0
        self._consumer: ConsumerGroups | None = None
        self._share: ShareGroups | None = None
        self.leaving: list[str] = []
        """Groups that are still to be unloaded, since the partition is led no longer; the first to
        go stands last (`unload`)."""
        self.leaving_cause: int | None = None

    @property
    def consumer(self) -> ConsumerGroups:
        """The consumer groups of the shard, created at first use."""
        if self._consumer is None:
            from .consumer_groups import (
                ConsumerGroups,  # at first use, so that start-up does not load it
            )

            assert self.config.consumer is not None, "consumer groups need an environment"
            self._consumer = ConsumerGroups(self, self.config.consumer)
        return self._consumer

    @property
    def share(self) -> ShareGroups:
        """The share groups of the shard, created at first use."""
        if self._share is None:
            from .share_groups import ShareGroups  # at first use, so that start-up does not load it

            assert self.config.share is not None, "share groups need an environment"
            self._share = ShareGroups(self, self.config.share)
        return self._share

    # -- requests

    def heartbeat(self, request: HeartbeatRequest, now: int) -> HeartbeatResponse:
        """Serve the most frequent request fast, for a served group. The response must not be
        changed.
        """
        group = self.groups[request.group_id].membership
        if isinstance(group, ShareMembership):
            return HeartbeatResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID)
        if not isinstance(group, ClassicGroup):
            return self.consumer.classic_heartbeat(
                self.groups[request.group_id], request, Effects(now)
            )
        decision = decide_heartbeat(group, request, _NO_CONTEXT, now, self.config)
        if decision.alive:
            self.timers.renew(group, request.member_id, now)
        return decision.reply  # type: ignore[return-value]

    def renew_consumer(
        self, request: ConsumerGroupHeartbeatRequest, client_id: str, client_host: str, now: int
    ) -> Renewal | None:
        """Serve a consumer group member's heartbeat without news fast; return None if `handle`
        must.
        """
        membership, environment = self.groups[request.group_id].membership, self.config.consumer
        if environment is None or type(membership) is not ConsumerMembership:
            return None
        renewed = renewal(membership, request, client_id, client_host, environment)
        if renewed is None:
            return None
        self.timers.arm(
            (_CONSUMER_SESSION, request.group_id, request.member_id),
            now + renewed.settings.session_timeout_ms,
        )
        return renewed

    def renew_share(
        self, request: ShareGroupHeartbeatRequest, client_id: str, client_host: str, now: int
    ) -> ShareRenewal | None:
        """Serve a share group member's heartbeat without news fast; return None if `handle` must."""
        membership, environment = self.groups[request.group_id].membership, self.config.share
        if environment is None or type(membership) is not ShareMembership:
            return None
        renewed = self.share.renewal(membership, request, client_id, client_host)
        if renewed is None:
            return None
        self.timers.arm(
            (_SHARE_SESSION, request.group_id, request.member_id),
            now + renewed.settings.session_timeout_ms,
        )
        return renewed

    def find(self, group_id: str, effects: Effects) -> Group | None:
        """Return a group, after carrying out sweeps on it that must come before its requests."""
        for sweep in self._sweeps:
            if sweep.comes_before_requests and group_id in sweep.waiting and self.writable():
                sweep.visit(self.groups, group_id, effects)
        return self.groups.get(group_id)

    def handle(
        self, message: RequestMessage, context: RequestContext, effects: Effects
    ) -> Response | None:
        """Serve a request that names one group of this shard; return None if it is parked."""
        now, group_id = effects.now, message.group_id  # type: ignore[attr-defined]
        group = self.find(group_id, effects) if self._sweeps else self.groups.get(group_id)
        if group is not None:
            if type(group.membership) is ShareMembership:
                return in_version(self.share.serve_other(message, context), context.api_version)
            if type(group.membership) is not ClassicGroup:
                response = self.consumer.serve_classic(group, message, context, effects)
                if response is not None:
                    return in_version(response, context.api_version)
            return self._carry_out(
                group, decide(group, message, context, now, self.config), message, context, effects
            )
        response = without_group(message, context)
        if response is not None:
            return response
        group = Group(group_id, now)
        decision = decide(group, message, context, now, self.config)
        if (
            self.config.append_error
        ):  # JOIN-2: the new group cannot be written down, so it never was
            error = client_append_error(self.config.append_error)
            return (
                refusal(message, context, error)
                if decision.reply is None
                else in_version(decision.reply, context.api_version)
            )
        if not self.writable():
            return refusal(message, context, client_operation_error(ErrorCode.KAFKA_STORAGE_ERROR))
        self.add_group(group, effects)
        self._fold(group, ev.GroupCreated(ENTRIES[type(message)].creates or ""), effects)
        return self._carry_out(group, decision, message, context, effects)

    def consumer_heartbeat(
        self, message: ConsumerGroupHeartbeatRequest, context: RequestContext, effects: Effects
    ) -> Response:
        """Serve a ConsumerGroupHeartbeat."""
        self.find(message.group_id, effects)
        return self.consumer.heartbeat(message, context, effects)

    def share_heartbeat(
        self, message: ShareGroupHeartbeatRequest, context: RequestContext, effects: Effects
    ) -> Response:
        """Serve a ShareGroupHeartbeat."""
        self.find(message.group_id, effects)
        return self.share.heartbeat(message, context, effects)

    # -- what consumer and share groups need of their shard

    def fold(
        self, group: Group, event: ev.Event, effects: Effects, before: int | None = None
    ) -> int | None:
        """Fold and log one event; return its number in the log."""
        return self._fold(group, event, effects, before)

    def rebalance(self, group: Group, reason: str, effects: Effects, before: int | None) -> None:
        """Start a rebalance of a group."""
        self.settle(
            group,
            settle(group.classic, Then.REBALANCE, reason, effects.now, self.config),
            effects,
            before,
        )

    def add_group(self, group: Group, effects: Effects) -> None:
        """Add a new group; its first event follows."""
        self.groups[group.group_id] = group
        self._index[group.group_id] = self
        self._arm_cleanup(effects.now)

    def writable(self) -> bool:
        """Return True if events can be logged now; if not, nothing may change."""
        return self.log is None or self.log.writable

    def _arm_cleanup(self, now: int) -> None:
        """Schedule the next look for expired offsets, if there are groups (EXP-5)."""
        if self.groups and self.timers.get(CLEANUP) is None:
            interval_ms = self.config.offsets_retention_check_interval_ms
            self.timers.arm(CLEANUP, now + interval_ms - (now - self._looks_since) % interval_ms)

    def _carry_out(
        self,
        group: Group,
        decision: Decision,
        message: RequestMessage,
        context: RequestContext,
        effects: Effects,
    ) -> Response | None:
        """Fold a decision and settle; return the response, or None if the request is parked."""
        if decision.events:
            if (
                self.log is not None and not self.log.writable
            ):  # nothing changes that is not logged (ERR-1, ERR-2)
                return refusal(
                    message, context, client_operation_error(ErrorCode.KAFKA_STORAGE_ERROR)
                )
            if decision.parks is not None:
                member_id, kind = decision.parks
                self.parked[group.group_id, member_id, kind] = (context.token, context.api_version)
            before = None
            for event in decision.events:
                before = self._fold(group, event, effects, before)
            if decision.then is not Then.NOTHING:
                self.settle(
                    group,
                    settle(group.classic, decision.then, decision.reason, effects.now, self.config),
                    effects,
                    before,
                )
        if decision.alive:
            self.timers.renew(group.membership, message.member_id, effects.now)  # type: ignore[arg-type, attr-defined]
        reply = decision.reply if decision.answer is None else decision.answer()
        return in_version(reply, context.api_version) if type(reply) is JoinGroupResponse else reply

    def delete(self, group_id: str, effects: Effects) -> ErrorCode:
        """Delete a group for DeleteGroups, or return the error (DG-1)."""
        group = self.find(group_id, effects)
        if group is None:
            return ErrorCode.GROUP_ID_NOT_FOUND
        error = group.membership.refuse_delete()
        if not error and not self.writable():
            error = client_operation_error(ErrorCode.KAFKA_STORAGE_ERROR)
        if not error:
            self._fold(group, ev.GroupDeleted("deleted by request"), effects)
        return error

    # -- what happens around the groups

    def end_transaction(self, producer_id: int, committed: bool, effects: Effects) -> None:
        """Apply a marker in this partition: the producer's pending offsets are committed or dropped
        (TXN-5). For a group that is not loaded (yet) the event is stored, so that a load finds
        it.
        """
        for group_id in self.durable.waiting_for(producer_id):
            group = self.groups.get(group_id)
            if group is not None:
                self._fold(group, transaction_ended(group, producer_id, committed), effects)
                continue
            stored = self.durable.fold(group_id)
            self.store(stored, transaction_ended(stored, producer_id, committed), effects)

    def store(self, stored: Group, event: ev.Event, effects: Effects) -> None:
        """Store and log a durable event of a group that is not served. `stored`: the group folded
        from its earlier durable events.
        """
        evolve(stored, event, effects.now)
        self.durable.append(effects.now, stored.group_id, event)
        self._write(stored, event, effects, None)

    def partitions_deleted(self, partitions: Collection[tuple[str, int]], effects: Effects) -> None:
        """Start to remove the committed offsets of deleted topics or partitions in all groups
        (EXP-7); `tick` continues.
        """
        if not self.leaving:
            work = removing_offsets(partitions, self._fold, self._forget_topics)
            self._sweep(
                Sweep(work, self.groups, effects.cause, comes_before_requests=True), effects.now
            )

    def _forget_topics(
        self, group: Group, partitions: Collection[tuple[str, int]], effects: Effects
    ) -> None:
        """Let a share group forget the share partitions of deleted topics."""
        if group.share is not None:
            self.share.forget_topics(group, {topic for topic, _ in partitions}, effects)

    def _sweep(self, sweep: Sweep, now: int) -> None:
        if sweep.waiting:
            self._sweeps.append(sweep)
            self._sweeps_since = now
            self.timers.wake(now)

    def stop_serving(self, effects: Effects) -> None:
        """Stop serving the partition: requests find none of its groups, and all timers end (ERR-5)."""
        # what was begun for all groups is in their durable events before somebody else loads them
        for sweep in self._sweeps:
            while sweep.comes_before_requests and sweep.waiting:
                sweep.visit(self.groups, next(iter(sweep.waiting)), effects)
        self._sweeps.clear()
        self.timers.clear()
        for group_id in self.groups:
            self._index.pop(group_id, None)

    def load_group(self, group: Group, effects: Effects) -> None:
        """Take over a group that was folded from its durable events (ERR-7)."""
        self.groups[group.group_id] = group
        if group.consumer is not None:
            self._fold(group, ev.GroupLoaded(str(group.state), group.consumer.group_epoch), effects)
            self.consumer.start_timers(group, effects.now)
        elif group.share is not None:
            self._fold(group, ev.GroupLoaded(str(group.state), group.share.group_epoch), effects)
            self.share.start_timers(group, effects.now)
        else:
            self.settle(group, loaded(group.classic, effects.now, self.config), effects)

    def serve(self, now: int) -> None:
        """Serve the partition, which is loaded now, and start to look for expired offsets."""
        self._looks_since = now
        self.take_up(now)

    def take_up(self, now: int) -> None:
        """Let requests find the groups, and schedule the look for expired offsets."""
        self._index.update(dict.fromkeys(self.groups, self))
        self._arm_cleanup(now)

    # -- time

    def next_deadline(self) -> int | None:
        """Return the instant at which `tick` is due, or None."""
        return self._sweeps_since if self._sweeps else self.timers.next()

    def only_looks(self, now: int) -> bool:
        """Return True if nothing is due but the periodic removal of expired offsets, which no
        member notices.
        """
        return not any(sweep.comes_before_requests for sweep in self._sweeps) and all(
            key == CLEANUP for key in self.timers.due_keys(now)
        )

    def tick(self, effects: Effects, budget: int) -> int:
        """Run what is due, within `budget`; return the rest of it. What remains stays due."""
        budget = self.sweep(effects, budget)
        if self._sweeps:
            return budget
        for kind, group_id, member_id in self.timers.due(effects.now):
            budget -= self.ran_out(kind, group_id, member_id, effects)
            if budget <= 0 or self._sweeps:
                break
        return budget

    def sweep(self, effects: Effects, budget: int) -> int:
        """Continue the sweeps over all groups, within `budget`; return the rest of it."""
        while self._sweeps and budget > 0:
            if self._sweeps[0].waiting:
                budget -= self._sweeps[0].visit(
                    self.groups, next(iter(self._sweeps[0].waiting)), effects
                )
            else:
                del self._sweeps[0]
        return budget

    def ran_out(self, kind: int, group_id: str, member_id: str, effects: Effects) -> int:
        """Handle an expired timer; return the cost."""
        now, config = effects.now, self.config
        if kind == CLEANUP.kind:
            self._arm_cleanup(now)
            self._sweep(Sweep(cleaning_up(config, self._fold), self.groups, None), now)
            return 1
        group = self.groups[group_id]
        seen = len(effects.events)
        if kind == _SHARE_SESSION:
            self.share.session_ended(group, member_id, effects)
        elif kind >= _CONSUMER_SESSION:
            self.consumer.timer_expired(group, kind, member_id, effects)
        elif kind == _SESSION:
            self.settle(group, session_expired(group.classic, member_id, now, config), effects)
        elif kind == _JOIN:
            self.settle(group, join_deadline_passed(group.classic, now, config), effects)
        else:
            self.settle(group, sync_deadline_passed(group.classic, now, config), effects)
        return 1 + len(effects.events) - seen

    # -- folding

    def settle(
        self, group: Group, steps: Iterator[ev.Event], effects: Effects, before: int | None = None
    ) -> None:
        """Fold events one by one, each proposed on the state that the one before left."""
        for event in steps:
            before = self._fold(group, event, effects, before)

    def _fold(
        self, group: Group, event: ev.Event, effects: Effects, before: int | None = None
    ) -> int | None:
        """Fold one event of any group; return its number in the log. `before`: the number of the
        event that it follows from.
        """
        now, membership, kind = effects.now, group.membership, type(event)
        if (
            kind in _PLAIN and type(membership) is ClassicGroup
        ):  # each member's part in a rebalance, in short
            CLASSIC_FOLDS[kind](membership, event, now)
            follow = FOLLOW.get(kind)
            if follow is not None:
                follow(self.timers, membership, event, now)
            return self._write(group, event, effects, before)
        if (
            kind is ev.OffsetsCommitted
        ):  # the most frequent, in short: it changes no membership and ends nobody's waiting
            now += self.config.clock_ms
            evolve(group, event, now)
            self.durable.append(now, group.group_id, event)
            return self._write(group, event, effects, before)
        if type(membership) is not ClassicGroup or kind in _BEYOND_CLASSIC:
            return self._fold_beyond_classic(group, event, effects, before)
        renewed = self._answer(membership, event, effects) if kind in ANSWERING else ()
        inherited_ms = (
            membership.members[event.replaced].session_timeout_ms
            if isinstance(event, ev.MemberReplaced)
            else 0
        )
        at = now + self.config.clock_ms if kind in ev.DATED else now
        evolve(group, event, at)
        for member_id in renewed:
            self.timers.renew(membership, member_id, now)
        self.timers.follow(membership, event, now)
        if isinstance(
            event, ev.MemberReplaced
        ):  # STA-2: the old session timeout counts until the next renewal
            self.timers.arm_session(group.group_id, event.member_id, now + inherited_ms)
        elif isinstance(event, ev.MemberRemoved):  # SYNC-7
            self.parked.pop((group.group_id, event.member_id, Parked.SYNC), None)
        elif kind in ENDS:
            self.end(group.group_id)
        if kind in ev.DURABLE:
            self.durable.append(at, group.group_id, event)
        return self._write(group, event, effects, before)

    def _fold_beyond_classic(
        self, group: Group, event: ev.Event, effects: Effects, before: int | None
    ) -> int | None:
        """Fold one event of a consumer or share group, which has no parked requests; its timers are
        set by decisions.
        """
        membership, kind = group.consumer, type(event)
        at = effects.now + self.config.clock_ms if kind in ev.DATED else effects.now
        evolve(group, event, at)
        if kind in ENDS:
            if membership is not None:
                self.consumer.stop_timers(group.group_id, membership)
            elif group.share is not None:
                self.share.ended(group, kind is ev.GroupDeleted, effects)
            self.end(group.group_id)
        if kind in ev.DURABLE:
            self.durable.append(at, group.group_id, event)
        return self._write(group, event, effects, before)

    def end(self, group_id: str) -> None:
        """Remove a group that was deleted or is no longer served here."""
        del self.groups[group_id]
        self._index.pop(group_id, None)
        if self.leaving and self.leaving[-1] == group_id:
            self.leaving.pop()

    def _write(
        self, group: Group, event: ev.Event, effects: Effects, before: int | None
    ) -> int | None:
        group_id = group.group_id
        effects.events.append((group_id, event))
        if self.log is None:
            return None
        causes = self._causes.get(group_id)
        if causes is None:
            causes = self._causes[group_id] = CauseTracker()
        seq = self.log.group_event(
            group_id,
            group.generation,
            event,
            effects.now,
            causes.cause_of(event, effects.cause, before),
        )
        causes.note(event, seq)
        if group_id not in self.groups:
            del self._causes[group_id]
        return seq

    def _answer(self, group: ClassicGroup, event: ev.Event, effects: Effects) -> list[str]:
        """Answer the parked requests that `event` ends; return the members whose sessions are
        renewed by that.
        """
        renewed: list[str] = []
        renewing = type(event) in _RENEWING
        for member_id, kind, response in responses_to_parked(group, event):
            if renewing:
                renewed.append(member_id)
            waiting = self.parked.pop((group.group_id, member_id, kind), None)
            if waiting is not None:  # nobody waits after a replay
                token, api_version = waiting
                effects.replies.append(Reply(token, in_version(response, api_version)))
        return renewed
