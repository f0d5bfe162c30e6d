"""Snapshots of a whole emulator: topics, records, groups, offsets and transactions, to be restored
any number of times.

A snapshot is a value: nothing that happens later changes it, and any emulator with the same
broker ids can restore it. For groups and transactional ids it holds the durable events that make
them, so a group is restored as a coordinator loads it (ERR-7): with its last stable generation,
and with new sessions for its members. A restore writes these events as any change does, so the
event log has them and its replay follows. Durations (sessions, transaction timeouts, retention)
begin again at the restore. A snapshot does not contain settings of brokers and groups, faults,
or clients. Called between two requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coordinator.base.counting import how_many
from coordinator.core.transactions.retold import retold
from coordinator.events import transactions as tx
from coordinator.events.cluster import PartitionChange, PartitionChanged, TopicDeleted
from coordinator.events.faults import SnapshotRestored
from coordinator.events.groups.offsets import (
    CommittedOffset,
    OffsetsCommitted,
    OffsetsPending,
    PendingOffsetsEnded,
)
from coordinator.server.cluster.model import CONSUMER_OFFSETS, TRANSACTION_STATE
from coordinator.server.storage.partition_log import PartitionLog
from coordinator.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

from ..in_process_requests import ControlError, ask

if TYPE_CHECKING:
    from coordinator.events.groups import Event
    from coordinator.server.broker import Broker
    from coordinator.server.cluster import Topic

    from ..session import KitSession

_TIMELESS = (
    tx.ProducerInitialized
    | tx.TransactionCompleted
    | tx.TransactionalIdExpired
    | tx.TransactionalIdDeleted
)


@dataclass(frozen=True, slots=True)
class SavedPartition:
    """A partition: its replicas, the preferred leader first, and its records."""

    replicas: tuple[int, ...]
    leader_epoch: int
    log: PartitionLog


@dataclass(frozen=True, slots=True)
class SavedTopic:
    """A topic that is not internal."""

    name: str
    id: bytes
    configs: Mapping[str, str]
    partitions: tuple[SavedPartition, ...]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Snapshot:
    """The state that `kafka.snapshot()` returns and `kafka.restore(...)` restores. Groups and
    transactional ids are given as the events that make them."""

    brokers: tuple[int, ...]
    topics: tuple[SavedTopic, ...]
    groups: Mapping[str, tuple[Event, ...]]
    transactions: Mapping[str, tuple[tx.Event, ...]]
    taken_ms: int

    @property
    def records(self) -> int:
        """The number of offsets in all logs, including those of transaction markers."""
        return sum(
            one.log.log_end_offset - one.log.log_start_offset
            for topic in self.topics
            for one in topic.partitions
        )

    @property
    def highest_producer_id(self) -> int:
        """The highest producer id in the snapshot, or -1 if there is none."""
        logs = (
            producer_id
            for topic in self.topics
            for one in topic.partitions
            for producer_id in one.log.producers.states
        )
        own = (
            event.producer_id
            for events in self.transactions.values()
            for event in events
            if isinstance(
                event, tx.ProducerInitialized | tx.TransactionPrepared | tx.TransactionCompleted
            )
        )
        pending = (
            event.producer_id
            for events in self.groups.values()
            for event in events
            if isinstance(event, OffsetsPending | PendingOffsetsEnded)
        )
        return max((*logs, *own, *pending), default=-1)

    def __repr__(self) -> str:
        topics = (
            ", ".join(f"{topic.name}:{len(topic.partitions)}" for topic in self.topics)
            or "no topics"
        )
        return f"<Snapshot of {topics}; {how_many(self.records, 'record')}; groups: {', '.join(self.groups) or 'none'}>"


# -- taking


def take(session: KitSession) -> Snapshot:
    """Take a snapshot of the emulator. Raises ControlError while a broker does not run, because
    its state is unknown."""
    brokers = _all_brokers(session, "taken")
    groups: dict[str, tuple[Event, ...]] = {}
    transactions: dict[str, tuple[tx.Event, ...]] = {}
    for broker in brokers:
        coordinator = broker.coordinator
        for index, shard in coordinator.shards.items():
            if not coordinator.availability.error(index):
                groups |= {
                    group_id: tuple(event for _, event in shard.durable.events_of(group_id))
                    for group_id in shard.durable.groups()
                }
        for name, one in broker.services.transactions.coordinator.transactions.items():
            if not broker.services.transactions.availability(name):
                transactions[name] = tuple(retold(one, "a snapshot is restored"))
    topics = tuple(
        _saved(session, topic) for topic in brokers[0].cluster.topics.values() if not topic.internal
    )
    return Snapshot(
        tuple(broker.node_id for broker in brokers), topics, groups, transactions, session.now()
    )


def _saved(session: KitSession, topic: Topic) -> SavedTopic:
    partitions = []
    for known in topic.partitions:
        found = session.leader_of(topic.name, known.index).cluster.partition(
            topic.name, known.index
        )
        assert found is not None
        log = PartitionLog()
        log.adopt(found.log)
        partitions.append(SavedPartition(tuple(found.replicas), found.leader_epoch, log))
    return SavedTopic(topic.name, topic.id, dict(topic.configs), tuple(partitions))


# -- restoring


def restore(session: KitSession, snapshot: Snapshot) -> None:
    """Restore a snapshot; all connections are closed. Raises ControlError if it cannot be
    restored; then nothing has changed."""
    if not isinstance(snapshot, Snapshot):
        raise ControlError(f"{snapshot!r} is no snapshot: give what `snapshot()` answered")
    brokers = _all_brokers(session, "restored")
    here = tuple(broker.node_id for broker in brokers)
    if here != snapshot.brokers:
        raise ControlError(
            f"the snapshot is of brokers {_listed(snapshot.brokers)}; here are {_listed(here)}: it needs the same"
        )
    first, now = brokers[0], session.now()
    if first.log_is_blocked:
        raise ControlError("the event log cannot be written now, so nothing is restored")
    cause = None
    if first.log is not None:
        topics = tuple([topic.name for topic in snapshot.topics])
        cause = first.log.append(SnapshotRestored(topics, tuple(snapshot.groups)), at_ms=now)
    session.disconnect()
    served = []
    for broker in brokers:
        partitions, outcome = broker.coordinator.take_out(now, cause)
        served.append(partitions)
        broker.groups.send_replies(outcome, now)
        broker.services.transactions.unfinished.clear()
        broker.services.transactions.coordinator.delete_all(now, cause)
        vars(broker).pop("fetch_sessions", None)
    _put_topics(brokers, snapshot, now, cause)
    _put_transactions(brokers, snapshot, now, cause)
    later_ms = now - snapshot.taken_ms
    groups = {
        group_id: [_from_now(event, later_ms) for event in events]
        for group_id, events in snapshot.groups.items()
    }
    for broker, partitions in zip(brokers, served, strict=True):
        broker.groups.send_replies(broker.coordinator.put_back(now, partitions, groups, cause), now)
        if broker.groups.gate is not None:
            broker.groups.gate.begin()  # what was written is no request's own


def _all_brokers(session: KitSession, what: str) -> list[Broker]:
    running = session.brokers()
    known = session.any_broker().cluster.brokers
    down = [
        node
        for node, one in known.items()
        if one.fenced or not any(b.node_id == node and b.reaches_controller for b in running)
    ]
    if down:
        raise ControlError(
            f"no snapshot can be {what} while a broker is stopped or cut off: {_listed(down)}; start or heal it first"
        )
    return sorted(running, key=lambda broker: broker.node_id)


def _listed(nodes: tuple[int, ...] | list[int]) -> str:
    return ", ".join(map(str, nodes))


def _put_topics(brokers: list[Broker], snapshot: Snapshot, now: int, cause: int | None) -> None:
    """Create the topics again, with their ids, and fill them. Leader epochs go on rising,
    because clients ignore a lower one."""
    controller = brokers[0].controller
    epochs: dict[tuple[bytes, int], int] = {}
    for topic in list(controller.cluster.topics.values()):
        if not topic.internal:
            epochs |= {(topic.id, one.index): one.leader_epoch for one in topic.partitions}
            controller.apply(TopicDeleted(topic.name, topic.id, len(topic.partitions)), now, cause)
    for broker in brokers:
        kept = broker.cluster.topics.get(CONSUMER_OFFSETS)
        for offsets in () if kept is None else kept.partitions:
            offsets.log.forget_producers()
    for saved in snapshot.topics:
        replicas = [list(one.replicas) for one in saved.partitions]
        made = controller.create_topic(
            saved.name,
            topic_id=saved.id,
            replicas=replicas,
            configs=saved.configs,
            now=now,
            cause=cause,
        )
        for one, there in zip(saved.partitions, made.partitions, strict=True):
            epoch = max(one.leader_epoch, epochs.get((saved.id, there.index), 0))
            if epoch:
                controller.apply(
                    PartitionChanged(
                        saved.name,
                        there.index,
                        PartitionChange.LEADER_ELECTED,
                        "a snapshot is restored",
                        there.leader,
                        epoch + 1,
                        there.partition_epoch + 1,
                        list(there.replicas),
                        list(there.isr),
                        [],
                        [],
                        [],
                        [],
                    ),
                    now,
                    cause,
                )
            leader = next(broker for broker in brokers if broker.node_id == there.leader)
            found = leader.cluster.partition(saved.name, there.index)
            assert found is not None
            found.log.adopt(one.log)
            found.log.assign_epoch(found.leader_epoch)
            if leader.replication is not None:
                leader.replication.mark(saved.name, there.index)
    if brokers[0].replication is not None:
        brokers[0].replication.run(now, whole=True)


def _put_transactions(
    brokers: list[Broker], snapshot: Snapshot, now: int, cause: int | None
) -> None:
    """Restore each transactional id at the broker that coordinates it. Producer ids that the
    snapshot contains are not assigned again."""
    for broker in brokers:
        broker.services.producer_ids.skip(snapshot.highest_producer_id)
    if (
        snapshot.transactions and TRANSACTION_STATE not in brokers[0].cluster.topics
    ):  # whoever asks for a coordinator has it made
        ask(
            brokers[0],
            FindCoordinatorRequest(key_type=1, coordinator_keys=list(snapshot.transactions)),
            FindCoordinatorResponse,
            now,
        )
    for broker in brokers:
        transactions = broker.services.transactions
        for name, events in snapshot.transactions.items():
            if not transactions.availability(name):
                begun = [
                    event if isinstance(event, _TIMELESS) else event._replace(started_ms=now)
                    for event in events
                ]
                transactions.take_over(transactions.coordinator.put_back(name, begun, now, cause))


def _from_now(event: Event, later_ms: int) -> Event:
    """Return a group's event moved in time: offsets with a retention time of their own
    keep the rest of it."""
    if not isinstance(event, OffsetsCommitted | OffsetsPending):
        return event

    def later(one: CommittedOffset) -> CommittedOffset:
        return one if one.expire_ms is None else one._replace(expire_ms=one.expire_ms + later_ms)

    return event._replace(offsets=tuple(map(later, event.offsets)))
