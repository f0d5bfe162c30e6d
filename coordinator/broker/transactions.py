"""Where the transaction coordinator meets logs and groups: its topic, the markers it has written, the offsets that come to count.

Owns the order of an ending: the decision is in the event log, then markers go into each partition and the groups are told,
then the transaction is complete, and only then the answer leaves. In Kafka markers follow the answer; a client that asks in
between is told 51 there, and never here. Refuses to know requests; handlers translate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..cluster.model import CONSUMER_OFFSETS, TRANSACTION_STATE
from ..cluster.partition_log import Marker
from ..cluster.producers import BOUND_TO_RISE
from ..cluster.records import BatchRefused
from ..errors import ErrorCode
from ..java_hash import coordinator_partition
from ..transactions.config import TransactionConfig
from ..transactions.coordinator import Answer, Ending, TransactionCoordinator
from ..transactions.decide import Partition, Producer

if TYPE_CHECKING:
    from collections.abc import Collection

    from ..cluster import Partition as ClusterPartition
    from .core import Broker, Call

ADDS_PARTITIONS, KNOWS_ABORTABLE = 2, 1
"""What a version of Produce or TxnOffsetCommit can do: add its partition to the transaction by itself (KIP-890), understand 120."""


def ability(version: int, *, adds_since: int, abortable_since: int) -> int:
    """What a request of this version is able to do: ADDS_PARTITIONS, KNOWS_ABORTABLE, or neither (0)."""
    return ADDS_PARTITIONS if version >= adds_since else KNOWS_ABORTABLE if version >= abortable_since else 0


def fenced(error: ErrorCode, knows: bool) -> ErrorCode:
    """PRODUCER_FENCED (90) for requests that know it, INVALID_PRODUCER_EPOCH (47) for older ones (KIP-588)."""
    return ErrorCode.INVALID_PRODUCER_EPOCH if error is ErrorCode.PRODUCER_FENCED and not knows else error


class Transactions:
    """The transactions of one broker."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._configs_version = -1
        self.coordinator = TransactionCoordinator(TransactionConfig(), broker.producer_ids.next, broker.log)

    # -- what handlers use

    def init_producer(self, transactional_id: str, timeout_ms: int, expected: Producer | None, call: Call) -> Answer:
        """`TransactionCoordinator.init_producer`, and what it ends is ended."""
        self._configure()
        return self._ended(self.coordinator.init_producer(transactional_id, timeout_ms, expected, call.now, call.cause), call.now)

    def end(self, transactional_id: str, producer: Producer, *, commit: bool, epoch_rises: bool, call: Call) -> Answer:
        """`TransactionCoordinator.end`, and what it ends is ended."""
        self._configure()
        answer = self.coordinator.end(
            transactional_id, producer, commit=commit, epoch_rises=epoch_rises, now=call.now, cause=call.cause)
        return self._ended(answer, call.now, marker_version=BOUND_TO_RISE if epoch_rises else 0)

    def add(self, transactional_id: str, producer: Producer, partitions: Collection[Partition], call: Call) -> ErrorCode:
        """`TransactionCoordinator.add`."""
        self._configure()
        return self.coordinator.add(transactional_id, producer, partitions, call.now, call.cause)

    def admit(self, transactional_id: str, producer: Producer, partition: Partition, ability: int, call: Call) -> ErrorCode:
        """Whether a producer may write to a partition, which is added or only looked for, as far as the request is able to.

        Errors are told as Kafka tells them there: 47 for 90, and 48 for 120 to those that do not know it (TXN-8).
        """
        if ability == ADDS_PARTITIONS:
            error = self.add(transactional_id, producer, (partition,), call)
        else:
            error = self.coordinator.verify(transactional_id, producer, partition)
        if error is ErrorCode.TRANSACTION_ABORTABLE and ability < KNOWS_ABORTABLE:
            return ErrorCode.INVALID_TXN_STATE
        return fenced(error, knows=False)

    def offsets_partition(self, group_id: str) -> Partition:
        """Where a group's offsets are written."""
        partitions = len(self._broker.cluster.topics[CONSUMER_OFFSETS].partitions)
        return CONSUMER_OFFSETS, coordinator_partition(group_id, partitions)

    def write_marker(self, found: ClusterPartition, marker: Marker, now: int, cause: int | None) -> None:
        """Write a marker to a partition, and let readers and groups know. Raises BatchRefused 47 and 52."""
        broker = self._broker
        topic = broker.cluster.topics[found.topic]
        found.log.append_marker(
            marker, leader_epoch=found.leader_epoch, now_ms=broker.epoch_ms + now,
            append_time=topic.effective("message.timestamp.type") == "LogAppendTime")
        if found.topic == CONSUMER_OFFSETS:
            broker.end_transaction(marker.producer_id, marker.committed, found.index, now, cause)
        broker.parked_fetches.wake(found.topic, found.index)

    # -- time

    def next_deadline(self) -> int | None:
        """The instant at which `tick` has something to do."""
        return self.coordinator.next_deadline()

    def tick(self, now: int) -> None:
        """Abort transactions that take too long, forget ids that nobody uses."""
        self._configure()
        for ending in self.coordinator.tick(now):
            self._end(ending, now, BOUND_TO_RISE)

    # -- inside

    def _ended(self, answer: Answer, now: int, marker_version: int = BOUND_TO_RISE) -> Answer:
        if answer.ending is not None:
            self._end(answer.ending, now, marker_version)
        return answer

    def _end(self, ending: Ending, now: int, marker_version: int) -> None:
        marker = Marker(ending.producer_id, ending.producer_epoch, ending.committed, transaction_version=marker_version)
        for topic, index in ending.partitions:
            found = self._broker.cluster.partition(topic, index)
            if found is None:  # deleted meanwhile
                continue
            try:
                self.write_marker(found, marker, now, ending.cause)
            except BatchRefused:
                pass  # somebody wrote newer markers by hand: there is nothing left to end
        self.coordinator.complete(ending, now)

    def _configure(self) -> None:
        """Bring the coordinator's settings up to date with the broker's."""
        configs = self._broker.configs
        if self._configs_version != configs.version:
            self._configs_version = configs.version
            for name, value in configs.transaction_config().items():
                setattr(self.coordinator.config, name, value)


def ensure_topic(broker: Broker, call: Call) -> None:
    """Make __transaction_state, which Kafka makes when somebody first asks who coordinates a transactional id."""
    from .topics import Plan, make

    if TRANSACTION_STATE in broker.cluster.topics:
        return
    value = broker.configs.get_int
    configs = {
        "cleanup.policy": "compact", "compression.type": "uncompressed", "segment.bytes": str(value("transaction.state.log.segment.bytes")),
        "min.insync.replicas": "1", "unclean.leader.election.enable": "false",
    }  # fmt: skip
    assignment = [[broker.node_id] for _ in range(value("transaction.state.log.num.partitions"))]
    make(broker, Plan(TRANSACTION_STATE, assignment, configs), call)
