"""The broker as handlers see it: cluster, groups, configuration, event log, and the requests that
wait for an answer.

Owns the map from request tokens to connections, held requests, and the order of late work: each
request is handled to its end before the next begins, so an answer that unblocks a connection
only queues that connection's next request. Time, randomness and the wall clock are given by the
driver. Knows no socket and no request's meaning; go on with `handlers`.
"""

from __future__ import annotations

from collections import deque
from functools import cached_property
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING

from coordinator.base.slices import uncollected
from coordinator.core.groups.requests import Request, RequestContext
from coordinator.core.shards.journal import Effects
from coordinator.events.cluster import PartitionChanged, TopicConfigured, TopicCreated, TopicDeleted
from coordinator.wire.messages.sync_group import SyncGroupRequest

from .cluster.controller import Controller
from .cluster.loggers import Loggers
from .cluster.model import CONSUMER_OFFSETS, TRANSACTION_STATE
from .fresh_names import FreshNames
from .interceptors import Interceptors
from .limits import ENCODED_AT_ONCE, MOST_IN_A_FRAME, UNFINISHED_REQUESTS_BYTES, Limits, Room
from .requests.large_requests import Lane, Waiting
from .requests.unserved import Unserved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from random import Random

    from coordinator.base.releases import Release
    from coordinator.base.slices import Slices
    from coordinator.core.group_coordinator import GroupCoordinator, Outcome
    from coordinator.core.groups.requests import Reply
    from coordinator.core.groups.share.requests import StateRequest
    from coordinator.events import EventLog
    from coordinator.events.cluster import Event as ClusterEvent
    from coordinator.wire.schema import Message
    from coordinator.wire.schema import Request as RequestMessage

    from .client_links import ClientLinks
    from .cluster import Cluster, Partition
    from .cluster.replication import Replication
    from .fetching.parked import ParkedFetches
    from .fetching.repeated import Again
    from .fetching.sessions import FetchSessions
    from .interceptors import InterceptorError
    from .log_cleaning import LogCleaning
    from .requests.call import Call, Encoded, Row, Unread
    from .requests.commit_gate import CommitGate
    from .security.security import Security
    from .settings.broker_configs import BrokerConfigs
    from .shares.host import ShareCoordinator, SharePeers, TopicMaker
    from .shares.service import Shares
    from .storage.producers import ProducerIds
    from .throttling import Throttling
    from .transactions.outcomes import Cooperation, Transactions


LOG_RETRY_MS = 1000
"""The time after which a log that could not be written is tried again if nothing else happens."""
_WOKEN_A_TURN = 64
"""So many parked fetches are read and answered in one turn of the driver's loop, and so many
connections find room."""
_MOST_ERRORS = 100


def _never() -> bool:
    return False


