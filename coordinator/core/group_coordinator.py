"""Group coordinator of one broker: serves requests about groups, and runs their timers.

Groups live on the partitions of __consumer_offsets (CFG-2); each partition has a shard
(`core.shards.partitions`). Requests that name one group go to its shard; requests across groups
are answered by `core.shards.across`. Time is an argument, clients are opaque tokens. Does not
know clocks or sockets.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import Slices, whole
from coordinator.events import groups as ev
from coordinator.events.availability import PartitionsEmptied, PartitionsUnloaded
from coordinator.wire.consumer_protocol import MANY_TOPICS_BYTES
from coordinator.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from coordinator.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from coordinator.wire.messages.sync_group import SyncGroupRequest
from coordinator.wire.schema import Request as RequestMessage
from coordinator.wire.schema import Response

from .groups.classic.decide.heartbeat import REFUSED
from .groups.config import GroupConfig
from .groups.consumer.model import Renewal
from .groups.decide import ENTRIES, Entry
from .groups.group import Group
from .groups.refusals import refusal
from .groups.requests import Reply, Request, RequestContext
from .shards import across, unload, unstored
from .shards.availability import Leadership
from .shards.journal import Effects, EventSink, LoggedEvent, Outcome
from .shards.load import Load
from .shards.partitions import SLICE, Partitions
from .shards.replay import refold, resume
from .shards.shard import Shard

if TYPE_CHECKING:
    from coordinator.events.groups.consumer import TopicPartitions

    from .groups.share.model import Renewal as ShareRenewal
    from .groups.share.requests import StateRequest

__all__ = ["GroupCoordinator", "LoggedEvent", "Outcome"]


class GroupCoordinator(Partitions):
    """All groups of one broker. Call `handle` for each request, and `tick` when `next_deadline` has
    come.
    """

    # -- looking

    @property
    def groups(self) -> dict[str, Group]:
        """The served groups by id, in order of creation. The caller must not change them."""
        return {group_id: shard.groups[group_id] for group_id, shard in self._index.items()}

    def shard_of(self, group_id: str) -> Shard | None:
        """Return the shard of a served group; None if it does not exist or is not served here."""
        return self._index.get(group_id)

    def committed_view(self, group_id: str, group: Group | None) -> Group | None:
        """Return a group with its replicated durable events only, for reads that do not wait
        (META-2).
        """
        shard = None if self._durable is None else self._shards.get(self.partition_for(group_id))
        return group if shard is None else shard.durable.committed_view(group_id, group)

    # -- requests

    def handle(self, request: Request, now: int) -> Outcome:
        """Serve one request. If the outcome has no reply for its token, the request is parked until
        a later outcome.
        """
        message, context = request.message, request.context
        effects = Effects(now, context.cause)
        response = self.serve(message, context, effects)
        if response is not None:
            effects.replies.append(Reply(context.token, response))
        return effects.outcome()

    def serve(
        self, message: RequestMessage, context: RequestContext, effects: Effects
    ) -> Response | None:
        """Like `handle`; return the request's own response, or None if it is parked. Events and
        replies to other requests go into `effects`.
        """
        kind = type(message)
        served = _SERVED.get(kind)
        if served is not None:
            return served(self, message, context, effects)
        return self._of_one_group(ENTRIES[kind], message, context, effects)

    def _heartbeat(
        self, request: HeartbeatRequest, context: RequestContext, effects: Effects
    ) -> Response:
        return self.heartbeat(request, effects.now)

    def _in_one_piece(
        self, message: RequestMessage, context: RequestContext, effects: Effects
    ) -> Response:
        return whole(across.IN_SLICES[type(message)](self, message, context, effects), effects.now)

    def handle_in_slices(self, request: Request, now: int) -> Slices[Outcome]:
        """Like `handle`, in slices, for a request of `across.IN_SLICES`."""
        return across.in_slices(self, request, now)

    def heartbeat(self, request: HeartbeatRequest, now: int) -> HeartbeatResponse:
        """Serve the most frequent request fast: no events, no other replies. The caller must not
        change the response.
        """
        shard = self._index.get(request.group_id)
        if shard is not None:
            return shard.heartbeat(request, now)
        error = self.refuse(request.group_id) or ErrorCode.UNKNOWN_MEMBER_ID
        if error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:  # told that all is well (ERR-4)
            error = ErrorCode.NONE
        return REFUSED[error].reply  # type: ignore[return-value]

    def renew_consumer(
        self, request: ConsumerGroupHeartbeatRequest, client_id: str, client_host: str, now: int
    ) -> Renewal | None:
        """Serve a consumer group member's heartbeat without news fast: no events, no other replies.
        Return None if `handle` must serve it. The caller must not change the response.
        """
        shard = self._index.get(request.group_id)
        return None if shard is None else shard.renew_consumer(request, client_id, client_host, now)

    def renew_share(
        self, request: ShareGroupHeartbeatRequest, client_id: str, client_host: str, now: int
    ) -> ShareRenewal | None:
        """Serve a share group member's heartbeat without news fast, like `renew_consumer`."""
        shard = self._index.get(request.group_id)
        return None if shard is None else shard.renew_share(request, client_id, client_host, now)

    def large_subscriptions(self, group_id: str) -> list[bytes]:
        """Return the members' subscriptions of a classic group that may contain very many topics."""
        shard = self._index.get(group_id)
        group = None if shard is None else shard.groups.get(group_id)
        if group is None or not group.is_classic:
            return []
        subscriptions = [
            member.metadata(group.classic.protocol_name)
            for member in group.classic.members.values()
        ]
        return [data for data in subscriptions if len(data) > MANY_TOPICS_BYTES]

    def _of_one_group(
        self, entry: Entry, message: RequestMessage, context: RequestContext, effects: Effects
    ) -> Response | None:
        """Serve a request that names one group, after the checks that need no group, in Kafka's
        order.
        """
        group_id = message.group_id  # type: ignore[attr-defined]
        refuse, error = entry.refuse, ErrorCode.NONE
        if refuse is not None and (
            entry.refuse_first or not self.availability.stopped
        ):  # ENT-2, ENT-3
            error = refuse(message, context, self.config)
        shard = self._index.get(group_id)
        if not error and (shard is None or not group_id):
            error = self.refuse(group_id, empty_allowed=entry.empty_group_id)
        if error:
            return refusal(message, context, error)
        if shard is None:
            shard = self.partition_shard(self.partition_for(group_id))
        return shard.handle(message, context, effects)

    def _consumer_heartbeat(
        self, request: ConsumerGroupHeartbeatRequest, context: RequestContext, effects: Effects
    ) -> Response | None:
        renewed = self.renew_consumer(request, context.client_id, context.client_host, effects.now)
        if renewed is not None:
            return renewed.response
        from .shards import consumer_requests  # at first use, so that start-up does not load it

        return consumer_requests.heartbeat(self, request, context, effects)

    def _share_heartbeat(
        self, request: ShareGroupHeartbeatRequest, context: RequestContext, effects: Effects
    ) -> Response | None:
        renewed = self.renew_share(request, context.client_id, context.client_host, effects.now)
        if renewed is not None:
            return renewed.response
        from .shards import share_requests  # at first use, so that start-up does not load it

        return share_requests.heartbeat(self, request, context, effects)

    # -- time

    def next_deadline(self) -> int | None:
        """Return the instant at which `tick` is due, or None. None also while the log cannot be
        written: timers are postponed then.
        """
        if self._log is not None and not self._log.writable:
            return None
        earliest = (
            min((load.since_ms for load in self._loads.values() if load.by_itself), default=None)
            if self._loads
            else None
        )
        if self._unloading:
            earliest = (
                self._unloading_since if earliest is None else min(earliest, self._unloading_since)
            )
        first = self._agenda.first()
        if first is None:
            return earliest
        return first[0] if earliest is None else min(first[0], earliest)

    def wake_by(self) -> int | None:
        """Return an instant no later than `next_deadline` that is cheaper to compute, because
        heartbeats only move deadlines later. A timer set by it may fire too early, and then
        finds the real one by `next_deadline`.
        """
        if self._loads or self._unloading or (self._log is not None and not self._log.writable):
            return self.next_deadline()
        return self._agenda.no_later_than()

    def only_looks(self, now: int) -> bool:
        """Return True if nothing is due but the periodic removal of expired offsets, which no
        member notices.
        """
        if self._loads or self._unloading or (self._log is not None and not self._log.writable):
            return False
        return all(shard.only_looks(now) for shard in self._shards.values())

    def tick(self, now: int) -> Outcome:
        """Run what is due by `now`, one slice of it. The rest stays due, as `next_deadline` shows."""
        effects = Effects(now)
        if self._log is not None and not self._log.writable:
            return effects.outcome()
        budget = self._go_on_unloading(effects, SLICE)
        for partition, load in list(self._loads.items()):
            if load.by_itself and load.since_ms <= now:
                budget = self._go_on_loading(partition, load, effects, budget)
        effects.cause = None
        while budget > 0 and (first := self._agenda.first()) is not None and first[0] <= now:
            budget = self._shards[first[1]].tick(effects, budget)
        return effects.outcome()

    # -- what happens around the groups

    def on_partitions_deleted(
        self, partitions: Iterable[tuple[str, int]], now: int, cause: int | None = None
    ) -> Outcome:
        """Remove the committed offsets of deleted topics or partitions in all groups (EXP-7), the
        first slice at once.
        """
        gone = dict.fromkeys(partitions)
        effects = Effects(now, cause)
        budget = SLICE
        for shard in self._shards.values():
            shard.partitions_deleted(gone, effects)
            if budget > 0 and shard.writable():
                budget = shard.sweep(effects, budget)
        return effects.outcome()

    def share_state_answered(
        self, asked: StateRequest, error: ErrorCode, now: int, cause: int | None = None
    ) -> Outcome:
        """Apply the share coordinator's answer, which members wait for (SH-HB-2)."""
        effects, shard = Effects(now, cause), self._index.get(asked.group_id)
        if shard is not None:
            shard.share.answered(asked, error, effects)
        return effects.outcome()

    def share_offsets_set(
        self, group_id: str, topics: Collection[TopicPartitions], now: int, cause: int | None
    ) -> Outcome:
        """Record that start offsets of a share group were set (SH-OFF-3). Raises Refused."""
        effects = Effects(now, cause)
        self.partition_shard(self.partition_for(group_id)).share.offsets_set(
            group_id, topics, effects
        )
        return effects.outcome()

    def share_offsets_deleted(
        self, group_id: str, topic_ids: Collection[bytes], now: int, cause: int | None
    ) -> Outcome:
        """Record that a share group's state of these topics was deleted (SH-OFF-3). Raises Refused."""
        effects = Effects(now, cause)
        self._index[group_id].share.offsets_deleted(group_id, topic_ids, effects)
        return effects.outcome()

    def generation_not_stored(self, request: SyncGroupRequest, now: int) -> Outcome:
        """Rebalance a group whose assignments, sent by the leader's SyncGroup, were not replicated
        in time (ERR-2).
        """
        effects, shard = Effects(now), self._index.get(request.group_id)
        if shard is not None:
            unstored.rebalance(shard, request, effects)
        return effects.outcome()

    def end_transaction(
        self, producer_id: int, committed: bool, partition: int, now: int, cause: int | None = None
    ) -> Outcome:
        """Apply a marker in a partition of __consumer_offsets: the producer's pending offsets are
        committed or dropped (TXN-5).
        """
        effects = Effects(now, cause)
        if partition in self._shards or self._durable is not None:
            self.partition_shard(partition).end_transaction(producer_id, committed, effects)
        return effects.outcome()

    # -- logs

    @classmethod
    def replay(
        cls,
        config: GroupConfig,
        events: Iterable[LoggedEvent],
        now: int,
        log: EventSink | None = None,
    ) -> GroupCoordinator:
        """Return the coordinator that results from these events. Sessions are soft state: every
        member has its whole session timeout again.
        """
        coordinator = cls(config, None, now)
        for at_ms, group_id, event in events:
            if group_id is not None:
                index = coordinator.partition_for(group_id)
                served = coordinator.availability.of(index) is Leadership.LED
                refold(coordinator.partition_shard(index), at_ms, group_id, event, served=served)  # type: ignore[arg-type]
                continue
            coordinator.availability.evolve(event)  # type: ignore[arg-type]
            if isinstance(event, PartitionsEmptied):
                for partition in event.partitions:
                    coordinator.partition_shard(partition).durable.clear()
            if isinstance(event, PartitionsEmptied | PartitionsUnloaded):
                for partition in event.partitions:
                    if partition in coordinator._shards:
                        unload.mark(coordinator._shards[partition])
        coordinator._resume(now)
        coordinator._log = log
        for shard in coordinator._shards.values():
            shard.log = log
        return coordinator

    def _resume(self, now: int) -> None:
        """After a replay, start all deadlines and continue unfinished loads and unloads."""
        self._unloading = [shard for shard in self._shards.values() if shard.leaving]
        self._unloading_since = now
        for partition, shard in self._shards.items():
            resume(shard, now)
            leadership = self.availability.of(partition)
            if leadership is Leadership.LED:
                shard.take_up(now)
            elif leadership is Leadership.LOADING:
                self._loads[partition] = Load(shard, by_itself=True, since_ms=now, cause=None)

    @classmethod
    def load(
        cls,
        config: GroupConfig,
        events: Iterable[LoggedEvent],
        now: int,
        log: EventSink | None = None,
    ) -> GroupCoordinator:
        """Return the coordinator of a restarted broker, from durable events alone (PST-1, ERR-7)."""
        coordinator = cls(config, log, now)
        coordinator.availability.evolve(
            PartitionsUnloaded(tuple(range(config.offsets_topic_partitions)))
        )
        for at_ms, group_id, event in events:
            if group_id is not None and type(event) in ev.DURABLE:
                shard = coordinator.partition_shard(coordinator.partition_for(group_id))
                shard.durable.append(at_ms, group_id, event)  # type: ignore[arg-type]
            elif isinstance(event, PartitionsEmptied):
                for partition in event.partitions:
                    coordinator.partition_shard(partition).durable.clear()
        coordinator.finish_load(now)
        return coordinator

    # -- what requests across groups need

    def find(self, group_id: str, effects: Effects) -> Group | None:
        """Return a served group, after pending sweeps of it, or None."""
        shard = self._index.get(group_id)
        return None if shard is None else shard.find(group_id, effects)

    def delete(self, group_id: str, effects: Effects) -> ErrorCode:
        """Delete a group of a served partition, or return the error (DG-1)."""
        return self.partition_shard(self.partition_for(group_id)).delete(group_id, effects)

    def refuse(self, group_id: str | None, empty_allowed: bool = False) -> ErrorCode:
        """Return the error of the checks before any group is looked up, in Kafka's order (ENT-5,
        ENT-6, ERR-4, ERR-5), or NONE.
        """
        error = self.availability.refuse(group_id, empty_allowed=empty_allowed)
        if error or group_id is None or group_id in self._index:
            return error
        return self.availability.error(self.partition_for(group_id))


#: Requests that are not served by the shard of the one group that they name, or have a short way.
_SERVED: dict[type, Callable[[GroupCoordinator, Any, RequestContext, Effects], Response | None]] = {
    HeartbeatRequest: GroupCoordinator._heartbeat,
    ConsumerGroupHeartbeatRequest: GroupCoordinator._consumer_heartbeat,
    ShareGroupHeartbeatRequest: GroupCoordinator._share_heartbeat,
    **dict.fromkeys(across.IN_SLICES, GroupCoordinator._in_one_piece),
}
