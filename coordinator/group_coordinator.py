"""The group coordinator: groups (hard state), sessions and parked requests (soft state), and what is due next.

It folds what the heart decides, hands out the answers that events release, and keeps deadlines as data. It knows neither
clocks nor sockets: time is an argument, clients are opaque tokens. Groups live on the partitions of __consumer_offsets
(CFG-2); a partition may be loading or led elsewhere, which its requests are told (ERR-4, ERR-5).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol

from .causes import Trail
from .deadlines import Deadlines
from .errors import ErrorCode
from .groups import events as ev
from .groups.answers import answers, join_error, sync_error
from .groups.config import GroupConfig
from .groups.decide import admin, offsets
from .groups.decide.heartbeat import decide_heartbeat
from .groups.decide.join import decide_join, refuse_join
from .groups.decide.leave import decide_leave, leave_without_group
from .groups.decide.record import told_append_error
from .groups.decide.sync import decide_sync, refuse_sync
from .groups.evolve import evolve
from .groups.load import Ledger
from .groups.model import Group
from .groups.pending_offsets import PendingOffsets
from .groups.requests import Decision, Parked, Reply, Request, RequestContext, Then
from .groups.settle import join_deadline_passed, loaded, session_expired, settle, sync_deadline_passed
from .java_hash import coordinator_partition, in_compute_order, in_hash_order, java_hash, topic_partition_hash
from .wire.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from .wire.messages.describe_groups import DescribedGroup, DescribeGroupsRequest, DescribeGroupsResponse
from .wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from .wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from .wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from .wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from .wire.messages.offset_commit import OffsetCommitRequest
from .wire.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from .wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse, OffsetFetchResponseGroup
from .wire.messages.sync_group import SyncGroupRequest
from .wire.messages.txn_offset_commit import TxnOffsetCommitRequest
from .wire.schema import Response

_SESSION, _JOIN, _SYNC, _CLEANUP = range(4)
_Key = tuple[int, str, str]
_CLEANUP_KEY: _Key = (_CLEANUP, "", "")
#: Events whose answers to parked syncs renew those members' sessions (SES-1).
_RENEWING = frozenset({ev.RebalanceStarted, ev.GenerationStored, ev.AssignmentRejected})
#: What an operator who may do everything may do to a group: READ, DELETE, DESCRIBE and the two for its configuration (DSC-4).
_ALL_OPERATIONS = 1 << 3 | 1 << 6 | 1 << 8 | 1 << 10 | 1 << 11
_HEARTBEATS = {error: HeartbeatResponse(error_code=error) for error in ErrorCode}


class Outcome(NamedTuple):
    """What a call brought about: the events, by group, in order; and the answers that may go out now, in order."""

    events: tuple[tuple[str, ev.Event], ...] = ()
    replies: tuple[Reply, ...] = ()


class EventSink(Protocol):
    """Where events are written down before their replies go out."""

    def group_event(self, group: str, generation: int, event: ev.Event, at_ms: int, cause: int | None) -> int:
        """Append one event of a group, `generation` being the group's after it; returns its number in the log."""
        ...


class LoggedEvent(NamedTuple):
    """An event of a group as a log holds it."""

    at_ms: int
    group: str
    event: ev.Event


