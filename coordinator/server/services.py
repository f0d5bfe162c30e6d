"""What a broker does besides groups: transactions, share partitions, clean-up of logs, quotas, fetch
sessions, producer ids, links to clients.

Each is made when it is first needed, and its module is loaded then, so that a broker starts fast and
a test that needs none of them waits for none.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .client_links import ClientLinks, LinkedBroker
    from .cluster import Partition
    from .cluster.controller import Controller
    from .fetching.sessions import FetchSessions
    from .log_cleaning import LogCleaning, LogHost
    from .shares.host import ShareCoordinator, ShareHost
    from .shares.service import Shares
    from .storage.producers import ProducerIds
    from .throttling import Throttling
    from .transactions.outcomes import Cooperation, TransactionHost, Transactions

    class Host(ShareHost, TransactionHost, LogHost, LinkedBroker, Protocol):
        """The part of a broker that its services use: what each of them needs, and its controller."""

        @property
        def services(self) -> Services:
            """These services."""

        @property
        def controller(self) -> Controller:
            """The cluster's controller as the broker knows it."""

        @property
        def cooperation(self) -> Cooperation | None:
            """The brokers that coordinate other transactional ids; None: there are none."""


class Services:
    """The services of one broker."""

    def __init__(self, broker: Host) -> None:
        self._broker = broker
        self.throttling: Throttling | None = None  # None: no quota was ever set
        self.started_transactions: Transactions | None = None
        """The transaction coordinator, if it was needed so far."""
        self.started_shares: Shares | None = None
        self.started_cleaning: LogCleaning | None = None

    @property
    def transactions(self) -> Transactions:
        """The transaction coordinator."""
        if self.started_transactions is None:
            from .transactions.outcomes import Transactions

            self.started_transactions = Transactions(self._broker, self._broker.cooperation)
        return self.started_transactions

    @property
    def shares(self) -> Shares:
        """Share groups at this broker."""
        if self.started_shares is None:
            from .shares.service import Shares

            self.started_shares = Shares(self._broker)
        return self.started_shares

    @property
    def share_coordinator(self) -> ShareCoordinator:
        """The share coordinator: the stored states of share partitions that this broker keeps."""
        return self.shares.states

    @property
    def cleaning(self) -> LogCleaning:
        """The clean-up of this broker's logs."""
        if self.started_cleaning is None:
            from .log_cleaning import LogCleaning

            self.started_cleaning = LogCleaning(self._broker)
        return self.started_cleaning

    @property
    def cleans_logs(self) -> bool:
        """True if this broker's logs had anything to clean up since it started."""
        return self.started_cleaning is not None

    @cached_property
    def fetch_sessions(self) -> FetchSessions:
        """The fetch sessions of KIP-227, as many as max.incremental.fetch.session.cache.slots."""
        from .fetching.sessions import FetchSessions

        slots = self._broker.configs.get_int("max.incremental.fetch.session.cache.slots")
        return FetchSessions(slots)

    @cached_property
    def client_links(self) -> ClientLinks:
        """The cut links between clients and this broker."""
        from .client_links import ClientLinks

        return ClientLinks(self._broker)

    @cached_property
    def producer_ids(self) -> ProducerIds:
        """The source of ids for new producers."""
        from .storage.producers import ProducerIds

        return ProducerIds()

    # -- time

    def next_deadline(self) -> int | None:
        """Return the instant at which the first of them has something to do, or None."""
        deadline = None
        for each in (self.started_transactions, self.started_shares, self.started_cleaning):
            due = None if each is None else each.next_deadline()
            if due is not None and (deadline is None or due < deadline):
                deadline = due
        return deadline

    def tick(self, now: int) -> None:
        """Run what is due."""
        for each in (self.started_transactions, self.started_shares, self.started_cleaning):
            if each is not None:
                each.tick(now)

    # -- what happens around them

    def quotas_changed(self) -> None:
        """Apply the cluster's quotas of clients as they are now."""
        broker = self._broker
        if self.throttling is None:
            from .throttling import Throttling

            self.throttling = Throttling(
                broker.configs, broker.cluster.client_quotas, broker.controller.mutations
            )
        self.throttling.changed()

    def logs_found(self, now: int) -> None:
        """Begin the clean-up of the logs that the broker's process found when it started."""
        if any(partition.log.log_end_offset for partition in self._own_partitions()):
            self.started_cleaning = None
            self.cleaning.begin(now)

    def _own_partitions(self) -> Iterator[Partition]:
        broker = self._broker
        return (
            partition
            for topic in broker.cluster.topics.values()
            if not topic.internal
            for partition in topic.partitions
            if broker.node_id in partition.replicas
        )

    def clock_moved(self) -> None:
        """Compute the deadlines of log clean-up again after the host's wall clock jumped."""
        if self.started_cleaning is not None:
            self.started_cleaning.look_at_all()

    def connection_lost(self, peer: str) -> None:
        """End the share sessions of a connection that closed."""
        if self.started_shares is not None:
            self.started_shares.connection_lost(peer)

    def share_states_changed(self) -> None:
        """Check which writes of share states can be acknowledged: one was replicated, or its share
        coordinator moved.
        """
        if self.started_shares is not None:
            self.started_shares.partitions.writes.look()

    def shares_stopped(self, now: int) -> None:
        """Discard the state of share groups because the broker's process ended."""
        if self.started_shares is not None:
            self.started_shares.stopped(now)
