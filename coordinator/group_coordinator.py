"""The group coordinator of one broker: which shard serves a group, and which partitions are served at all.

Groups live on the partitions of __consumer_offsets (CFG-2); each partition has a shard, made when it is first needed. Requests
that name one group go to its shard; requests across groups are put together in `shards.across`. Availability is an object of its own, and
each change of it an event. Time is an argument, clients are opaque tokens. Does not depend on clocks or sockets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .errors import ErrorCode
from .groups import events as ev
from .groups.classic.decide.heartbeat import REFUSED
from .groups.config import GroupConfig
from .groups.decide import ENTRIES
from .groups.group import Group
from .groups.refusals import refusal
from .groups.requests import Reply, Request, RequestContext
from .java_hash import coordinator_partition
from .shards import across
from .shards.agenda import Agenda
from .shards.availability import (
    Availability,
    AvailabilityEvent,
    CoordinatorStopped,
    Leadership,
    PartitionsEmptied,
    PartitionsLoaded,
    PartitionsLoading,
    PartitionsUnloaded,
)
from .shards.durable import DurableEvents
from .shards.journal import Effects, EventSink, LoggedEvent, Outcome
from .shards.load import Load
from .shards.shard import Shard
from .slices import Slices, whole
from .wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from .wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from .wire.messages.list_groups import ListGroupsRequest
from .wire.schema import Request as RequestMessage
from .wire.schema import Response

__all__ = ["GroupCoordinator", "LoggedEvent", "Outcome"]

#: How much one `tick` does at most: each unit is about an event, an offset or a group looked at, some 10 microseconds.
SLICE = 1_000


class GroupCoordinator:
    """All groups of one broker. Call `handle` for each request, `tick` when `next_deadline` has come."""

    def __init__(self, config: GroupConfig, log: EventSink | None = None, now: int = 0) -> None:
        self.config = config
        self.availability = Availability()
        self._log = log
        self._started_ms = now
        self._durable: Callable[[int], DurableEvents] | None = None
        self._shards: dict[int, Shard] = {}
        self._index: dict[str, Shard] = {}
        """The shard of each group that is served."""
        self._loads: dict[int, Load] = {}
        self._agenda = Agenda(self._shards)  # type: ignore[arg-type]

    def share(self, durable: Callable[[int], DurableEvents]) -> None:
        """Be one of several coordinators, before anything else: it serves nothing until it loads a partition, and `durable` finds
        what a partition keeps of its groups, whoever led it before."""
        assert not self._shards, "a coordinator is shared from the start or never"
        self.availability = Availability(leads_all=False)
        self._durable = durable

    # -- looking

    @property
    def groups(self) -> dict[str, Group]:
        """The groups that are served, by id, in the order in which they came. Not to be changed by the caller."""
        return {group_id: shard.groups[group_id] for group_id, shard in self._index.items()}

    @property
    def shards(self) -> dict[int, Shard]:
        """The shards that were needed so far, by partition. Not to be changed by the caller."""
        return self._shards

    @property
    def is_loading(self) -> bool:
        """Whether partitions are being loaded."""
        return bool(self._loads)

    def shard_of(self, group_id: str) -> Shard | None:
        """The shard of a group that is served; None: it is not served here, or there is no such group."""
        return self._index.get(group_id)

    def partition_for(self, group_id: str) -> int:
        """The partition of __consumer_offsets that holds a group (CFG-2).

        The number of partitions is the one at the start: Kafka's coordinator does not follow the topic when it grows.
        """
        return coordinator_partition(group_id, self.config.offsets_topic_partitions)

    def committed_view(self, group_id: str, group: Group | None) -> Group | None:
        """A group as far as every replica has its durable events: what reads show that do not wait (META-2)."""
        shard = None if self._durable is None else self._shards.get(self.partition_for(group_id))
        return group if shard is None else shard.durable.committed_view(group_id, group)

    # -- requests

    def handle(self, request: Request, now: int) -> Outcome:
        """Serve one request. Without a reply under its own token in the outcome it is parked until a later outcome."""
        message, context = request.message, request.context
        kind = type(message)
        if kind is HeartbeatRequest:
            return Outcome((), (Reply(context.token, self.heartbeat(message, now)),))  # type: ignore[arg-type]
        if kind is ConsumerGroupHeartbeatRequest:
            renewed = self.renew_consumer(message, context.client_id, context.client_host, now)  # type: ignore[arg-type]
            if renewed is not None:
                return Outcome((), (Reply(context.token, renewed),))
        effects = Effects(now, context.cause)
        serve = _ACROSS_GROUPS.get(kind)
        response = self._of_one_group(message, context, effects) if serve is None else serve(self, message, context, effects)
        if response is not None:
            effects.replies.append(Reply(context.token, response))
        return effects.outcome()

    def _in_one_piece(self, message: RequestMessage, context: RequestContext, effects: Effects) -> Response:
        return whole(across.IN_SLICES[type(message)](self, message, context, effects), effects.now)

    def handle_in_slices(self, request: Request, now: int) -> Slices[Outcome]:
        """As `handle`, in slices, for a request of `across.IN_SLICES`."""
        return across.in_slices(self, request, now)

    def heartbeat(self, request: HeartbeatRequest, now: int) -> HeartbeatResponse:
        """The short way for the request that comes most: no events, nobody else to answer. Not to be changed by the caller."""
        shard = self._index.get(request.group_id)
        if shard is not None:
            return shard.heartbeat(request, now)
        error = self.refuse(request.group_id) or ErrorCode.UNKNOWN_MEMBER_ID
        if error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:  # told that all is well (ERR-4)
            error = ErrorCode.NONE
        return REFUSED[error].reply  # type: ignore[return-value]

    def renew_consumer(
        self, request: ConsumerGroupHeartbeatRequest, client_id: str, client_host: str, now: int
    ) -> ConsumerGroupHeartbeatResponse | None:
        """The short way of a member of a consumer group that says nothing new: no events, nobody else to answer. None: it has to take the
        long way (`handle`). Not to be changed by the caller."""
        shard = self._index.get(request.group_id)
        return None if shard is None else shard.renew_consumer(request, client_id, client_host, now)

    def _of_one_group(self, message: RequestMessage, context: RequestContext, effects: Effects) -> Response | None:
        """Serve a request that names one group, after the checks that need none, in Kafka's order."""
        entry, group_id = ENTRIES[type(message)], message.group_id  # type: ignore[attr-defined]
        error = ErrorCode.NONE
        if entry.refuse is not None and (entry.refuse_first or not self.availability.stopped):  # ENT-2, ENT-3
            error = entry.refuse(message, context, self.config)
        shard = self._index.get(group_id)
        if not error and (shard is None or not group_id):
            error = self.refuse(group_id, empty_allowed=entry.empty_group_id)
        if error:
            return refusal(message, context, error)
        if shard is None:
            shard = self.partition_shard(self.partition_for(group_id))
        return shard.handle(message, context, effects)

    def _consumer_heartbeat(self, request: ConsumerGroupHeartbeatRequest, context: RequestContext, effects: Effects) -> Response | None:
        from .shards import consumer_requests  # at first use, so that start-up does not load it

        return consumer_requests.heartbeat(self, request, context, effects)

    # -- time

    def next_deadline(self) -> int | None:
        """The instant at which `tick` has to be called next, if nothing happens before. None while the log cannot be written:
        what falls due meanwhile is put off."""
        if self._log is not None and not self._log.writable:
            return None
        earliest = min((load.since_ms for load in self._loads.values() if load.by_itself), default=None) if self._loads else None
        first = self._agenda.first()
        if first is None:
            return earliest
        return first[0] if earliest is None else min(first[0], earliest)

    def wake_by(self) -> int | None:
        """An instant no later than `next_deadline`, for less work: a heartbeat moves one deadline, and who is first now is not looked for.

        A timer that is set by it may fire too early, and finds out by `next_deadline`.
        """
        if self._loads or (self._log is not None and not self._log.writable):
            return self.next_deadline()
        return self._agenda.no_later_than()

    def tick(self, now: int) -> Outcome:
        """Let happen what is due by `now`: a slice of it. What remains is due still, so `next_deadline` says when to go on."""
        effects = Effects(now)
        if self._log is not None and not self._log.writable:
            return effects.outcome()
        budget = SLICE
        for partition, load in list(self._loads.items()):
            if load.by_itself and load.since_ms <= now:
                budget = self._go_on_loading(partition, load, effects, budget)
        effects.cause = None
        while budget > 0 and (first := self._agenda.first()) is not None and first[0] <= now:
            budget = self._shards[first[1]].tick(effects, budget)
        return effects.outcome()

    # -- what happens around the groups

    def on_partitions_deleted(self, partitions: Iterable[tuple[str, int]], now: int, cause: int | None = None) -> Outcome:
        """Topics or partitions were deleted: their committed offsets go, in all groups (EXP-7). A slice of that at once."""
        gone = dict.fromkeys(partitions)
        effects = Effects(now, cause)
        budget = SLICE
        for shard in self._shards.values():
            shard.partitions_deleted(gone, effects)
            if budget > 0 and shard.writable():
                budget = shard.sweep(effects, budget)
        return effects.outcome()

    def end_transaction(self, producer_id: int, committed: bool, partition: int, now: int, cause: int | None = None) -> Outcome:
        """A marker was written to a partition of __consumer_offsets: the producer's pending offsets there come to count, or go (TXN-5)."""
        effects = Effects(now, cause)
        if partition in self._shards or self._durable is not None:
            self.partition_shard(partition).end_transaction(producer_id, committed, effects)
        return effects.outcome()

    def unload(self, now: int, partition: int | None = None) -> Outcome:
        """Lose one partition of __consumer_offsets, or all: parked requests get NOT_COORDINATOR, so do later ones (ERR-5, ERR-6)."""
        effects = Effects(now)
        self._unload(tuple(p for p in self._partitions(partition) if self.availability.of(p) is not Leadership.NOT_LED), effects)
        return effects.outcome()

    def empty(self, now: int, partition: int | None = None) -> Outcome:
        """One partition of __consumer_offsets, or all, was deleted with everything it held: its groups are gone for good."""
        effects = Effects(now)
        partitions = tuple(self._partitions(partition))
        self._change(PartitionsEmptied(partitions), effects)
        self._unload_shards(partitions, effects)
        for index in partitions:
            if index in self._shards:
                self._shards.pop(index).durable.clear()
        return effects.outcome()

    def begin_load(self, now: int, partition: int | None = None, *, by_itself: bool = False, after_ms: int = 0) -> Outcome:
        """Start to load one partition, or all: requests get COORDINATOR_LOAD_IN_PROGRESS until it is loaded (ERR-4).

        A partition that is led is unloaded first. `by_itself`: the load goes on with every `tick`, from `after_ms` on, until it is
        done; otherwise `finish_load` ends it.
        """
        effects = Effects(now)
        self._unload(self.availability.only(self._partitions(partition), Leadership.LED), effects)
        self._begin_loads(partition, effects, by_itself=by_itself, after_ms=after_ms)
        return effects.outcome()

    def _begin_loads(self, partition: int | None, effects: Effects, *, by_itself: bool, after_ms: int = 0) -> None:
        waiting = self.availability.only(self._partitions(partition), Leadership.NOT_LED)
        if waiting:
            self._change(PartitionsLoading(waiting), effects)
        for index in self.availability.only(self._partitions(partition), Leadership.LOADING):
            if index not in self._loads:
                begins_ms = effects.now + after_ms
                self._loads[index] = Load(self.partition_shard(index), by_itself=by_itself, since_ms=begins_ms, cause=effects.cause)

    def finish_load(self, now: int, partition: int | None = None) -> Outcome:
        """Take over the groups of one partition, or of all, as their durable events left them (ERR-7), at once."""
        effects = Effects(now)
        self._begin_loads(partition, effects, by_itself=False)
        loads = {index: self._loads[index] for index in self._partitions(partition) if index in self._loads}
        for load in loads.values():
            while not load.done:
                load.step(effects, SLICE)
        self._loaded(tuple(loads), effects)
        return effects.outcome()

    def shutdown(self, now: int) -> Outcome:
        """Stop: parked requests get NOT_COORDINATOR as at any unload, later requests COORDINATOR_NOT_AVAILABLE (ENT-3, ENT-5, ERR-6)."""
        effects = Effects(now)
        self._change(CoordinatorStopped(), effects)
        self._unload_shards(tuple(self._shards), effects)
        return effects.outcome()

    def _unload(self, partitions: tuple[int, ...], effects: Effects) -> None:
        if partitions:
            self._change(PartitionsUnloaded(partitions), effects)
            self._unload_shards(partitions, effects)

    def _unload_shards(self, partitions: tuple[int, ...], effects: Effects) -> None:
        for partition in partitions:
            self._loads.pop(partition, None)
            if partition in self._shards:
                self._shards[partition].unload(effects)

    def _go_on_loading(self, partition: int, load: Load, effects: Effects, budget: int) -> int:
        budget = load.step(effects, budget)
        if load.done:
            self._loaded((partition,), effects)
        return budget

    def _loaded(self, partitions: tuple[int, ...], effects: Effects) -> None:
        if partitions:
            self._change(PartitionsLoaded(partitions), effects)
        for partition in partitions:
            del self._loads[partition]
            self._shards[partition].serve(effects.now)

    def _change(self, event: AvailabilityEvent, effects: Effects) -> None:
        """Availability changes. What follows from that is caused by it."""
        self.availability.evolve(event)
        effects.events.append((None, event))
        if self._log is not None:
            effects.cause = self._log.coordinator_event(event, effects.now, effects.cause)

    # -- logs

    @classmethod
    def replay(cls, config: GroupConfig, events: Iterable[LoggedEvent], now: int, log: EventSink | None = None) -> GroupCoordinator:
        """The coordinator that these events lead to. Sessions are soft: every member has its whole session timeout again."""
        coordinator = cls(config, None, now)
        for at_ms, group_id, event in events:
            if group_id is not None:
                shard = coordinator.partition_shard(coordinator.partition_for(group_id))
                shard.refold(at_ms, group_id, event)  # type: ignore[arg-type]
                continue
            coordinator.availability.evolve(event)  # type: ignore[arg-type]
            if isinstance(event, PartitionsEmptied):
                for partition in event.partitions:
                    coordinator.partition_shard(partition).durable.clear()
        coordinator._resume(now)
        coordinator._log = log
        for shard in coordinator._shards.values():
            shard.log = log
        return coordinator

    def _resume(self, now: int) -> None:
        """After a replay: deadlines begin, and loads that were not finished go on by themselves."""
        for partition, shard in self._shards.items():
            shard.resume(now)
            leadership = self.availability.of(partition)
            if leadership is Leadership.LED:
                shard.take_up(now)
            elif leadership is Leadership.LOADING:
                self._loads[partition] = Load(shard, by_itself=True, since_ms=now, cause=None)

    @classmethod
    def load(cls, config: GroupConfig, events: Iterable[LoggedEvent], now: int, log: EventSink | None = None) -> GroupCoordinator:
        """The coordinator a broker has after a restart: durable events alone are folded (PST-1, ERR-7)."""
        coordinator = cls(config, log, now)
        coordinator.availability.evolve(PartitionsUnloaded(tuple(range(config.offsets_topic_partitions))))
        for at_ms, group_id, event in events:
            if group_id is not None and type(event) in ev.DURABLE:
                shard = coordinator.partition_shard(coordinator.partition_for(group_id))
                shard.durable.append(at_ms, group_id, event)  # type: ignore[arg-type]
            elif isinstance(event, PartitionsEmptied):
                for partition in event.partitions:
                    coordinator.partition_shard(partition).durable.clear()
        coordinator.finish_load(now)
        return coordinator

    # -- shards

    def partition_shard(self, partition: int) -> Shard:
        """The shard of a partition, made if nobody needed it before."""
        shard = self._shards.get(partition)
        if shard is None:
            durable = DurableEvents() if self._durable is None else self._durable(partition)
            shard = self._shards[partition] = Shard(
                self.config, durable, self._index, self._log, lambda at: self._agenda.tell(partition, at), self._started_ms
            )
        return shard

    def find(self, group_id: str, effects: Effects) -> Group | None:
        """A group that is served, as a request meets it."""
        shard = self._index.get(group_id)
        return None if shard is None else shard.find(group_id, effects)

    def delete(self, group_id: str, effects: Effects) -> ErrorCode:
        """Delete a group of a partition that is served, or say why it may not be (DG-1)."""
        return self.partition_shard(self.partition_for(group_id)).delete(group_id, effects)

    def refuse(self, group_id: str | None, empty_allowed: bool = False) -> ErrorCode:
        """The checks before any group is looked at, in Kafka's order (ENT-5, ENT-6, ERR-4, ERR-5)."""
        error = self.availability.refuse(group_id, empty_allowed=empty_allowed)
        if error or group_id is None or group_id in self._index:
            return error
        return self.availability.error(self.partition_for(group_id))

    def _partitions(self, partition: int | None) -> Iterable[int]:
        return range(self.config.offsets_topic_partitions) if partition is None else (partition,)


_ACROSS_GROUPS: dict[type, Callable[[GroupCoordinator, Any, RequestContext, Effects], Response | None]] = {
    ListGroupsRequest: across.list_groups,
    ConsumerGroupHeartbeatRequest: GroupCoordinator._consumer_heartbeat,
    **dict.fromkeys(across.IN_SLICES, GroupCoordinator._in_one_piece),
}