class GroupCoordinator:
    """All groups of one broker. Call `handle` for each request, `tick` when `next_deadline` has come."""

    def __init__(self, config: GroupConfig, log: EventSink | None = None, now: int = 0) -> None:
        self.config = config
        self.groups: dict[str, Group] = {}
        self._log = log
        self._trails: dict[str, Trail] = {}
        self._deadlines: Deadlines[_Key] = Deadlines()
        self._parked: dict[tuple[str, str, Parked], tuple[Hashable, int]] = {}
        self._events: list[tuple[str, ev.Event]] = []
        self._replies: list[Reply] = []
        self._unavailable: dict[int, ErrorCode] = {}
        self._stored: dict[int, Ledger] = {}
        self._transacting: dict[int, dict[str, None]] = {}  # producer id -> groups with offsets pending in its transaction
        self._active = True
        self._deadlines.arm(_CLEANUP_KEY, now + config.offsets_retention_check_interval_ms)

    # -- requests

    def handle(self, request: Request, now: int) -> Outcome:
        """Serve one request. Without a reply under its own token in the outcome it is parked until a later outcome."""
        message = request.message
        if type(message) is HeartbeatRequest:
            return Outcome((), (Reply(request.context.token, self.heartbeat(message, now)),))
        reply = _HANDLERS[type(message)](self, message, request.context, now)
        if reply is not None:
            self._replies.append(Reply(request.context.token, reply))
        return self._outcome()

    def heartbeat(self, request: HeartbeatRequest, now: int) -> HeartbeatResponse:
        """The short way for the request that comes most: no events, nobody else to answer. Not to be changed by the caller."""
        group_id = request.group_id
        error = self._refuse(group_id)
        if error:
            loading = error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS  # a blind success (ERR-4)
            return _HEARTBEATS[ErrorCode.NONE if loading else error]
        group = self.groups.get(group_id)
        if group is None:
            return _HEARTBEATS[ErrorCode.UNKNOWN_MEMBER_ID]
        error, alive = decide_heartbeat(group, request)
        if alive:
            self._renew(group, request.member_id, now)
        return _HEARTBEATS[error]

    def _join(self, request: JoinGroupRequest, context: RequestContext, now: int) -> Response | None:
        if not self._active:
            return _join_error(ErrorCode.COORDINATOR_NOT_AVAILABLE, context, request.member_id)
        error = refuse_join(request, self.config)
        if error:
            return _join_error(error, context, request.member_id)
        error = self._partition_error(request.group_id)
        if error:
            return _join_error(error, context)
        group = self.groups.get(request.group_id)
        if group is not None:
            return self._carry_out(group, decide_join(group, request, context, now, self.config), context, now)
        if request.member_id:
            return _join_error(ErrorCode.UNKNOWN_MEMBER_ID, context, request.member_id)
        group = Group(request.group_id, now)
        if self.config.append_error:  # JOIN-2: the new group cannot be written down, so it never was
            reply = decide_join(group, request, context, now, self.config).reply
            return reply or _join_error(told_append_error(self.config.append_error), context)
        self._create(group, "join", context, now)
        return self._carry_out(group, decide_join(group, request, context, now, self.config), context, now)

    def _sync(self, request: SyncGroupRequest, context: RequestContext, now: int) -> Response | None:
        error = refuse_sync(request, context) or self._refuse(request.group_id)  # ENT-2 stands before all else
        if error:
            return sync_error(error)
        group = self.groups.get(request.group_id)
        if group is None:
            return sync_error(ErrorCode.UNKNOWN_MEMBER_ID)
        return self._carry_out(group, decide_sync(group, request, self.config), context, now)

    def _leave(self, request: LeaveGroupRequest, context: RequestContext, now: int) -> Response | None:
        error = self._refuse(request.group_id)
        if error:
            return LeaveGroupResponse(error_code=error)
        group = self.groups.get(request.group_id)
        if group is None:
            return leave_without_group(request, context)
        return self._carry_out(group, decide_leave(group, request, context), context, now)

    def _commit(self, request: OffsetCommitRequest, context: RequestContext, now: int) -> Response | None:
        error = self._refuse(request.group_id, empty_allowed=True)
        if error:
            return offsets.commit_response(request, error)
        group = self.groups.get(request.group_id)
        if group is None:
            error = offsets.refuse_commit_without_group(request, context)
            if error:
                return offsets.commit_response(request, error)
            group = Group(request.group_id, now)
            if not self.config.append_error:
                self._create(group, "commit", context, now)
        return self._carry_out(group, offsets.decide_commit(group, request, now, self.config), context, now)

    def _commit_in_transaction(self, request: TxnOffsetCommitRequest, context: RequestContext, now: int) -> Response | None:
        error = self._refuse(request.group_id)  # TXN-1
        if error:
            return offsets.transactional_response(request, error)
        group = self.groups.get(request.group_id)
        if group is None:
            if request.generation_id >= 0:
                return offsets.transactional_response(request, ErrorCode.ILLEGAL_GENERATION)
            group = Group(request.group_id, now)
            if not self.config.append_error:
                self._create(group, "commit", context, now)
        return self._carry_out(group, offsets.decide_transactional_commit(group, request, self.config), context, now)

    def _fetch_offsets(self, request: OffsetFetchRequest, context: RequestContext, now: int) -> Response | None:
        if context.api_version < offsets.BATCHED_FETCH:
            error = self._refuse(request.group_id, empty_allowed=True)
            if error:
                return offsets.fetch_error_response(request, error, context.api_version)
            group = self.groups.get(request.group_id)
            return OffsetFetchResponse(topics=offsets.fetch_topics(group, request.topics, request.require_stable))
        rows = []
        for asked in request.groups:
            error = self._refuse(asked.group_id, empty_allowed=True)
            group = self.groups.get(asked.group_id)
            topics = [] if error else offsets.fetch_group_topics(group, asked.topics, request.require_stable)
            rows.append(OffsetFetchResponseGroup(group_id=asked.group_id, topics=topics, error_code=error))
        return OffsetFetchResponse(groups=rows)

    def _delete_offsets(self, request: OffsetDeleteRequest, context: RequestContext, now: int) -> Response | None:
        error = self._refuse(request.group_id)
        if error:
            return OffsetDeleteResponse(error_code=error)
        group = self.groups.get(request.group_id)
        decision = offsets.decide_offset_delete(group, request)
        return decision.reply if group is None else self._carry_out(group, decision, context, now)

    def _describe(self, request: DescribeGroupsRequest, context: RequestContext, now: int) -> Response | None:
        rows = []
        for group_id in self._by_partition(request.groups):
            error = self._refuse(group_id, empty_allowed=True)
            if error:
                rows.append(DescribedGroup(group_id=group_id, error_code=error))
                continue
            row = admin.describe(self.groups.get(group_id), group_id, context.api_version)
            if request.include_authorized_operations and not row.error_code:
                row.authorized_operations = _ALL_OPERATIONS
            rows.append(row)
        return DescribeGroupsResponse(groups=rows)

    def _list(self, request: ListGroupsRequest, context: RequestContext, now: int) -> Response | None:
        if not self._active:
            return ListGroupsResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)
        if ErrorCode.COORDINATOR_LOAD_IN_PROGRESS in self._unavailable.values():
            return ListGroupsResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return ListGroupsResponse(groups=admin.listed(self.groups.values(), request.states_filter, request.types_filter))

    def _delete(self, request: DeleteGroupsRequest, context: RequestContext, now: int) -> Response | None:
        rows = []
        for group_id in self._by_partition(in_hash_order(request.groups_names, java_hash)):  # DG-2: a set
            group = self.groups.get(group_id)
            error = self._refuse(group_id, empty_allowed=True) or admin.refuse_delete(group)
            if not error and group is not None:
                self._fold(group, ev.GroupDeleted("deleted by request"), now, context.cause)
            rows.append(DeletableGroupResult(group_id=group_id, error_code=error))
        return DeleteGroupsResponse(results=rows)

    # -- time

    def next_deadline(self) -> int | None:
        """The instant at which `tick` has to be called next, if nothing happens before."""
        return self._deadlines.next()

    def tick(self, now: int) -> Outcome:
        """Let everything happen that is due by `now`."""
        for kind, group_id, member_id in self._deadlines.due(now):
            if kind == _CLEANUP:
                self._clean_up(now)
                continue
            group = self.groups[group_id]
            if kind == _SESSION:
                self._settle(group, session_expired(group, member_id, now, self.config), now)
            elif kind == _JOIN:
                self._settle(group, join_deadline_passed(group, now, self.config), now)
            else:
                self._settle(group, sync_deadline_passed(group, now, self.config), now)
        return self._outcome()

    def _clean_up(self, now: int) -> None:
        """Drop expired offsets, then Empty groups that neither have any nor wait for some (EXP-5, EXP-6)."""
        self._deadlines.arm(_CLEANUP_KEY, now + self.config.offsets_retention_check_interval_ms)
        for group in list(self.groups.values()):
            gone = offsets.expired(group, now, self.config)
            if gone is not None:
                self._fold(group, gone, now, None)
            if not group.offsets and not group.pending_offsets and not admin.refuse_delete(group):
                self._fold(group, ev.GroupDeleted("empty, without offsets"), now, None)

    # -- what happens around the groups

    def on_partitions_deleted(self, partitions: Iterable[tuple[str, int]], now: int, cause: int | None = None) -> Outcome:
        """Topics or partitions were deleted: their committed offsets go, in all groups (EXP-7)."""
        partitions = list(partitions)
        for group in list(self.groups.values()):
            gone = offsets.removed_with_topics(group, partitions)
            if gone is not None:
                self._fold(group, gone, now, cause)
        return self._outcome()

    def end_transaction(self, producer_id: int, committed: bool, partition: int, now: int, cause: int | None = None) -> Outcome:
        """A marker was written to a partition of __consumer_offsets: the producer's pending offsets there come to count, or go (TXN-5)."""
        for group_id in list(self._transacting.get(producer_id, ())):
            if self._partition_of(group_id) != partition:
                continue
            group = self.groups.get(group_id)
            if group is not None:
                self._fold(group, offsets.transaction_ended(group, producer_id, committed), now, cause)
            elif partition in self._stored:  # nobody serves it now; who loads it will find the marker
                self._stored[partition].end_transaction(group_id, producer_id, committed)
            self._forget_transaction(producer_id, group_id)
        return self._outcome()

    def unload(self, now: int, partition: int | None = None) -> Outcome:
        """Lose one partition of __consumer_offsets, or all: parked requests get 16, so do later ones (ERR-5, ERR-6)."""
        for index in self._partitions(partition):
            self._unavailable[index] = ErrorCode.NOT_COORDINATOR
        for group in list(self.groups.values()):
            index = self._partition_of(group.group_id)
            if partition is None or index == partition:
                self._stored.setdefault(index, Ledger()).keep(group)
                self._fold(group, ev.GroupUnloaded(ErrorCode.NOT_COORDINATOR), now, None)
        return self._outcome()

    def begin_load(self, partition: int | None = None) -> None:
        """Start to load one partition that was lost, or all: requests get 14 until `finish_load` (ERR-4)."""
        for index in self._partitions(partition):
            self._unavailable[index] = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    def finish_load(self, now: int, partition: int | None = None) -> Outcome:
        """Take over the groups of one partition, or of all, as their durable events left them (ERR-7)."""
        for index in self._partitions(partition):
            self._unavailable.pop(index, None)
            for group in self._stored.pop(index, Ledger()).groups():
                self.groups[group.group_id] = group
                self._arm_all_sessions(group, now)
                self._settle(group, loaded(group, now, self.config), now)
        return self._outcome()

    def shutdown(self, now: int) -> Outcome:
        """Stop: parked requests get 16 as at any unload, later requests 15 (ENT-3, ENT-5, ERR-6)."""
        outcome = self.unload(now)
        self._active = False
        return outcome

    @classmethod
    def replay(cls, config: GroupConfig, events: Iterable[LoggedEvent], now: int, log: EventSink | None = None) -> GroupCoordinator:
        """The coordinator that these events lead to. Sessions are soft: every member has its whole session timeout again."""
        coordinator = cls(config, None, now)
        ledger = Ledger()
        for at_ms, group_id, event in events:
            if isinstance(event, ev.GroupUnloaded):
                ledger.keep(coordinator.groups[group_id])
            elif isinstance(event, ev.GroupLoaded):
                coordinator.groups[group_id] = ledger.take(group_id)
            group = coordinator.groups.get(group_id)
            if group is None:
                group = coordinator.groups[group_id] = Group(group_id, at_ms)
            evolve(group, event, at_ms)
            if isinstance(event, (ev.GroupDeleted, ev.GroupUnloaded)):
                del coordinator.groups[group_id]
        for group in coordinator.groups.values():
            coordinator._arm_all_sessions(group, now)
            coordinator._arm_phases(group)
            coordinator._wait_for_transactions(group.group_id, group.pending_offsets)
        coordinator._log = log
        return coordinator

    @classmethod
    def load(cls, config: GroupConfig, events: Iterable[LoggedEvent], now: int, log: EventSink | None = None) -> GroupCoordinator:
        """The coordinator a broker has after a restart: durable events alone are folded (PST-1, ERR-7)."""
        coordinator = cls(config, log, now)
        ledger = Ledger()
        for at_ms, group_id, event in events:
            ledger.fold(at_ms, group_id, event)
        for group_id, entry in ledger.entries.items():
            coordinator._wait_for_transactions(group_id, entry.pending)
            coordinator._stored.setdefault(coordinator._partition_of(group_id), Ledger()).entries[group_id] = entry
        coordinator.finish_load(now)
        return coordinator

    # -- availability

    def _refuse(self, group_id: str | None, empty_allowed: bool = False) -> ErrorCode:
        """The checks before any group is looked at, in Kafka's order: 15, 24, then 16 or 14 (ENT-5, ENT-6)."""
        if not self._active:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        if not group_id and (group_id is None or not empty_allowed):
            return ErrorCode.INVALID_GROUP_ID
        return self._partition_error(group_id)

    def _partition_error(self, group_id: str) -> ErrorCode:
        if not self._unavailable:
            return ErrorCode.NONE
        return self._unavailable.get(self._partition_of(group_id), ErrorCode.NONE)

    def _partition_of(self, group_id: str) -> int:
        return coordinator_partition(group_id, self.config.offsets_topic_partitions)

    def _partitions(self, partition: int | None) -> Iterable[int]:
        return range(self.config.offsets_topic_partitions) if partition is None else (partition,)

    def _by_partition(self, group_ids: Iterable[str]) -> list[str]:
        """Groups in the order in which Kafka asks for them: by partition, partitions in HashMap order."""
        by_partition: dict[int, list[str]] = {}
        calls = []
        for group_id in group_ids:
            index = self._partition_of(group_id)
            calls.append(index)
            by_partition.setdefault(index, []).append(group_id)
        partitions = in_compute_order(calls, lambda index: topic_partition_hash("__consumer_offsets", index))
        return [group_id for index in partitions for group_id in by_partition[index]]

    # -- folding

    def _create(self, group: Group, by: str, context: RequestContext, now: int) -> None:
        self.groups[group.group_id] = group
        self._fold(group, ev.GroupCreated(by), now, context.cause)

    def _carry_out(self, group: Group, decision: Decision, context: RequestContext, now: int) -> Response | None:
        """Fold a decision and what follows from it; returns the reply, or None if the request is parked."""
        if decision.parks is not None:
            member_id, kind = decision.parks
            self._parked[group.group_id, member_id, kind] = (context.token, context.api_version)
        before = None
        for event in decision.events:
            before = self._fold(group, event, now, context.cause, before)
        if decision.then is not Then.NOTHING:
            self._settle(group, settle(group, decision.then, decision.reason, now, self.config), now, context.cause, before)
        if decision.alive is not None:
            self._renew(group, decision.alive, now)
        reply = decision.reply if decision.answer is None else decision.answer(group)
        return _fit(reply, context.api_version) if type(reply) is JoinGroupResponse else reply

    def _settle(
        self, group: Group, steps: Iterator[ev.Event], now: int, cause: int | None = None, before: int | None = None
    ) -> None:
        for event in steps:
            before = self._fold(group, event, now, cause, before)

    def _fold(self, group: Group, event: ev.Event, now: int, cause: int | None, before: int | None = None) -> int | None:
        """One event: release what it answers, fold it, re-arm deadlines, write it down. Returns its number in the log."""
        group_id, kind = group.group_id, type(event)
        renewed = self._release(group, event)
        inherited_ms = group.members[event.replaced].session_timeout_ms if isinstance(event, ev.MemberReplaced) else 0
        evolve(group, event, now)
        for member_id in renewed:
            self._renew(group, member_id, now)
        arm = _ARM.get(kind)
        if arm is not None:
            arm(self, group, event, now)
        if isinstance(event, ev.MemberReplaced):  # STA-2: the old session timeout counts until the next renewal
            self._deadlines.arm((_SESSION, group_id, event.member_id), now + inherited_ms)
        self._events.append((group_id, event))
        if self._log is None:
            return None
        trail = self._trails.get(group_id)
        if trail is None:
            trail = self._trails[group_id] = Trail()
        seq = self._log.group_event(group_id, group.generation, event, now, trail.cause_of(event, cause, before))
        trail.note(event, seq)
        if group_id not in self.groups:
            del self._trails[group_id]
        return seq

    def _release(self, group: Group, event: ev.Event) -> list[str]:
        """Hand out the answers that `event` releases; returns the members whose sessions that renews."""
        renewed: list[str] = []
        renewing = type(event) in _RENEWING
        for member_id, kind, response in answers(group, event):
            if renewing:
                renewed.append(member_id)
            waiting = self._parked.pop((group.group_id, member_id, kind), None)
            if waiting is not None:  # nobody waits after a replay
                token, api_version = waiting
                if type(response) is JoinGroupResponse:
                    response = _fit(response, api_version)
                self._replies.append(Reply(token, response))
        return renewed

    def _outcome(self) -> Outcome:
        outcome = Outcome(tuple(self._events), tuple(self._replies))
        self._events.clear()
        self._replies.clear()
        return outcome

    # -- deadlines

    def _renew(self, group: Group, member_id: str, now: int) -> None:
        self._deadlines.arm((_SESSION, group.group_id, member_id), now + group.members[member_id].session_timeout_ms)

    def _arm_pending(self, group: Group, event: ev.MemberPending, now: int) -> None:
        self._deadlines.arm((_SESSION, group.group_id, event.member_id), event.deadline_ms)

    def _arm_new(self, group: Group, event: ev.MemberJoined, now: int) -> None:
        self._deadlines.arm((_SESSION, group.group_id, event.member_id), now + self.config.new_member_join_timeout_ms)

    def _disarm(self, group: Group, event: ev.MemberRemoved | ev.PendingMemberRemoved, now: int) -> None:
        self._deadlines.cancel((_SESSION, group.group_id, event.member_id))
        self._parked.pop((group.group_id, event.member_id, Parked.SYNC), None)

    def _disarm_replaced(self, group: Group, event: ev.MemberReplaced, now: int) -> None:
        self._deadlines.cancel((_SESSION, group.group_id, event.replaced))

    def _offsets_wait(self, group: Group, event: ev.OffsetsPending, now: int) -> None:
        self._transacting.setdefault(event.producer_id, {})[group.group_id] = None

    def _wait_for_transactions(self, group_id: str, pending: PendingOffsets) -> None:
        for producer_id in pending.producers():
            self._transacting.setdefault(producer_id, {})[group_id] = None

    def _forget_transaction(self, producer_id: int, group_id: str) -> None:
        groups = self._transacting.get(producer_id)
        if groups is not None:
            groups.pop(group_id, None)
            if not groups:
                del self._transacting[producer_id]

    def _arm_generation(self, group: Group, event: ev.GenerationStarted, now: int) -> None:
        self._arm_all_sessions(group, now)
        self._arm_phases(group)

    def _arm_all_sessions(self, group: Group, now: int) -> None:
        for member in group.members.values():
            timeout_ms = self.config.new_member_join_timeout_ms if member.is_new else member.session_timeout_ms
            self._deadlines.arm((_SESSION, group.group_id, member.member_id), now + timeout_ms)
        for member_id, deadline in group.pending.items():
            self._deadlines.arm((_SESSION, group.group_id, member_id), deadline)

    def _arm_phases(self, group: Group, event: ev.Event | None = None, now: int = 0) -> None:
        """Bring the join and the sync timer of a group in line with its state."""
        for kind, deadline in ((_JOIN, group.join_deadline), (_SYNC, group.sync_deadline)):
            if deadline is None:
                self._deadlines.cancel((kind, group.group_id, ""))
            else:
                self._deadlines.arm((kind, group.group_id, ""), deadline)

    def _sync_ended(self, group: Group, event: ev.MemberSynced, now: int) -> None:
        if group.sync_deadline is None:
            self._deadlines.cancel((_SYNC, group.group_id, ""))

    def _bury(self, group: Group, event: ev.GroupDeleted | ev.GroupUnloaded, now: int) -> None:
        """A group is gone: no deadline and no parked request of it stays."""
        del self.groups[group.group_id]
        if isinstance(event, ev.GroupDeleted):
            for producer_id in group.pending_offsets.producers():
                self._forget_transaction(producer_id, group.group_id)
        self._arm_phases(group)
        for member_id in (*group.members, *group.pending):
            self._deadlines.cancel((_SESSION, group.group_id, member_id))


