"""End of transactions at a broker: the coordinator's topic, the markers in logs, and the offsets
that become committed.

Owns Kafka's order: the decision is logged, and the producer is answered once it is replicated;
then markers are written to each partition as soon as its leader can be reached, and the groups
are informed; then the transaction is complete. Requests in between get CONCURRENT_TRANSACTIONS.
Does not know requests; handlers translate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, Protocol

from coordinator.base.deadlines import Deadlines
from coordinator.base.errors import ErrorCode
from coordinator.core.transactions.config import TransactionConfig
from coordinator.core.transactions.coordinator import (
    Ending,
    EventSink,
    TransactionCoordinator,
    TransactionResult,
)
from coordinator.core.transactions.decide import Partition, Producer
from coordinator.core.transactions.model import Transaction
from coordinator.core.transactions.retold import retold
from coordinator.core.transactions.states import ENDING

from .. import data_log
from ..cluster.internal_topics import partition_for
from ..cluster.model import CONSUMER_OFFSETS, TRANSACTION_STATE
from ..log_configs import log_config
from ..storage.partition_log import Marker
from ..storage.producers import BOUND_TO_RISE
from ..storage.records import BatchRefused
from .begun_offsets import BegunOffsets
from .marker_door import Leader, MarkerDoor

if TYPE_CHECKING:
    from coordinator.events import EventLog
    from coordinator.events.transactions import Event
    from coordinator.wire.schema import Message

    from ..cluster import Cluster
    from ..cluster import Partition as ClusterPartition
    from ..cluster.replication import Replication
    from ..fetching.parked import ParkedFetches
    from ..log_cleaning import LogCleaning
    from ..requests.call import Call
    from ..storage.producers import ProducerIds

_MARKERS_A_STEP = 128
ADDS_PARTITIONS, KNOWS_ABORTABLE = 2, 1
"""Abilities of a Produce or TxnOffsetCommit version: to add its partition to the transaction by
itself (KIP-890), understand 120."""


def transaction_support(version: int, *, adds_since: int, abortable_since: int) -> int:
    """Return the transaction support of a request version: ADDS_PARTITIONS, KNOWS_ABORTABLE, or
    neither (0).
    """
    return (
        ADDS_PARTITIONS
        if version >= adds_since
        else KNOWS_ABORTABLE
        if version >= abortable_since
        else 0
    )


def fenced(error: ErrorCode, knows: bool) -> ErrorCode:
    """Return PRODUCER_FENCED (90) for versions that have it, INVALID_PRODUCER_EPOCH (47) for older
    ones (KIP-588); other errors unchanged.
    """
    return (
        ErrorCode.INVALID_PRODUCER_EPOCH
        if error is ErrorCode.PRODUCER_FENCED and not knows
        else error
    )


class Cooperation(Protocol):
    """Interface between the transaction coordinators of several brokers. Each serves the partitions
    of __transaction_state that it leads.
    """

    def sink(self, host: TransactionHost) -> EventSink:
        """Return the sink for the events of a broker's coordinator."""

    def error(self, host: TransactionHost, transactional_id: str) -> ErrorCode:
        """Return NOT_COORDINATOR or COORDINATOR_LOAD_IN_PROGRESS if the broker does not serve a
        transactional id, by its own metadata; else NONE.
        """

    def append_error(self, host: TransactionHost, transactional_id: str) -> ErrorCode:
        """Return the error if nothing can be written about a transactional id now, else NONE."""

    def replicated(self, host: TransactionHost, transactional_id: str, now: int) -> bool:
        """Return True if all writes of a broker about a transactional id are replicated."""

    def changing(self, host: TransactionHost, event: Event, now: int) -> None:
        """Keep a transactional id's state before an event is folded into it."""

    def before(self, host: TransactionHost, transactional_id: str) -> Transaction | None:
        """Return a transactional id's state before its last write while that is not replicated,
        else None.
        """

    def settled(self, host: TransactionHost, transactional_id: str) -> None:
        """Drop the previous state of a transactional id: no request waits for its last write."""

    def coordinator(self, host: TransactionHost, transactional_id: str) -> Transactions | None:
        """Return the transactions of the broker that coordinates a transactional id, or None if
        `host` does not know or cannot reach it.
        """

    def leader(self, host: TransactionHost, partition: Partition) -> Transactions | None:
        """Return the transactions of the broker that leads a partition, or None if it cannot be
        asked now to write a marker.
        """


