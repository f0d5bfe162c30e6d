"""The stream `share` of a log, replayed: what share groups had in flight at each leader, and what each
share coordinator kept.

Owns how the lines follow from each other: what is in flight belongs to the broker that wrote it. What
is kept belongs to the partition of `__share_group_state`, whoever wrote it, until a LogTruncated says
that a later leader had it not; a broker that loads a partition folds what counts then. Does not
depend on groups.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from coordinator.core.share_partitions.evolve import evolve
from coordinator.core.share_partitions.model import SharePartition, SharePartitionKey
from coordinator.core.share_states.evolve import evolve as evolve_state
from coordinator.core.share_states.model import ShareState, ShareStateKey
from coordinator.events import share_partitions as ev
from coordinator.events import share_states as sev
from coordinator.events.availability import (
    LogTruncated,
    ShareStatesEmptied,
    ShareStatesLoading,
    ShareStatesUnloaded,
)
from coordinator.events.line import Line
from coordinator.server.cluster.internal_topics import partition_for
from coordinator.server.cluster.model import SHARE_GROUP_STATE

if TYPE_CHECKING:
    from coordinator.events.availability import AvailabilityEvent
    from coordinator.server.settings.broker_configs import BrokerConfigs

StateEvent = sev.ShareStateSnapshotted | sev.ShareStateUpdated | sev.ShareStateDeleted


class _Row(NamedTuple):
    seq: int
    key: ShareStateKey
    event: StateEvent


class ReplayedShares:
    """What the lines lead to. `open_ones` and `states`: by broker, 0 where there is only one.
    `configs`: any broker's, where there are several."""

    def __init__(self, lines: Iterable[Line] = (), configs: BrokerConfigs | None = None) -> None:
        self.open_ones: dict[int, dict[SharePartitionKey, SharePartition]] = {}
        self.states: dict[int, dict[ShareStateKey, ShareState]] = {}
        self._configs = configs
        self._rows: dict[int, list[_Row]] = {}
        """What stands in each partition of `__share_group_state`."""
        self._lost: set[int] = set()
        for line in lines:
            broker = line.broker or 0
            if line.stream == "share":
                assert line.group is not None
                assert line.topic is not None
                assert line.partition is not None
                key = SharePartitionKey(line.group, line.topic, line.partition)
                self.fold(broker, key, line.event, line.seq)
            elif line.stream == "coordinator":
                self._coordinate(broker, line.event)

    def fold(
        self, broker: int, key: SharePartitionKey, event: ev.Event | sev.Event, seq: int = -1
    ) -> None:
        """One event, of a broker; `seq`: its number."""
        if isinstance(event, StateEvent):
            at = ShareStateKey(key.group_id, event.topic_id, key.partition)
            if self._configs is not None:
                self._rows.setdefault(self._index(at), []).append(_Row(seq, at, event))
            _fold(self.states.setdefault(broker, {}), at, event)
            return
        open_ones = self.open_ones.setdefault(broker, {})
        if isinstance(event, ev.SharePartitionOpened):
            open_ones[key] = SharePartition(key, event.topic_id)
        evolve(open_ones[key], event)
        if isinstance(event, ev.SharePartitionClosed):
            del open_ones[key]

    def _coordinate(self, broker: int, event: AvailabilityEvent) -> None:
        match event:
            case LogTruncated():
                self._lost = (self._lost | set(event.lost)) - set(event.restored)
            case ShareStatesUnloaded():
                self._forget(broker, event.partitions)
            case ShareStatesEmptied():
                self._forget(broker, event.partitions)
                for index in event.partitions:
                    self._rows.pop(index, None)
            case ShareStatesLoading():
                states = self.states.setdefault(broker, {})
                for index in event.partitions:
                    for row in self._rows.get(index, ()):
                        if row.seq not in self._lost:
                            _fold(states, row.key, row.event)

    def _forget(self, broker: int, partitions: tuple[int, ...]) -> None:
        states = self.states.get(broker, {})
        for key in [key for key in states if self._index(key) in partitions]:
            del states[key]

    def _index(self, key: ShareStateKey) -> int:
        if self._configs is None:
            return 0
        return partition_for(self._configs, SHARE_GROUP_STATE, key.for_coordinator)


def _fold(states: dict[ShareStateKey, ShareState], key: ShareStateKey, event: StateEvent) -> None:
    if isinstance(event, sev.ShareStateDeleted):
        states.pop(key, None)
    else:
        evolve_state(states.setdefault(key, ShareState()), event)