def _join_error(error: int, context: RequestContext, member_id: str = "") -> JoinGroupResponse:
    return _fit(join_error(error, member_id), context.api_version)


def _fit(response: JoinGroupResponse, api_version: int) -> JoinGroupResponse:
    """An absent protocol name is "" on the wire before version 7 and null from then on; so is the name "" (JOIN-9)."""
    if not response.protocol_name:
        response.protocol_name = "" if api_version < 7 else None
    return response


_HANDLERS: dict[type, Callable[[GroupCoordinator, Any, RequestContext, int], Response | None]] = {
    JoinGroupRequest: GroupCoordinator._join,
    SyncGroupRequest: GroupCoordinator._sync,
    LeaveGroupRequest: GroupCoordinator._leave,
    OffsetCommitRequest: GroupCoordinator._commit,
    TxnOffsetCommitRequest: GroupCoordinator._commit_in_transaction,
    OffsetFetchRequest: GroupCoordinator._fetch_offsets,
    OffsetDeleteRequest: GroupCoordinator._delete_offsets,
    DescribeGroupsRequest: GroupCoordinator._describe,
    ListGroupsRequest: GroupCoordinator._list,
    DeleteGroupsRequest: GroupCoordinator._delete,
}

_ARM: dict[type, Callable[[GroupCoordinator, Group, Any, int], None]] = {
    ev.MemberPending: GroupCoordinator._arm_pending,
    ev.OffsetsPending: GroupCoordinator._offsets_wait,
    ev.MemberJoined: GroupCoordinator._arm_new,
    ev.MemberRemoved: GroupCoordinator._disarm,
    ev.PendingMemberRemoved: GroupCoordinator._disarm,
    ev.MemberReplaced: GroupCoordinator._disarm_replaced,
    ev.RebalanceStarted: GroupCoordinator._arm_phases,
    ev.DelayExtended: GroupCoordinator._arm_phases,
    ev.JoinPhaseExtended: GroupCoordinator._arm_phases,
    ev.GenerationStarted: GroupCoordinator._arm_generation,
    ev.GroupEmptied: GroupCoordinator._arm_phases,
    ev.MemberSynced: GroupCoordinator._sync_ended,
    ev.GroupDeleted: GroupCoordinator._bury,
    ev.GroupUnloaded: GroupCoordinator._bury,
}