class Unfinished(NamedTuple):
    """A transaction that is being ended: its marker, and the partitions that do not have it yet."""

    ending: Ending
    marker: Marker
    partitions: Collection[Partition]


class TransactionServices(Protocol):
    """The services of a broker that transactions use."""

    @property
    def producer_ids(self) -> ProducerIds:
        """The source of ids for new producers."""

    @property
    def cleaning(self) -> LogCleaning:
        """The clean-up of the broker's logs."""


class TransactionGroups(Protocol):
    """The groups of a broker, with offsets that transactions commit."""

    def end_transaction(
        self, producer_id: int, committed: bool, partition: int, now: int, cause: int | None
    ) -> None:
        """Apply the end of a producer's transaction to the offsets that it committed in groups of a
        partition of __consumer_offsets (TXN-5).
        """


class TransactionHost(Leader, Protocol):
    """The part of a broker that transactions use (`Broker` is one)."""

    @property
    def cluster(self) -> Cluster:
        """The cluster whose partitions get markers."""

    @property
    def services(self) -> TransactionServices:
        """The services of the broker."""

    @property
    def groups(self) -> TransactionGroups:
        """The groups of the broker."""

    @property
    def log(self) -> EventLog | None:
        """The event log, or None."""

    @property
    def parked_fetches(self) -> ParkedFetches:
        """The parked fetches, which a marker may complete."""

    @property
    def epoch_ms(self) -> int:
        """The wall clock at the driver's zero, in milliseconds since 1970."""

    @property
    def replication(self) -> Replication | None:
        """The copier of markers to followers, or None in a cluster of one broker."""


