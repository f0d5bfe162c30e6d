"""Movement of transaction coordinators: the leader of a partition of __transaction_state serves its
transactional ids.

Owns which partitions each broker serves, and which of its writes are not replicated yet. State
of transactional ids is in the partition's log, so a new leader loads its own copy, and finishes
transactions that were decided. Until the last write about a transactional id is replicated,
requests for it get CONCURRENT_TRANSACTIONS, and it is shown in its previous state. Does not know
requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.core.transactions.coordinator import EventSink
from coordinator.core.transactions.decide import Partition
from coordinator.core.transactions.model import Transaction
from coordinator.events import transactions as ev

from ..cluster.internal_topics import partition_for
from ..cluster.model import TRANSACTION_STATE
from ..transactions.outcomes import TransactionHost, Transactions
from .events_log import TransactionsLog

if TYPE_CHECKING:
    from coordinator.events import EventLog

    from ..broker import Broker
    from ..cluster import Partition as ClusterPartition
    from ..cluster.network import Network


class _Written:
    """`EventSink` that writes to the partition's log and to the event log.

    `last`: by transactional id, the partition and the offset after its last event; `before`: the
    id's state before that event, if any.
    """

    def __init__(self, host: TransactionHost, log: EventLog | None) -> None:
        self.last: dict[str, tuple[int, int]] = {}
        self.before: dict[str, Transaction] = {}
        self._host = host
        self._log = log

    @property
    def writable(self) -> bool:
        """True if the event log can be written now."""
        return self._log is None or self._log.writable

    def transaction_event(self, event: ev.Event, at_ms: int, cause: int | None) -> int | None:
        """Log an event and append it to the partition as its leader; return its number in the event
        log.
        """
        seq = (
            None
            if self._log is None
            else self._log.transaction_event(event, at_ms, cause, self._host.node_id)
        )
        partition = _partition(self._host, event.transactional_id)
        assert partition is not None
        assert isinstance(partition.log, TransactionsLog), "only who holds a partition serves it"
        self.last[event.transactional_id] = (
            partition.index,
            partition.log.append_event(at_ms, event, seq) + 1,
        )
        return seq


class SharedTransactions:
    """The transaction coordinators of all brokers, and the calls between them."""

    def __init__(
        self, brokers: Mapping[int, Broker], network: Network, log: EventLog | None
    ) -> None:
        self._brokers = brokers
        self._network = network
        self._log = log
        self._written: dict[TransactionHost, _Written] = {}
        self._serving: dict[TransactionHost, set[int]] = {}
        self._loading: dict[TransactionHost, set[int]] = {}

    # -- what brokers' transactions ask

    def sink(self, host: TransactionHost) -> EventSink:
        """Return the sink for the events of a broker's transaction coordinator."""
        return self._written.setdefault(host, _Written(host, self._log))

    def error(self, host: TransactionHost, transactional_id: str) -> ErrorCode:
        """Return NOT_COORDINATOR or COORDINATOR_LOAD_IN_PROGRESS if the broker does not serve a
        transactional id, by its own metadata; else NONE.
        """
        if TRANSACTION_STATE not in host.cluster.topics:
            return ErrorCode.NOT_COORDINATOR
        index = partition_for(host.configs, TRANSACTION_STATE, transactional_id)
        if index in self._loading.get(host, ()):
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        return ErrorCode.NONE if index in self._serving.get(host, ()) else ErrorCode.NOT_COORDINATOR

    def append_error(self, host: TransactionHost, transactional_id: str) -> ErrorCode:
        """Return COORDINATOR_NOT_AVAILABLE while the ISR is too small for a write, else NONE."""
        partition = _partition(host, transactional_id)
        if partition is None:
            return ErrorCode.NOT_COORDINATOR
        wanted = min(
            host.cluster.topics[TRANSACTION_STATE].effective_int("min.insync.replicas"),
            len(partition.replicas),
        )
        return (
            ErrorCode.COORDINATOR_NOT_AVAILABLE if len(partition.isr) < wanted else ErrorCode.NONE
        )

    def replicated(self, host: TransactionHost, transactional_id: str, now: int) -> bool:
        """Return True if all writes of a broker about a transactional id are replicated."""
        last = self._written[host].last
        if transactional_id not in last:
            return True
        assert host.replication is not None
        host.replication.run(now)
        index, end = last[transactional_id]
        partition = host.cluster.partition(TRANSACTION_STATE, index)
        if partition is not None and partition.log.high_watermark < end:
            return False
        self._forget(host, transactional_id)
        return True

    def changing(self, host: TransactionHost, event: ev.Event, now: int) -> None:
        """Keep a transactional id's state before an event is folded into it. A new id is shown as
        Empty, without an epoch, until the event is replicated.
        """
        written, name = self._written[host], event.transactional_id
        if name in written.last:
            return
        known = self._brokers[host.node_id].services.transactions.coordinator.transactions.get(name)
        if known is not None:
            written.before[name] = known.copy()
        elif isinstance(event, ev.ProducerInitialized):
            written.before[name] = Transaction.begun(name, event.producer_id, event.timeout_ms)

    def before(self, host: TransactionHost, transactional_id: str) -> Transaction | None:
        """Return a transactional id's state before its last write while that is not replicated,
        else None.
        """
        return self._written[host].before.get(transactional_id)

    def settled(self, host: TransactionHost, transactional_id: str) -> None:
        """Drop the previous state of a transactional id: no request waits for its last write, nor
        does the current one.
        """
        self._forget(host, transactional_id)
        gate = self._brokers[host.node_id].groups.gate
        if gate is not None:
            gate.begin()

    def _forget(self, host: TransactionHost, transactional_id: str) -> None:
        written = self._written[host]
        written.last.pop(transactional_id, None)
        written.before.pop(transactional_id, None)

    def coordinator(self, host: TransactionHost, transactional_id: str) -> Transactions | None:
        """Return the transactions of the broker that coordinates a transactional id, or None if
        `host` does not know or cannot reach it.
        """
        partition = _partition(host, transactional_id)
        return None if partition is None else self._reached(host, partition.leader)

    def leader(self, host: TransactionHost, partition: Partition) -> Transactions | None:
        """Return the transactions of the broker that leads a partition, or None if it cannot be
        asked now to write a marker.
        """
        known = host.cluster.partition(*partition)
        other = None if known is None else self._reached(host, known.leader)
        if known is None or other is None:
            return None
        own = self._brokers[known.leader].cluster.partition(*partition)
        return other if own is not None and own.leader == known.leader else None

    def _reached(self, host: TransactionHost, node: int) -> Transactions | None:
        reached = node in self._brokers and self._network.reaches(host.node_id, node)
        return self._brokers[node].services.transactions if reached else None

    # -- what happens to brokers

    def serves(self, broker: Broker, index: int) -> bool:
        """Return True if a broker serves or loads a partition of __transaction_state."""
        return index in self._serving.get(broker, ()) or index in self._loading.get(broker, ())

    def loading(self, broker: Broker) -> list[int]:
        """Return the partitions that a broker is loading."""
        return sorted(self._loading.get(broker, ()))

    def begin_load(self, broker: Broker, index: int) -> None:
        """Mark a partition as loading, because the broker has learned that it leads it."""
        self._loading.setdefault(broker, set()).add(index)

    def load(self, broker: Broker, index: int) -> None:
        """Load the broker's own copy of a partition and serve it."""
        partition = broker.cluster.partition(TRANSACTION_STATE, index)
        self._loading.get(broker, set()).discard(index)
        if partition is None or not isinstance(partition.log, TransactionsLog):
            return
        self._serving.setdefault(broker, set()).add(index)
        endings = broker.services.transactions.coordinator.load(
            (stored.at_ms, stored.event) for stored in partition.log.durable.events()
        )
        broker.services.transactions.take_over(endings)

    def unload(self, broker: Broker, index: int) -> None:
        """Stop serving a partition."""
        self._loading.get(broker, set()).discard(index)
        serving = self._serving.get(broker, set())
        if index not in serving:
            return
        serving.discard(index)
        coordinator = broker.services.transactions.coordinator
        gone = [
            name
            for name in coordinator.transactions
            if partition_for(broker.configs, TRANSACTION_STATE, name) == index
        ]
        coordinator.unload(gone)
        for name in gone:
            self._forget(broker, name)

    def stopped(self, broker: Broker) -> None:
        """Discard the state of a broker whose process has ended."""
        for served in (self._serving, self._loading, self._written):
            served.pop(broker, None)


def _partition(host: TransactionHost, transactional_id: str) -> ClusterPartition | None:
    topic = host.cluster.topics.get(TRANSACTION_STATE)
    return (
        None
        if topic is None
        else topic.partitions[partition_for(host.configs, TRANSACTION_STATE, transactional_id)]
    )
