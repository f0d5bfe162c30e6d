"""Consumer groups (KIP-848) of a shard: passes requests to decisions, and decisions to events,
timers and replies.

Owns the routing only: which group a request means, whether it is created, converted or refused,
and carrying out a decision. The rules are in `core.groups.consumer` and `core.groups.migration`.
Depends on the shard through `Host` alone.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Generator, Hashable, Iterator
from typing import NamedTuple, Protocol

from coordinator.base.errors import ErrorCode
from coordinator.events.groups import Event, GroupCreated
from coordinator.events.groups import consumer as cev
from coordinator.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from coordinator.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from coordinator.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from coordinator.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from coordinator.wire.schema import Request as RequestMessage
from coordinator.wire.schema import Response

from ..groups import migration
from ..groups.append_errors import client_operation_error
from ..groups.classic.responses import in_version, join_error, sync_error
from ..groups.consumer import classic_members, leave, validation
from ..groups.consumer.environment import Environment
from ..groups.consumer.evolve import evolve
from ..groups.consumer.heartbeat import Caller, decide_heartbeat
from ..groups.consumer.model import ConsumerMembership
from ..groups.consumer.requests import Decision, Refused, Timer, TimerKind
from ..groups.consumer.subscription import resolve
from ..groups.consumer.validation import JOINING
from ..groups.group import Group
from ..groups.refusals import refusal
from ..groups.requests import Parked, Reply, RequestContext
from .journal import Effects
from .timers import OF_CONSUMERS, Timers
from .timers import TimerKind as ShardTimer

_PATTERNS = int(ShardTimer.PATTERNS)


class Host(Protocol):
    """The part of a shard that its consumer and share groups use."""

    groups: dict[str, Group]
    timers: Timers
    parked: dict[tuple[str, str, Parked], tuple[Hashable, int]]

    def writable(self) -> bool:
        """True if events can be logged now; if not, nothing may change."""

    def fold(
        self, group: Group, event: Event, effects: Effects, before: int | None = None
    ) -> int | None:
        """Fold and log one event; return its number in the log."""

    def add_group(self, group: Group, effects: Effects) -> None:
        """Add a new group; its first event follows."""

    def rebalance(self, group: Group, reason: str, effects: Effects, before: int | None) -> None:
        """Start a rebalance of a group that has just become classic."""


def heartbeat_error(error: ErrorCode, message: str | None = None) -> ConsumerGroupHeartbeatResponse:
    """Return a refused heartbeat; as in Kafka, UNKNOWN_SERVER_ERROR has no text (ERR-1)."""
    return ConsumerGroupHeartbeatResponse(
        error_code=error, error_message=None if error is ErrorCode.UNKNOWN_SERVER_ERROR else message
    )


def check(
    request: ConsumerGroupHeartbeatRequest, api_version: int, environment: Environment
) -> ConsumerGroupHeartbeatResponse | None:
    """Return the refusal of an invalid heartbeat (K8-VAL-1..4), or None if it is valid."""
    try:
        validation.check(request, api_version, environment.assignors)
    except Refused as refused:
        return heartbeat_error(refused.error, refused.message)
    return None


class _Matching(NamedTuple):
    """Matching of regular expressions in progress, and the number of the event that started it."""

    work: Generator[None, None, tuple[cev.ConsumerEvent, ...]]
    before: int | None


class ConsumerGroups:
    """The consumer groups of a shard."""

    def __init__(self, host: Host, environment: Environment) -> None:
        self.host = host
        self.environment = environment
        self._matching: dict[
            str, _Matching
        ] = {}  # by group: regular expressions that are being matched

    # -- the consumer protocol

    def heartbeat(
        self, request: ConsumerGroupHeartbeatRequest, context: RequestContext, effects: Effects
    ) -> ConsumerGroupHeartbeatResponse:
        """Serve a heartbeat that passed `check`."""
        try:
            if request.member_epoch < JOINING:
                group, membership = self._known(request.group_id)
                decision = leave.decide_leave(membership, request, self.environment)
                reply = self._carry_out(group, decision, effects)
            else:
                reply = self._join_or_stay(request, context, effects)
        except Refused as refused:
            self._tell_failure(request.group_id, refused, effects)
            return heartbeat_error(refused.error, refused.message)
        assert isinstance(reply, ConsumerGroupHeartbeatResponse)
        return reply

    def _tell_failure(self, group_id: str, refused: Refused, effects: Effects) -> None:
        """Log why an assignor failed; the client does not get the reason."""
        group = self.host.groups.get(group_id)
        if refused.event is not None and group is not None and self.host.writable():
            self.host.fold(group, refused.event, effects)

    def _known(self, group_id: str) -> tuple[Group, ConsumerMembership]:
        group = self.host.groups.get(group_id)
        if group is None:
            raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        if group.consumer is None:
            raise Refused(
                ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group."
            )
        return group, group.consumer

    def _join_or_stay(
        self, request: ConsumerGroupHeartbeatRequest, context: RequestContext, effects: Effects
    ) -> Response | None:
        """Carry out K8-HB-1 step 1: find the group, create it, or convert a classic one. If the
        member is refused, nothing is created or converted.
        """
        group, now = self.host.groups.get(request.group_id), effects.now
        caller = Caller(context.client_id, context.client_host)
        member_id = request.member_id or context.fresh_id
        if group is not None and group.consumer is not None:
            return self._carry_out(
                group,
                decide_heartbeat(group.consumer, request, member_id, caller, now, self.environment),
                effects,
            )
        first = self._conversion(group, request, effects)
        membership = ConsumerMembership(request.group_id)
        for event in first:
            evolve(membership, event, now)
        decision = decide_heartbeat(membership, request, member_id, caller, now, self.environment)
        self._refuse_unwritable(True)
        before = None
        if group is None:
            group = Group(request.group_id, now)
            self.host.add_group(group, effects)
            before = self.host.fold(group, GroupCreated("heartbeat"), effects)
        else:
            self._forget_classic(group, effects)
        for event in first:
            before = self.host.fold(group, event, effects, before)
        for member in membership.members.values():
            assert member.classic is not None
            deadline_ms = now + member.classic.session_timeout_ms
            self.host.timers.set_timer(
                request.group_id, Timer(TimerKind.SESSION, member.member_id, deadline_ms)
            )
        return self._carry_out(group, decision, effects, before)

    def _conversion(
        self, group: Group | None, request: ConsumerGroupHeartbeatRequest, effects: Effects
    ) -> tuple[cev.ConsumerEvent, ...]:
        """Return the events that make the group a consumer group. Raises Refused with
        GROUP_ID_NOT_FOUND (K8-MIG-1, K8-MIG-3).
        """
        if request.member_epoch != JOINING or (group is not None and not group.is_classic):
            what = "not found" if group is None else "is not a consumer group"
            text = (
                f"Consumer group {request.group_id} not found."
                if group is None
                else f"Group {request.group_id} {what}."
            )
            raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, text)
        if group is None or not group.members:
            return (cev.ConsumerGroupCreated(replaced_classic=group is not None),)
        migration.refuse_upgrade(group.classic, self.environment)
        return migration.upgraded(group.classic, self.environment)

    def _refuse_unwritable(self, writes: bool) -> None:
        """Raise Refused if an event must be logged and cannot be (ERR-1)."""
        if writes and not self.host.writable():
            raise Refused(client_operation_error(ErrorCode.KAFKA_STORAGE_ERROR))

    def _forget_classic(self, group: Group, effects: Effects) -> None:
        """Before a classic group becomes a consumer group, answer its parked requests (members must
        rejoin) and cancel its timers (K8-MIG-1).
        """
        classic, timers, group_id = group.classic, self.host.timers, group.group_id
        for member_id in (*classic.members, *classic.pending):
            timers.cancel((int(ShardTimer.SESSION), group_id, member_id))
            for kind in Parked:
                waiting = self.host.parked.pop((group_id, member_id, kind), None)
                if waiting is not None:
                    error = ErrorCode.REBALANCE_IN_PROGRESS
                    response = (
                        join_error(error, member_id) if kind is Parked.JOIN else sync_error(error)
                    )
                    effects.replies.append(Reply(waiting[0], in_version(response, waiting[1])))
        for phase in (ShardTimer.JOIN_PHASE, ShardTimer.SYNC_PHASE):
            timers.cancel((int(phase), group_id, ""))

    # -- the classic protocol within a consumer group

    def serve_classic(
        self, group: Group, message: RequestMessage, context: RequestContext, effects: Effects
    ) -> Response | None:
        """Serve a request of the classic protocol to a consumer group. Return None if it is about
        offsets, or if the empty group has become classic (K8-MIG-3).
        """
        match message:
            case JoinGroupRequest() if _consumer(group).members:
                return self.join(group, message, context, effects)
            case JoinGroupRequest():
                if message.member_id:
                    return refusal(message, context, ErrorCode.UNKNOWN_MEMBER_ID)
                if not self.host.writable():
                    return refusal(
                        message, context, client_operation_error(ErrorCode.KAFKA_STORAGE_ERROR)
                    )
                self.host.fold(group, cev.MembershipReset(), effects)
            case SyncGroupRequest():
                if not _consumer(group).members:
                    return refusal(message, context, ErrorCode.UNKNOWN_MEMBER_ID)
                return self.sync(group, message, context, effects)
            case LeaveGroupRequest():
                return self.leave_group(group, message, context, effects)
        return None

    def join(
        self, group: Group, request: JoinGroupRequest, context: RequestContext, effects: Effects
    ) -> JoinGroupResponse:
        """Serve a JoinGroup to a consumer group with members (K8-CLS-1..3)."""
        membership = _consumer(group)
        caller = Caller(context.client_id, context.client_host)
        try:
            decision = classic_members.decide_join(
                membership,
                request,
                context.api_version,
                _kafka_id(context.fresh_id),
                caller,
                effects.now,
                self.environment,
            )
            reply = self._carry_out(group, decision, effects)
        except Refused as refused:
            self._tell_failure(group.group_id, refused, effects)
            return JoinGroupResponse(error_code=refused.error, protocol_name="")
        assert isinstance(reply, JoinGroupResponse)
        return reply

    def sync(
        self, group: Group, request: SyncGroupRequest, context: RequestContext, effects: Effects
    ) -> SyncGroupResponse:
        """Serve a SyncGroup to a consumer group (K8-CLS-4)."""
        membership = _consumer(group)
        try:
            decision = classic_members.decide_sync(
                membership, request, effects.now, self.environment.topics
            )
            reply = self._carry_out(group, decision, effects)
        except Refused as refused:
            return SyncGroupResponse(error_code=refused.error)
        assert isinstance(reply, SyncGroupResponse)
        return reply

    def classic_heartbeat(
        self, group: Group, request: HeartbeatRequest, effects: Effects
    ) -> HeartbeatResponse:
        """Serve a Heartbeat to a consumer group (K8-CLS-5)."""
        membership = _consumer(group)
        try:
            reply = self._carry_out(
                group,
                classic_members.decide_classic_heartbeat(
                    membership, request, effects.now, self.environment
                ),
                effects,
            )
        except Refused as refused:
            return HeartbeatResponse(error_code=refused.error)
        assert isinstance(reply, HeartbeatResponse)
        return reply

    def leave_group(
        self, group: Group, request: LeaveGroupRequest, context: RequestContext, effects: Effects
    ) -> LeaveGroupResponse:
        """Serve a LeaveGroup to a consumer group (K8-CLS-7)."""
        membership = _consumer(group)
        decision = leave.decide_leave_group(
            membership, request, context.api_version, self.environment
        )
        try:
            reply = self._carry_out(group, decision, effects)
        except Refused as refused:
            return LeaveGroupResponse(error_code=refused.error)
        assert isinstance(reply, LeaveGroupResponse)
        return reply

    # -- time

    def timer_expired(self, group: Group, kind: int, member_id: str, effects: Effects) -> None:
        """Handle an expired timer of a member (K8-LV-5, K8-REC-6, K8-CLS-6), or continue to match
        regular expressions.
        """
        if kind == _PATTERNS:
            self._go_on_matching(group, effects)
        elif group.consumer is not None:
            self._carry_out(
                group,
                leave.timer_expired(
                    group.consumer, OF_CONSUMERS[kind], member_id, self.environment
                ),
                effects,
            )

    def end_session(self, group: Group, member_id: str, effects: Effects) -> None:
        """Remove a member whose session a test ended."""
        decision = leave.timer_expired(
            _consumer(group), TimerKind.SESSION, member_id, self.environment, by_hand=True
        )
        self._carry_out(group, decision, effects)

    def start_timers(self, group: Group, now: int) -> None:
        """Start the members' timers anew after a load (ERR-7)."""
        for timer in leave.timers_after_load(_consumer(group), now, self.environment):
            self.host.timers.set_timer(group.group_id, timer)

    def stop_timers(self, group_id: str, membership: ConsumerMembership) -> None:
        """Cancel all timers of a group that is no longer served here."""
        for timer in no_timers(membership):
            self.host.timers.set_timer(group_id, timer)
        if self._matching.pop(group_id, None) is not None:
            self.host.timers.cancel((_PATTERNS, group_id, ""))

    # -- carrying out

    def _carry_out(
        self, group: Group, decision: Decision, effects: Effects, before: int | None = None
    ) -> Response | None:
        membership, host = _consumer(group), self.host
        self._refuse_unwritable(bool(decision.events or decision.downgrade or decision.resolve))
        for event in decision.events:
            before = host.fold(group, event, effects, before)
        for timer in decision.timers:
            host.timers.set_timer(group.group_id, timer)
        if decision.checked_version is not None:
            membership.checked_version = decision.checked_version
        if (
            decision.resolve and group.group_id not in self._matching
        ):  # what is under way is not begun anew, as in Kafka
            membership.resolved_version = self.environment.topics.created
            self._matching[group.group_id] = _Matching(
                resolve(membership, decision.resolve, self.environment, effects.sees), before
            )
            before = self._go_on_matching(group, effects)
        if decision.downgrade is not None:
            event = migration.downgraded(membership, decision.downgrade, self.environment)
            self.stop_timers(group.group_id, membership)
            before = host.fold(group, event, effects, before)
            host.timers.arm_sessions(group.classic, effects.now)
            if decision.downgrade.rebalance is not None:
                host.rebalance(group, decision.downgrade.rebalance, effects, before)
        return decision.reply

    def _go_on_matching(self, group: Group, effects: Effects) -> int | None:
        """Match a slice of a group's regular expressions; the rest follows a millisecond later.
        Return the number of the last event.
        """
        matching = self._matching[group.group_id]
        before = matching.before
        try:
            next(matching.work)
        except StopIteration as end:
            del self._matching[group.group_id]
            for event in end.value:
                before = self.host.fold(group, event, effects, before)
        else:
            self.host.timers.arm((_PATTERNS, group.group_id, ""), effects.now + 1)
        return before


def no_timers(membership: ConsumerMembership) -> Iterator[Timer]:
    """Yield cancellations of all timers of a group's members."""
    for member_id in membership.members:
        for kind in TimerKind:
            yield Timer(kind, member_id, None)


def _consumer(group: Group) -> ConsumerMembership:
    assert group.consumer is not None, f"{group.group_id} is no consumer group"
    return group.consumer


def _kafka_id(uuid_text: str) -> str:
    """Return a UUID as Kafka writes its ids; a leading dash becomes an A (K8-CLS-1)."""
    if not uuid_text:
        return ""
    text = urlsafe_b64encode(bytes.fromhex(uuid_text.replace("-", ""))).decode().rstrip("=")
    return "A" + text[1:] if text.startswith("-") else text