class Transactions:
    """Transactions of one broker. `unfinished`: those that are decided but whose markers are not
    all written.
    """

    def __init__(self, broker: TransactionHost, others: Cooperation | None = None) -> None:
        self.unfinished: list[Unfinished] = []
        self.begun_offsets = BegunOffsets()
        self._deleted = self._more = (
            False  # `_more`: markers could be written, had there not been many
        )
        self._broker = broker
        self._others = others  # None: this broker leads everything
        self._door = MarkerDoor(broker.node_id)
        config = TransactionConfig()
        broker.configs.keep_current(config, broker.configs.transaction_config)
        self.coordinator = TransactionCoordinator(
            config,
            broker.services.producer_ids.next,
            broker.log if others is None else others.sink(broker),
        )
        self._give_up: Deadlines[str] = Deadlines()
        """The deadline of each transactional id's write: a later success does not count here."""
        if others is not None:
            self.coordinator.append_error = lambda transactional_id: others.append_error(
                broker, transactional_id
            )
            self.coordinator.is_pending = lambda transactional_id, now: (
                not others.replicated(broker, transactional_id, now)
            )
            self.coordinator.changing = lambda event, now: others.changing(broker, event, now)

    # -- what handlers use

    def init_producer(
        self, transactional_id: str, timeout_ms: int, expected: Producer | None, call: Call
    ) -> TransactionResult:
        """Like `TransactionCoordinator.init_producer`. A transaction that it ends gets its markers
        after the answer. The timeout is checked first, by any broker.
        """
        error = self.coordinator.refuse_timeout(transactional_id, timeout_ms) or self.refuse(
            transactional_id, call.now
        )
        if error:
            return TransactionResult(error)
        answer = self._ended(
            self.coordinator.init_producer(
                transactional_id, timeout_ms, expected, call.now, call.cause
            )
        )
        if (
            answer.error is ErrorCode.COORDINATOR_NOT_AVAILABLE
            and transactional_id not in self.coordinator.transactions
        ):
            producer_id = self._broker.services.producer_ids.next()
            self._put_back(
                Transaction.begun(transactional_id, producer_id, timeout_ms), call.now, call.cause
            )
        self._expect(transactional_id, call.now)
        return answer

    def end(
        self,
        transactional_id: str,
        producer: Producer,
        *,
        commit: bool,
        epoch_rises: bool,
        call: Call,
    ) -> TransactionResult:
        """Like `TransactionCoordinator.end`; markers are written after the answer."""
        error = self.refuse(transactional_id, call.now)
        if not error and epoch_rises and self._is_first_version_only():
            error = ErrorCode.UNSUPPORTED_VERSION
        if error:
            return TransactionResult(error)
        answer = self.coordinator.end(
            transactional_id,
            producer,
            commit=commit,
            epoch_rises=epoch_rises,
            now=call.now,
            cause=call.cause,
        )
        self._expect(transactional_id, call.now)
        return self._ended(answer, marker_version=BOUND_TO_RISE if epoch_rises else 0)

    def add(
        self,
        transactional_id: str,
        producer: Producer,
        partitions: Collection[Partition],
        call: Call,
    ) -> ErrorCode:
        """Like `TransactionCoordinator.add`, if this broker serves the id."""
        error = self.refuse(transactional_id, call.now) or self.coordinator.add(
            transactional_id, producer, partitions, call.now, call.cause
        )
        self._expect(transactional_id, call.now)
        return error

    def verify(
        self, transactional_id: str, producer: Producer, partition: Partition, call: Call
    ) -> ErrorCode:
        """Like `TransactionCoordinator.verify`, if this broker serves the id."""
        return self.refuse(transactional_id, call.now) or self.coordinator.verify(
            transactional_id, producer, partition
        )

    def admit(
        self,
        transactional_id: str,
        producer: Producer,
        partition: Partition,
        support: int,
        call: Call,
    ) -> ErrorCode:
        """Return NONE if a producer may write to a partition, which is added or verified, depending
        on the request's `support`.

        In this place Kafka answers INVALID_PRODUCER_EPOCH (47) for PRODUCER_FENCED (90), and
        INVALID_TXN_STATE (48) for TRANSACTION_ABORTABLE (120) to requests that do not know it
        (TXN-8).
        """
        coordinator = self
        if self._others is not None and transactional_id:
            found = self._others.coordinator(self._broker, transactional_id)
            if found is None:
                return (
                    ErrorCode.NOT_ENOUGH_REPLICAS
                )  # as Kafka's brokers tell it when they cannot ask the coordinator
            coordinator = found
        if support == ADDS_PARTITIONS and self._is_first_version_only():
            return ErrorCode.UNSUPPORTED_VERSION
        if support == ADDS_PARTITIONS:
            error = coordinator.add(transactional_id, producer, (partition,), call)
            if not error:
                error = coordinator.not_replicated(transactional_id, call.now)
        else:
            error = coordinator.verify(transactional_id, producer, partition, call)
            if error is ErrorCode.CONCURRENT_TRANSACTIONS:
                return ErrorCode.NOT_ENOUGH_REPLICAS  # which older clients know how to retry
        if error in (
            ErrorCode.NOT_COORDINATOR,
            ErrorCode.COORDINATOR_NOT_AVAILABLE,
            ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ):
            return ErrorCode.NOT_ENOUGH_REPLICAS if self._others is not None else error
        if error is ErrorCode.TRANSACTION_ABORTABLE and support < KNOWS_ABORTABLE:
            return ErrorCode.INVALID_TXN_STATE
        return fenced(error, knows=False)

    def _is_first_version_only(self) -> bool:
        """Return True if transaction.version is 0, so that the second version of transactions is
        not available (TXN-12).
        """
        return self._broker.cluster.features.get("transaction.version", 0) == 0

    def has_followers(self, transactional_id: str) -> bool:
        """Return True if writes about a transactional id must be replicated."""
        index = partition_for(self._broker.configs, TRANSACTION_STATE, transactional_id)
        found = self._broker.cluster.partition(TRANSACTION_STATE, index)
        return found is not None and len(found.isr) > 1

    def availability(self, transactional_id: str) -> ErrorCode:
        """Return NOT_COORDINATOR or COORDINATOR_LOAD_IN_PROGRESS if this broker does not serve a
        transactional id, else NONE.
        """
        if not transactional_id:
            return ErrorCode.NONE
        if self._others is None:
            gone = self._deleted and TRANSACTION_STATE not in self._broker.cluster.topics
            return ErrorCode.NOT_COORDINATOR if gone else ErrorCode.NONE
        return self._others.error(self._broker, transactional_id)

    def refuse(self, transactional_id: str, now: int) -> ErrorCode:
        """Return the error if requests for a transactional id are refused now, else NONE."""
        return self.availability(transactional_id) or self.not_replicated(transactional_id, now)

    def not_replicated(self, transactional_id: str, now: int) -> ErrorCode:
        """Return CONCURRENT_TRANSACTIONS while the last write about a transactional id is not
        replicated, else NONE.
        """
        if self._others is None or not transactional_id:
            return ErrorCode.NONE
        if self._others.replicated(self._broker, transactional_id, now):
            self._give_up.cancel(transactional_id)  # the next write has a timeout of its own
            return ErrorCode.NONE
        return ErrorCode.CONCURRENT_TRANSACTIONS

    def shown(self, transactional_id: str, now: int) -> Transaction | None:
        """Return a transactional id's state for clients: without writes that are not replicated."""
        if self.not_replicated(transactional_id, now):
            assert self._others is not None
            return self._others.before(self._broker, transactional_id)
        return self.coordinator.transactions.get(transactional_id)

    def partitions(self, known: Transaction) -> Collection[Partition]:
        """Return the partitions of a transaction, while it is being ended only those without a
        marker yet, as in Kafka.
        """
        if known.state in ENDING:
            for each in self.unfinished:
                if each.ending.transactional_id == known.transactional_id:
                    return each.partitions
        return known.partitions

    def write_timeout_ms(self, message: Message) -> int:
        """Return how long a request's writes about transactional ids may take to be replicated:
        their transaction timeout (ERR-1).
        """
        named = [
            getattr(message, "transactional_id", ""),
            getattr(message, "v3_and_below_transactional_id", ""),
        ]
        named += [one.transactional_id for one in getattr(message, "transactions", ())]
        known = [
            self.coordinator.transactions[name].timeout_ms
            for name in named
            if name in self.coordinator.transactions
        ]
        return min(known, default=self._broker.configs.get_int("request.timeout.ms"))

    def offsets_partition(self, group_id: str) -> Partition:
        """Return the partition of __consumer_offsets for a group."""
        return CONSUMER_OFFSETS, partition_for(self._broker.configs, CONSUMER_OFFSETS, group_id)

    def write_marker(
        self, found: ClusterPartition, marker: Marker, now: int, cause: int | None
    ) -> None:
        """Write a marker to a partition, wake readers and inform groups. Raises BatchRefused 47 and
        52.
        """
        broker = self._broker
        topic = broker.cluster.topics[found.topic]
        offset = found.log.append_marker(
            marker,
            leader_epoch=found.leader_epoch,
            now_ms=broker.epoch_ms + now,
            config=log_config(topic),
        )
        if found.log.calls_cleaner:
            broker.services.cleaning.appended(found, now)
        data_log.marked(
            broker.log, broker.node_id, found.topic, found.index, marker, offset, now, cause
        )
        if found.topic == CONSUMER_OFFSETS:
            self.begun_offsets.end(topic.id, found, marker.producer_id)
            broker.groups.end_transaction(
                marker.producer_id, marker.committed, found.index, now, cause
            )
        if broker.replication is not None:
            broker.replication.mark(found.topic, found.index)
            broker.replication.run(now)
        broker.parked_fetches.wake(found.topic, found.index, now)

    # -- time

    def next_deadline(self) -> int | None:
        """Return the instant at which `tick` is due, or None."""
        due = (
            self.coordinator.next_deadline(),
            self._give_up.next(),
            0 if self._more and self.unfinished else None,
            self._door.next_deadline(),
        )
        return min((at for at in due if at is not None), default=None)

    def tick(self, now: int) -> None:
        """Abort transactions that have timed out, remove expired transactional ids, and undo writes
        that were not replicated in time. `go_on` writes the markers.
        """
        for name in self._give_up.due(now):
            self._go_back(name, now)
        for ending in self.coordinator.tick(now):
            self._end(ending, BOUND_TO_RISE)
            self._expect(ending.transactional_id, now)

    def _expect(self, transactional_id: str, now: int) -> None:
        """Start the timeout for the replication of the last write about a transactional id."""
        if (
            self.not_replicated(transactional_id, now)
            and self._give_up.get(transactional_id) is None
        ):
            self._give_up.arm(
                transactional_id, now + self.coordinator.transactions[transactional_id].timeout_ms
            )

    def _go_back(self, transactional_id: str, now: int) -> None:
        """Restore a transactional id's state before the write that was not replicated in time, as
        in Kafka. The write stays in the log; a later one follows it.
        """
        if not self.not_replicated(transactional_id, now):
            return
        assert self._others is not None
        before = self._others.before(self._broker, transactional_id)
        if before is None or before.state in ENDING:
            return
        self.unfinished = [
            each for each in self.unfinished if each.ending.transactional_id != transactional_id
        ]
        self._keep_waiting(now)
        self._put_back(before, now, None)

    def _put_back(self, one: Transaction, now: int, cause: int | None) -> None:
        self.coordinator.put_back(
            one.transactional_id, retold(one, "a write was not replicated"), now, cause
        )
        assert self._others is not None
        self._others.settled(self._broker, one.transactional_id)

    # -- how transactions end

    def go_on(self, now: int) -> None:
        """Write the markers that can be written now, if the decision is replicated, and complete
        transactions that have all of them.

        Call it after answers were sent, and after a change of leaders, hosts or links. It writes
        a bounded number; the rest is due at once.
        """
        self._more = False
        unfinished, self.unfinished = self.unfinished, []
        for each in unfinished:
            self._finish(each, now)
        self._keep_waiting(now)

    def _keep_waiting(self, now: int) -> None:
        """Drop the markers waiting at leaders' interceptors that are no longer to be written."""
        if not self._door.is_empty:
            self._door.keep(
                {
                    (each.marker.producer_id, each.marker.producer_epoch, one)
                    for each in self.unfinished
                    for one in each.partitions
                },
                now,
            )

    def delete_all(self, now: int, cause: int | None) -> None:
        """Forget all transactional ids after __transaction_state was deleted, and refuse them until
        the topic is created again (TXN-9). With several brokers each forgets what it served when
        it learns of the deletion.
        """
        self._deleted = True
        if self._others is None:
            self.unfinished.clear()
            self._keep_waiting(now)
            self.coordinator.delete_all(now, cause)

    def take_over(self, endings: Iterable[Ending]) -> None:
        """Finish transactions that another coordinator had decided to end."""
        self.unfinished += [
            Unfinished(each, self._marker(each), each.partitions) for each in endings
        ]

    def _ended(
        self, answer: TransactionResult, marker_version: int = BOUND_TO_RISE
    ) -> TransactionResult:
        if answer.ending is not None:
            self._end(answer.ending, marker_version)
        return answer

    def _end(self, ending: Ending, marker_version: int) -> None:
        self.unfinished.append(
            Unfinished(ending, self._marker(ending, marker_version), ending.partitions)
        )

    def _marker(self, ending: Ending, version: int = 0) -> Marker:
        """Return the marker that ends a transaction. Its coordinator epoch is the leader epoch of
        the transactional id's partition.
        """
        epoch = 0
        if self._others is not None:
            configs, cluster = self._broker.configs, self._broker.cluster
            keeper = cluster.partition(
                TRANSACTION_STATE,
                partition_for(configs, TRANSACTION_STATE, ending.transactional_id),
            )
            epoch = 0 if keeper is None else keeper.leader_epoch
        return Marker(ending.producer_id, ending.producer_epoch, ending.committed, epoch, version)

    def _finish(self, each: Unfinished, now: int) -> None:
        ending = each.ending
        error = self.refuse(ending.transactional_id, now)
        if error is ErrorCode.NOT_COORDINATOR:
            return  # who coordinates it now finds it decided, and ends it
        if error or not self.coordinator.writable:
            self.unfinished.append(each)
            return
        left, waiting = _MARKERS_A_STEP, list[Partition]()
        for one in each.partitions:
            if left and self._mark(one, each.marker, now, ending.cause):
                left -= 1
            else:
                waiting.append(one)
        self._more |= bool(waiting) and not left
        if waiting or self.coordinator.append_error(ending.transactional_id):
            self.unfinished.append(each._replace(partitions=waiting))
        else:
            self.coordinator.complete(ending, now)

    def _mark(self, partition: Partition, marker: Marker, now: int, cause: int | None) -> bool:
        """Write a marker to a partition, wherever it is led; return False if its leader cannot be
        reached now.

        As in Kafka 4.4.0, a partition without a leader is skipped like a deleted one: it gets no
        marker, and the transaction stays open in its log until the producer's next one there
        ends.
        """
        own = self._broker.cluster.partition(*partition)
        if own is None or own.leader < 0:
            return True
        leader = self if self._others is None else self._others.leader(self._broker, partition)
        if leader is None:
            return False
        found = leader._broker.cluster.partition(*partition)
        if found is None:
            return True

        def write() -> None:
            # BatchRefused: somebody wrote newer markers by hand, there is nothing left to end
            with suppress(BatchRefused):
                leader.write_marker(found, marker, now, cause)

        if self._door.concerns(leader._broker):
            return self._door.pass_through(leader._broker, partition, marker, now, cause, write)
        write()
        return True
