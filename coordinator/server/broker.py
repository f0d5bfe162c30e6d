"""The broker as handlers see it: who it is, what it knows of the cluster, and the parts that do its
work.

Requests that wait are in `parked`, groups in `groups`, everything else that a broker does in
`services`; `turns` divides the loop and the memory among connections. Here stand the timers of all of
them together, and what a change of the cluster's metadata means for each. Time, randomness and the
wall clock are given by the driver. Knows no socket and no request's meaning; go on with `handlers`.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from coordinator.events.cluster import PartitionChanged, TopicConfigured, TopicCreated, TopicDeleted

from .cluster.controller import Controller
from .cluster.loggers import Loggers
from .cluster.model import CONSUMER_OFFSETS, TRANSACTION_STATE
from .fresh_names import FreshNames
from .group_service import GroupService
from .interceptors import Interceptors
from .limits import Limits
from .parked_requests import ParkedRequests
from .requests.unserved import Unserved
from .services import Services
from .turns import Turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

    from coordinator.base.releases import Release
    from coordinator.core.group_coordinator import GroupCoordinator
    from coordinator.events import EventLog
    from coordinator.events.cluster import Event as ClusterEvent

    from .cluster import Cluster
    from .cluster.replication import Replication
    from .fetching.parked import ParkedFetches
    from .fetching.repeated import Again
    from .interceptors import InterceptorError
    from .requests.call import Row
    from .security.security import Security
    from .settings.broker_configs import BrokerConfigs
    from .shares.host import SharePeers, TopicMaker
    from .transactions.outcomes import Cooperation, Transactions


LOG_RETRY_MS = 1000
"""The time after which a log that could not be written is tried again if nothing else happens."""
_MOST_ERRORS = 100


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
        # who it is, and what it knows of the cluster
        self.node_id = node_id
        self.cluster = cluster
        self.controller = controller or Controller(cluster, self._alone)
        self.replication: Replication | None = None  # None: nobody else holds a partition
        self.security: Security | None = None  # None: nobody logs in, everybody may do everything
        self.configs = configs
        self.loggers = Loggers()
        self.configs_of_all = [configs]
        """The configurations of all brokers of the cluster."""
        self.random, self.epoch_ms = random, epoch_ms
        self.log = log
        self._log_retry_at: int | None = None
        self.next_token: Callable[[], int] = count(1).__next__
        """Gives a token never given before. Only requests of clients take one, in their order."""

        # the parts that do its work
        self.parked = ParkedRequests()
        self.parked_fetches = parked_fetches
        self.repeated_fetches: dict[int, Again] | None = None
        """Fetches that are likely to be asked again, by their request's identity; None: not kept."""
        self.turns = Turns(configs, limits)
        self.services = Services(self)
        self.coordinator = coordinator
        self.groups = GroupService(coordinator, self.parked, self.services)
        self.controller.enforcers[node_id] = self.services.quotas_changed
        if self.controller.quotas_set:
            self.services.quotas_changed()

        # other brokers, where there are any
        self.cooperation: Cooperation | None = (
            None  # None: this broker coordinates all transactional ids
        )
        self.share_peers: SharePeers | None = None
        """The brokers that keep states of share partitions; None: there is no other."""
        self.topic_maker: TopicMaker | None = None
        """Has the controller make a topic that a broker itself needs."""

        # what tests see and change
        self.interceptors = Interceptors()
        self.interceptor_errors: list[InterceptorError] = []
        """Errors of interceptors, which the embedder gets when the broker stops."""
        self.tape: Callable[[Row], object] | None = None
        """Records requests and responses as bytes, if it is set."""
        self.unserved = Unserved()
        self.auto_created: dict[str, str] = {}  # topic -> the client that asked about it
        self.disconnected_members: set[tuple[str, str]] = set()
        """Group and id of members whose connection has closed since they last spoke, where a log is
        written."""

    # -- the cluster

    def metadata_changed(self, event: ClusterEvent, now: int, cause: int | None) -> None:
        """Apply a cluster event that reached this broker's metadata to groups, transactions and
        waiting requests. Groups drop the committed offsets of deleted topics (EXP-7).
        """
        services, groups = self.services, self.groups
        if isinstance(event, TopicDeleted):
            if event.topic == CONSUMER_OFFSETS:  # what the groups were is gone with it
                groups.send_replies(self.coordinator.empty(now), now)
            elif event.topic == TRANSACTION_STATE and services.started_transactions is not None:
                services.started_transactions.delete_all(now, cause)
            gone = [(event.topic, index) for index in range(event.partitions)]
            groups.send_replies(self.coordinator.on_partitions_deleted(gone, now, cause), now)
            if services.started_shares is not None:
                services.started_shares.topic_deleted(event.topic, event.topic_id, now, cause)
            self.parked_fetches.wake_topic(event.topic, now)
        elif isinstance(event, PartitionChanged):
            if services.started_shares is not None:
                services.started_shares.partition_changed(event.topic, event.partition, now, cause)
            self.parked_fetches.wake(event.topic, event.partition, now)
        elif isinstance(event, TopicConfigured):
            if services.started_cleaning is not None:
                services.started_cleaning.topic_configured(event.topic, now)

    def _alone(self, event: ClusterEvent, now: int, cause: int | None) -> int | None:
        """Apply and log an event of the controller directly, in a cluster of a single broker."""
        seq = None
        if self.log is not None and not isinstance(event, TopicConfigured):
            seq = self.log.append(event, at_ms=now, cause=cause)
        self.metadata_changed(event, now, cause)
        if isinstance(event, TopicCreated) and event.topic == CONSUMER_OFFSETS:
            self.groups.load(
                None, now
            )  # after its deletion: there is nothing in it, and it is served again
        return seq

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

    def note_interceptor_error(self, error: InterceptorError) -> None:
        """Keep an interceptor's error to be raised later; only the first ones are kept."""
        if len(self.interceptor_errors) < _MOST_ERRORS:
            self.interceptor_errors.append(error)

    def forget(self, token: int) -> None:
        """Drop a parked request whose connection closed."""
        self.parked.forget(token)
        self.parked_fetches.forget(token)

    # -- time: what drivers use

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
        services = self.services.next_deadline() if self._log_retry_at is None else None
        for due in (self.parked_fetches.next_deadline(), services, self.parked.next_deadline()):
            if due is not None and (deadline is None or due < deadline):
                deadline = due
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
            self.groups.tick(now)
            self.services.tick(now)
        self.parked_fetches.tick(now)
        self.parked.tick(now)
        self.run_resumable(now)

    def run_resumable(self, now: int) -> None:
        """Let connections whose parked request was answered handle their next requests. Every entry
        point of a driver ends with this call.
        """
        if self.parked.resumable:
            self.parked.resume_all(now)
        if self.groups.share_states:
            self.groups.ask_share_coordinator(now)
        transactions = self.services.started_transactions
        if transactions is not None and transactions.unfinished:
            self._end_transactions(transactions, now)
        self.turns.woken = 0
        if (log := self.log) is not None:
            log.flush()
            if not log.writable or self._log_retry_at is not None:
                self._see_log(log, now)

    def _end_transactions(self, transactions: Transactions, now: int) -> None:
        """Write transaction markers that are due. They are appended after the replies are sent and
        belong to no request, so the commit gate begins anew.
        """
        transactions.go_on(now)
        if self.groups.gate is not None:
            self.groups.gate.begin()

    def next_turn(self, now: int) -> None:
        """Let connections go on that were postponed in the last turn."""
        self.turns.next(now)
        self.run_resumable(now)

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
