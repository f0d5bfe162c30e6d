"""Replay of the event log of several brokers: the cluster, the groups that each broker served, and
their transactional ids.

Owns the rule how events of several coordinators combine: a durable event belongs to its
partition, whichever broker wrote it, until a LogTruncated says that a later leader did not have
it; a broker that loads a partition folds the events that remain. Does not know how the log was
written.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, get_args

from coordinator.core.group_coordinator import GroupCoordinator
from coordinator.core.groups.config import GroupConfig
from coordinator.core.shards.durable import DurableEvents
from coordinator.core.shards.replay import refold
from coordinator.core.transactions.evolve import evolve as evolve_transaction
from coordinator.core.transactions.model import Transaction
from coordinator.events import groups as ev
from coordinator.events.availability import (
    OF_SHARE_STATES,
    LogTruncated,
    PartitionsEmptied,
    PartitionsLoading,
)
from coordinator.events.clocks import Clocks
from coordinator.events.cluster import Event as ClusterEvent
from coordinator.events.line import Line
from coordinator.events.transactions import FORGETTING
from coordinator.events.transactions import Event as TransactionEvent
from coordinator.verbs.brokers import JumpClock

from ..cluster import Cluster
from ..cluster.evolve import evolve as evolve_cluster
from ..settings.broker_configs import BrokerConfigs

_OF_CLUSTER = frozenset(get_args(ClusterEvent))


def _broker(line: Line) -> int:
    assert line.broker is not None, f"{line}: of several brokers each line names its own"
    return line.broker


class _Row(NamedTuple):
    seq: int
    at_ms: int
    group: str
    event: ev.Event


class ReplayedBrokers:
    """State after the lines of a log of several brokers. `configs`: the configuration of any of
    them; `config`: that of groups.
    """

    def __init__(self, lines: Iterable[Line], configs: BrokerConfigs, config: GroupConfig) -> None:
        self.cluster = Cluster(cluster_id="", controller_id=1, brokers=(), configs=configs)
        self.coordinators: dict[int, GroupCoordinator] = {}
        self._configs = configs
        self._config = config
        self._rows: dict[int, list[_Row]] = {}
        self._transactions: list[tuple[int, int, TransactionEvent]] = []
        self._lost: set[int] = set()
        self._clocks = Clocks()
        self._stores: dict[tuple[int, int], DurableEvents] = {}
        for line in lines:
            self._fold(line)

    def transactions(self) -> dict[str, Transaction]:
        """Return the transactional ids after all events that were not truncated."""
        found: dict[str, Transaction] = {}
        for seq, at_ms, event in self._transactions:
            if seq in self._lost:
                continue
            name = event.transactional_id
            evolve_transaction(found.setdefault(name, Transaction(name)), event, at_ms)
            if isinstance(event, FORGETTING):
                del found[name]
        return found

    # -- one line

    def _fold(self, line: Line) -> None:
        match line.stream:
            case "cluster" if line.kind in _OF_CLUSTER:
                evolve_cluster(self.cluster, line.event)
            case "transaction":
                self._transactions.append((line.seq, line.at_ms, line.event))
            case "coordinator":
                self._coordinate(line)
            case "group":
                self._group(line)
            case "fault" if line.kind is JumpClock:
                self._clocks.jump(line.event)

    def _group(self, line: Line) -> None:
        coordinator, event, group_id = self._of(_broker(line)), line.event, line.group
        assert group_id is not None, f"{line}: an event of a group names it"
        index, at_ms = coordinator.partition_for(group_id), self._clocks.instant(line)
        if line.kind in ev.DURABLE:
            self._rows.setdefault(index, []).append(_Row(line.seq, at_ms, group_id, event))
        served = not coordinator.availability.error(index)
        refold(coordinator.partition_shard(index), at_ms, group_id, event, served=served)

    def _coordinate(self, line: Line) -> None:
        node, event = _broker(line), line.event
        if isinstance(event, OF_SHARE_STATES):
            return
        coordinator = self._of(node)
        coordinator.availability.evolve(event)
        match event:
            case LogTruncated():
                self._lost = (self._lost | set(event.lost)) - set(event.restored)
            case PartitionsEmptied():
                for index in event.partitions:
                    self._rows.pop(index, None)
                    coordinator.partition_shard(index).durable.clear()
            case PartitionsLoading():
                for index in event.partitions:
                    store = self._store(node, index)
                    store.clear()
                    for row in self._rows.get(index, ()):
                        if row.seq not in self._lost:
                            store.append(row.at_ms, row.group, row.event)

    def _of(self, node: int) -> GroupCoordinator:
        if node not in self.coordinators:
            coordinator = self.coordinators[node] = GroupCoordinator(self._config)
            coordinator.share(lambda index: self._store(node, index))
        return self.coordinators[node]

    def _store(self, node: int, index: int) -> DurableEvents:
        return self._stores.setdefault((node, index), DurableEvents())
