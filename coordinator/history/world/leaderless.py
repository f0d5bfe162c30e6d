"""Topics' partitions that can be neither read nor written, because no live broker leads them.

A broker that stops without a controlled shutdown keeps its partitions until the controller
notices and elects other leaders: the log has the stop at once and the elections later. Until
then, and while a partition has no leader at all, its owner in a group gets no records from it.
Reads the log alone; a log without a cluster's topics has no such partition.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from coordinator.events.cluster import (
    BrokerRegistered,
    BrokerUnfenced,
    PartitionChanged,
    PartitionsAdded,
    TopicCreated,
    TopicDeleted,
)
from coordinator.events.line import Line
from coordinator.verbs.brokers import StartBroker, StopBroker

Key = tuple[str, int]
"""A partition: topic and number."""
NOBODY: Final = -1
_READ: Final = frozenset(
    {
        TopicCreated,
        TopicDeleted,
        PartitionsAdded,
        PartitionChanged,
        BrokerRegistered,
        BrokerUnfenced,
        StartBroker,
        StopBroker,
    }
)


class Leaderless:
    """The partitions without a live leader: call `see` for each line."""

    def __init__(self) -> None:
        self.now: set[Key] = set()
        self._leaders: dict[Key, int] = {}
        self._down: set[int] = set()

    def see(self, line: Line) -> set[Key]:
        """Read a line; return the partitions that lost their live leader by it, or have one
        again."""
        if line.kind not in _READ:
            return set()
        touched: set[Key] = set()
        match line.event:
            case TopicCreated(topic=topic, replicas=replicas):
                touched = self._place(topic, 0, replicas)
            case PartitionsAdded(topic=topic, first=first, replicas=replicas):
                touched = self._place(topic, first, replicas)
            case TopicDeleted(topic=topic):
                touched = {key for key in self._leaders if key[0] == topic}
                for key in touched:
                    del self._leaders[key]
            case PartitionChanged(topic=topic, partition=number, leader=leader):
                self._leaders[topic, number] = leader
                touched = {(topic, number)}
            case StopBroker(broker=broker):
                self._down.add(broker)
                touched = self._led_by(broker)
            case BrokerRegistered(broker=broker) | BrokerUnfenced(broker=broker):
                self._down.discard(broker)
                touched = self._led_by(broker)
            case StartBroker(broker=broker):
                self._down.discard(broker)
                touched = self._led_by(broker)
        without = {key for key in touched if self._has_none(key)}
        changed = (touched & self.now) ^ without
        self.now ^= changed
        return changed

    def _has_none(self, key: Key) -> bool:
        leader = self._leaders.get(key)
        return leader is not None and (leader == NOBODY or leader in self._down)

    def _led_by(self, broker: int) -> set[Key]:
        return {key for key, leader in self._leaders.items() if leader == broker}

    def _place(self, topic: str, first: int, replicas: Iterable[list[int]]) -> set[Key]:
        """Note the leaders of new partitions: the first replica of each."""
        placed = {(topic, number): all_[0] for number, all_ in enumerate(replicas, first) if all_}
        self._leaders |= placed
        return set(placed)