class Broker(FreshNames):
    """One broker, driven from one thread."""

    def __init__(
        self,
        *,
        node_id: int,
        cluster: Cluster,
        configs: BrokerConfigs,
        coordinator: GroupCoordinator,
        parked_fetches: ParkedFetches,
        random: Random,
        epoch_ms: int,
        log: EventLog | None = None,
        controller: Controller | None = None,
        limits: Limits = Limits(),
    ) -> None:
        self.node_id = node_id
        self.cluster = cluster
        self.controller = controller or Controller(cluster, self._alone)
        self.replication: Replication | None = None  # None: nobody else holds a partition
        self.gate: CommitGate | None = None  # None: what is written is replicated
        self.cooperation: Cooperation | None = (
            None  # None: this broker coordinates all transactional ids
        )
        self.security: Security | None = None  # None: nobody logs in, everybody may do everything
        self.configs = configs
        self.loggers = Loggers()
        self.configs_of_all = [configs]
        """The configurations of all brokers of the cluster."""
        self.coordinator = coordinator
        self.parked_fetches = parked_fetches
        self.repeated_fetches: dict[int, Again] | None = None
        """Fetches that are likely to be asked again, by their request's identity; None: not kept."""
        self.random, self.epoch_ms = random, epoch_ms
        self.log = log
        self.max_request_bytes: int = configs.get_int("socket.request.max.bytes")
        self.most_response_bytes = min(limits.response_bytes, MOST_IN_A_FRAME)
        self.encoded_at_once = min(self.most_response_bytes, ENCODED_AT_ONCE)
        self.output: Room[Waiting] = Room(limits.output_bytes)
        """The backlog of answers not taken by clients yet. The driver counts; connections wait in
        it."""
        queued = configs.get_int("queued.max.request.bytes")
        self.input: Room[Waiting] = Room(queued if queued > 0 else UNFINISHED_REQUESTS_BYTES)
        """Bytes connections keep of requests that are not handled yet. Connections count."""
        self.lane: Lane[Waiting] = Lane()
        """The lane of large requests: one connection at a time has one in progress."""
        self.turn_is_over: Callable[[], bool] = _never
        """The driver's: whether this turn of its loop has taken so long that other connections
        should come first."""
        self.interceptors = Interceptors()
        self.tape: Callable[[Row], object] | None = None
        """Records requests and responses as bytes, if it is set."""
        self.interceptor_errors: list[InterceptorError] = []
        """Errors of interceptors, which the embedder gets when the broker stops."""
        self.throttling: Throttling | None = None  # None: no quota was ever set
        self.controller.enforcers[node_id] = self._quotas_changed
        if self.controller.quotas_set:
            self._quotas_changed()
        self.unserved = Unserved()
        self.auto_created: dict[str, str] = {}  # topic -> the client that asked about it
        self.parked: dict[int, Waiting] = {}
        self.disconnected_members: set[tuple[str, str]] = set()
        """Group and id of members whose connection has closed since they last spoke, where a log is
        written."""
        self._transactions: Transactions | None = None
        self._shares: Shares | None = None
        self._cleaning: LogCleaning | None = None
        self.share_peers: SharePeers | None = None
        """The brokers that keep states of share partitions; None: there is no other."""
        self.share_states: deque[StateRequest] = deque()
        """Requests to the share coordinator, once the answers before them are sent."""
        self.next_token: Callable[[], int] = count(1).__next__
        """Gives a token never given before. Only requests of clients take one, in their order."""
        self.topic_maker: TopicMaker | None = None
        """Has the controller make a topic that a broker itself needs."""
        self._held: list[tuple[int, int]] = []
        self._resumable: deque[Waiting] = deque()
        self.postponed: deque[Waiting] = deque()
        """Connections that had their turn and have more to do: `next_turn` lets them go on."""
        self._woken = 0
        self._log_retry_at: int | None = None

    # -- what handlers use

    def answer(self, token: int, response: Message | Encoded | Unread, now: int) -> None:
        """Answer a parked request. A token whose connection has closed is ignored."""
        waiting = self.parked.pop(token, None)
        if waiting is not None:
            waiting.deliver(response, now)
            self._resumable.append(waiting)

    def coordinate(self, call: Call, message: RequestMessage, fresh_id: str = "") -> Message | None:
        """Handle a request with the group coordinator. Return the reply to this request, or None if
        it is parked; send replies to other requests that it completed.
        """
        context = RequestContext(
            call.version, call.client_id, call.client_host, fresh_id, call.token, call.cause
        )
        if self.gate is not None:
            self.gate.begin()
        effects = Effects(call.now, call.cause, call.sees)
        response = self.coordinator.serve(message, context, effects)
        if effects.share_states:
            self.share_states.extend(effects.share_states)
        if effects.replies or self.gate is not None:
            return self._reply(effects.replies, call.token, response, call.now)
        return response

    def coordinate_in_slices(self, call: Call, message: RequestMessage) -> Slices[Message]:
        """Like `coordinate`, in slices, for requests that may name many groups. They are never
        parked.
        """
        context = RequestContext(
            call.version, call.client_id, call.client_host, "", call.token, call.cause
        )
        outcome = yield from self.coordinator.handle_in_slices(Request(context, message), call.now)
        self.share_states.extend(outcome.share_states)
        mine = self._reply(outcome.replies, call.token, None, call.now)
        assert mine is not None
        return mine

    def metadata_changed(self, event: ClusterEvent, now: int, cause: int | None) -> None:
        """Apply a cluster event that reached this broker's metadata to groups, transactions and
        waiting requests. Groups drop the committed offsets of deleted topics (EXP-7).
        """
        if isinstance(event, TopicDeleted):
            if event.topic == CONSUMER_OFFSETS:  # what the groups were is gone with it
                self.send_replies(self.coordinator.empty(now), now)
            elif event.topic == TRANSACTION_STATE and self._transactions is not None:
                self._transactions.delete_all(now, cause)
            gone = [(event.topic, index) for index in range(event.partitions)]
            self.send_replies(self.coordinator.on_partitions_deleted(gone, now, cause), now)
            if self._shares is not None:
                self._shares.topic_deleted(event.topic, event.topic_id, now, cause)
            self.parked_fetches.wake_topic(event.topic, now)
        elif isinstance(event, PartitionChanged):
            if self._shares is not None:
                self._shares.partition_changed(event.topic, event.partition, now, cause)
            self.parked_fetches.wake(event.topic, event.partition, now)
        elif isinstance(event, TopicConfigured):
            if self._cleaning is not None:
                self._cleaning.topic_configured(event.topic, now)

    @property
    def controller_release(self) -> Release:
        """Return the release of the broker that is the controller, as far as this broker knows;
        checks made by the controller follow that release.
        """
        controller = str(self.cluster.controller_id)
        return next(
            (each.release for each in self.configs_of_all if each.static["node.id"] == controller),
            self.configs.release,
        )

    def registered_releases(self) -> Iterator[tuple[int, Release]]:
        """Yield the id and release of each registered broker."""
        registered = self.controller.cluster.brokers
        for each in self.configs_of_all:
            node = int(each.static["node.id"])
            if node in registered:
                yield node, each.release

    @property
    def reaches_controller(self) -> bool:
        """Return True if this broker can forward a request to the controller (KIP-590). If it
        cannot, a request to be forwarded times out.
        """
        return self.controller.active and self.controller.in_contact(self.node_id)

    def load_groups(self, partition: int | None, now: int) -> None:
        """Load the groups of a partition of __consumer_offsets (None: all partitions) from their
        durable events (ERR-7).
        """
        self.send_replies(self.coordinator.finish_load(now, partition), now)

    def begin_load(self, partition: int | None, load_ms: int, now: int) -> None:
        """Start to load groups as `load_groups` does, but in slices and `load_ms` milliseconds from
        now; until it is finished, `coordinator.is_loading` holds.
        """
        self.send_replies(
            self.coordinator.begin_load(now, partition, by_itself=True, after_ms=load_ms), now
        )
        self.send_replies(self.coordinator.tick(now), now)

    def unload_groups(self, partition: int | tuple[int, ...] | None, now: int) -> None:
        """Stop serving the groups of a partition of __consumer_offsets (None: all partitions) and
        answer their parked requests (ERR-6).
        """
        self.send_replies(self.coordinator.unload(now, partition), now)
        if self.gate is not None:
            self.gate.lost(CONSUMER_OFFSETS, partition, now)

    def _quotas_changed(self) -> None:
        if self.throttling is None:
            from .throttling import Throttling  # at first use, so that start-up does not load it

            self.throttling = Throttling(
                self.configs, self.cluster.client_quotas, self.controller.mutations
            )
        self.throttling.changed()

    def _alone(self, event: ClusterEvent, now: int, cause: int | None) -> int | None:
        """Apply and log an event of the controller directly, in a cluster of a single broker."""
        seq = None
        if self.log is not None and not isinstance(event, TopicConfigured):
            seq = self.log.append(event, at_ms=now, cause=cause)
        self.metadata_changed(event, now, cause)
        if isinstance(event, TopicCreated) and event.topic == CONSUMER_OFFSETS:
            self.load_groups(
                None, now
            )  # after its deletion: there is nothing in it, and it is served again
        return seq

    def note_interceptor_error(self, error: InterceptorError) -> None:
        """Keep an interceptor's error to be raised later; only the first ones are kept."""
        if len(self.interceptor_errors) < _MOST_ERRORS:
            self.interceptor_errors.append(error)

    @cached_property
    def fetch_sessions(self) -> FetchSessions:
        """The fetch sessions of KIP-227, as many as max.incremental.fetch.session.cache.slots."""
        from .fetching.sessions import FetchSessions

        return FetchSessions(self.configs.get_int("max.incremental.fetch.session.cache.slots"))

    @cached_property
    def client_links(self) -> ClientLinks:
        """The cut links between clients and this broker."""
        from .client_links import ClientLinks

        return ClientLinks(self)

    @cached_property
    def producer_ids(self) -> ProducerIds:
        """The source of ids for new producers."""
        from .storage.producers import ProducerIds

        return ProducerIds()

    @property
    def transactions(self) -> Transactions:
        """The transaction coordinator, made when it is first needed."""
        if self._transactions is None:
            from .transactions.outcomes import (
                Transactions,  # at first use, so that start-up does not load it
            )

            self._transactions = Transactions(self, self.cooperation)
        return self._transactions

    @property
    def shares(self) -> Shares:
        """Share groups at this broker, made when they are first needed."""
        if self._shares is None:
            from .shares.service import Shares  # at first use, so that start-up does not load it

            self._shares = Shares(self)
        return self._shares

    @property
    def cleaning(self) -> LogCleaning:
        """The clean-up of this broker's logs, made when there is something to clean."""
        if self._cleaning is None:
            from .log_cleaning import LogCleaning  # at first use, so that start-up does not load it

            self._cleaning = LogCleaning(self)
        return self._cleaning

    @property
    def cleans_logs(self) -> bool:
        """True if this broker's logs had anything to clean up since it started."""
        return self._cleaning is not None

    def logs_found(self, now: int) -> None:
        """Begin the clean-up of the logs that the broker's process found when it started."""
        if any(partition.log.log_end_offset for partition in self._own_partitions()):
            self._cleaning = None
            self.cleaning.begin(now)

    def clock_moved(self) -> None:
        """Compute the deadlines of log clean-up again after the host's wall clock jumped."""
        if self._cleaning is not None:
            self._cleaning.look_at_all()

    def _own_partitions(self) -> Iterator[Partition]:
        return (
            partition
            for topic in self.cluster.topics.values()
            if not topic.internal
            for partition in topic.partitions
            if self.node_id in partition.replicas
        )

    @property
    def share_coordinator(self) -> ShareCoordinator:
        """The share coordinator: the stored states of share partitions that this broker keeps."""
        return self.shares.states

    def _end_transactions(self, transactions: Transactions, now: int) -> None:
        """Write transaction markers that are due. They are appended after the replies are sent and
        belong to no request, so the commit gate begins anew.
        """
        transactions.go_on(now)
        if self.gate is not None:
            self.gate.begin()

    def end_transaction(
        self, producer_id: int, committed: bool, partition: int, now: int, cause: int | None
    ) -> None:
        """Apply the end of a producer's transaction to the offsets that it committed in groups of a
        partition of __consumer_offsets (TXN-5).
        """
        self.send_replies(
            self.coordinator.end_transaction(producer_id, committed, partition, now, cause), now
        )

    # -- what connections use

    def hold(self, token: int, duration_ms: int | None, waiting: Waiting, now: int) -> None:
        """Hold back a request or an answer for `duration_ms` from `now`, or until `release` if
        None.
        """
        self.parked[token] = waiting
        if duration_ms is not None:
            heappush(self._held, (now + duration_ms, token))

    def take_turns(self, waiting: Waiting) -> None:
        """Postpone a connection that has done enough in this turn of the driver's loop until
        `next_turn`.
        """
        self.postponed.append(waiting)

    def may_wake(self) -> bool:
        """Count one more parked fetch that is completed in this turn; return False if the turn's
        bound is exceeded.
        """
        self._woken += 1
        return self._woken <= _WOKEN_A_TURN

    def forget(self, token: int) -> None:
        """Drop a parked request whose connection closed."""
        self.parked.pop(token, None)
        self.parked_fetches.forget(token)

    def connection_lost(self, peer: str) -> None:
        """End the share sessions of a connection that closed."""
        if self._shares is not None:
            self._shares.connection_lost(peer)

    def share_states_changed(self) -> None:
        """Check which writes of share states can be acknowledged: one was replicated, or its share
        coordinator moved.
        """
        if self._shares is not None:
            self._shares.partitions.writes.look()

    def shares_stopped(self, now: int) -> None:
        """Discard the state of share groups because the broker's process ended."""
        if self._shares is not None:
            self._shares.stopped(now)

    # -- what drivers use

    def release(self, token: int, now: int) -> bool:
        """Continue a held request. Return False if none is held under the token or its connection
        closed. Call `run_resumable` afterwards.
        """
        waiting = self.parked.pop(token, None)
        if waiting is None:
            return False
        waiting.release(now)
        return True

    def next_deadline(self) -> int | None:
        """Return the instant at which `tick` is due, or None if only a request can change anything."""
        return self._earliest(
            self.coordinator.next_deadline() if self._log_retry_at is None else self._log_retry_at
        )

    def wake_by(self) -> int | None:
        """Return an instant no later than `next_deadline` that is cheaper to compute: the latest
        instant at which a driver's timer must fire.
        """
        return self._earliest(
            self.coordinator.wake_by() if self._log_retry_at is None else self._log_retry_at
        )

    def only_looks(self, now: int) -> bool:
        """Return True if nothing is due but the periodic check for expired group data, which no
        client notices.
        """
        beside = self._earliest(self._log_retry_at)
        return (beside is None or beside > now) and self.coordinator.only_looks(now)

    def _earliest(self, deadline: int | None) -> int | None:
        """Return the earliest of the groups' deadline and all other deadlines of the broker."""
        fetch = self.parked_fetches.next_deadline()
        if fetch is not None and (deadline is None or fetch < deadline):
            deadline = fetch
        if self._transactions is not None and self._log_retry_at is None:
            transaction = self._transactions.next_deadline()
            if transaction is not None and (deadline is None or transaction < deadline):
                deadline = transaction
        if self._shares is not None and self._log_retry_at is None:
            lock = self._shares.next_deadline()
            if lock is not None and (deadline is None or lock < deadline):
                deadline = lock
        if self._cleaning is not None and self._log_retry_at is None:
            check = self._cleaning.next_deadline()
            if check is not None and (deadline is None or check < deadline):
                deadline = check
        if self._held and (deadline is None or self._held[0][0] < deadline):
            deadline = self._held[0][0]
        return deadline

    def tick(self, now: int) -> None:
        """Run the timers that are due: sessions and phases of groups, transactions, waiting
        fetches, held requests.
        """
        if (log := self.log) is not None and not log.writable:
            log.flush()
            self._see_log(log, now)
        # else what has fallen due for groups and transactions is put off: nothing changes that is
        # not logged
        if not self.log_is_blocked:
            due, gate = self.coordinator.wake_by(), self.gate
            if (due is not None and due <= now) or (gate is not None and gate.has_written):
                tick = self.coordinator.tick
                self.send_replies(
                    uncollected(tick, now) if self.coordinator.is_loading else tick(now), now
                )
            if self._transactions is not None:
                self._transactions.tick(now)
            if self._shares is not None:
                self._shares.tick(now)
            if self._cleaning is not None:
                self._cleaning.tick(now)
        self.parked_fetches.tick(now)
        while self._held and self._held[0][0] <= now:
            self.release(heappop(self._held)[1], now)
        self.run_resumable(now)

    def run_resumable(self, now: int) -> None:
        """Let connections whose parked request was answered handle their next requests. Every entry
        point of a driver ends with this call.
        """
        while self._resumable:
            self._resumable.popleft().resume(now)
        while self.share_states:
            self._ask_share_coordinator(self.share_states.popleft(), now)
        if self._transactions is not None and self._transactions.unfinished:
            self._end_transactions(self._transactions, now)
        self._woken = 0
        if (log := self.log) is not None:
            log.flush()
            if not log.writable or self._log_retry_at is not None:
                self._see_log(log, now)

    def _ask_share_coordinator(self, asked: StateRequest, now: int) -> None:
        """Create or delete the state of share partitions, and give the result to the group that
        waits for it (SH-HB-2).
        """
        from .shares.of_groups import carry_out  # at first use, so that start-up does not load it

        error = carry_out(self.shares, asked, now)
        self.send_replies(self.coordinator.share_state_answered(asked, error, now), now)

    @property
    def log_is_blocked(self) -> bool:
        """True if the event log cannot be written now; then nothing that is logged may change."""
        return self.log is not None and not self.log.writable

    def _see_log(self, log: EventLog, now: int) -> None:
        """After a flush of the event log, schedule another attempt if the log is still not
        writable.
        """
        if log.writable:
            self._log_retry_at = None
        elif self._log_retry_at is None or self._log_retry_at <= now:
            self._log_retry_at = now + LOG_RETRY_MS

    @property
    def wants_turn(self) -> bool:
        """Return True if connections wait for `next_turn`. The driver calls that soon, after it has
        served its other connections.
        """
        return bool(self.postponed) or (bool(self.output.waiting) and not self.output.full)

    def next_turn(self, now: int) -> None:
        """Resume the connections that were postponed in the last turn, and a few that wait for room
        for their answers.
        """
        for _ in range(len(self.postponed)):
            self.postponed.popleft().resume(now)
            if self.turn_is_over():
                break
        for _ in range(_WOKEN_A_TURN):
            first = self.output.next()
            if first is None:
                break
            first.resume(now)
            if self.turn_is_over():
                break
        self.run_resumable(now)

    def shut_down(self, now: int, *, in_slices: bool = False) -> None:
        """Answer parked JoinGroup and SyncGroup requests as a stopping broker does (ERR-6). Waiting
        fetches get no answer, as in Kafka.
        """
        self.send_replies(self.coordinator.shutdown(now, in_slices=in_slices), now)

    def send_replies(self, outcome: Outcome, now: int) -> None:
        """Send replies that no request being handled caused, such as those of a timer."""
        self._reply(outcome.replies, None, None, now)

    def _reply(
        self, replies: Iterable[Reply], own: int | None, mine: Message | None, now: int
    ) -> Message | None:
        """Send replies. Return the reply for the token `own` (default: `mine`) instead of sending
        it: its connection sends it in order.
        """
        gate = self.gate
        needs = None if gate is None else gate.needs(now)
        for token, message in replies:
            assert isinstance(token, int)
            if token == own:
                mine = message
            elif gate is not None and needs and gate.waits_for_its_writes(message):
                gate.hold(token, message, None, needs, now)
            else:
                self.answer(token, message, now)
        if gate is not None and mine is None:
            gate.begin()
        return mine

    def hold_back(self, call: Call, response: Message | Encoded) -> bool:
        """Return True if the answer was held back until the request's writes are replicated
        (META-1); its connection then parks the request.
        """
        if self.gate is None:
            return False
        needs = self.gate.take(call.now) or self.gate.earlier(call, response, self.coordinator)
        if needs and self.gate.waits_for_its_writes(response, call.message):
            self.gate.hold(call.token, response, call, needs, call.now)
            return True
        return False

    def write_failed(self, message: Message, now: int) -> None:
        """Handle a request whose write was not replicated in time. A generation that is not stored
        starts a rebalance (ERR-2).
        """
        if isinstance(message, SyncGroupRequest):
            self.send_replies(self.coordinator.generation_not_stored(message, now), now)
