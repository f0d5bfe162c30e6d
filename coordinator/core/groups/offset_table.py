"""Committed offsets of a group, with the order in which Kafka lists them.

Kafka keeps them in its own hash tables (TimelineHashMap), one of topics and one of partitions
for each topic, and an OffsetFetch of all offsets walks these tables. The order follows from each
table's size and the order of insertion: a slot is the top bits of the key's hash times a
constant, a bucket is walked from its latest entry to its first, and a table doubles when an
entry is added at three quarters full. It never shrinks, but one that becomes empty is dropped.
"""

from __future__ import annotations

from typing import NamedTuple

from coordinator.base.java_hash import java_hash

_MULTIPLIER = -7046029254386353131
_SMALLEST = 2


class Offset(NamedTuple):
    """A committed offset. `committed_ms` and `expire_ms` are instants; `expire_ms` None: by the
    group's retention.
    """

    offset: int
    leader_epoch: int
    metadata: str
    committed_ms: int
    expire_ms: int | None


class Offsets(dict[tuple[str, int], Offset]):
    """Committed offsets by (topic, partition). Only `commit` and `forget` write it."""

    __slots__ = ("_slots", "_topic_slots")

    def __init__(self) -> None:
        super().__init__()
        self._topic_slots = _SMALLEST
        self._slots: dict[
            str, list[int]
        ] = {}  # topic -> [partitions in its table, slots of its table]

    def commit(self, topic: str, partition: int, offset: Offset) -> None:
        """Set a partition's offset."""
        table = self._slots.get(topic)
        if table is None:
            if (len(self._slots) + 1) * 3 > self._topic_slots * 4:
                self._topic_slots *= 2
            table = self._slots[topic] = [0, _SMALLEST]
        key, (partitions, slots) = (topic, partition), table
        if (partitions + 1) * 3 > slots * 4:
            table[1] = slots * 2
        if key not in self:
            table[0] = partitions + 1
        self[key] = offset

    def forget(self, key: tuple[str, int]) -> None:
        """Remove a partition's offset, if it has one."""
        if self.pop(key, None) is None:
            return
        table = self._slots[key[0]]
        table[0] -= 1
        if not table[0]:
            del self._slots[key[0]]
            if not self._slots:
                self._topic_slots = _SMALLEST

    def by_topic(self) -> dict[str, list[int]]:
        """Return topics and their partitions in Kafka's order (OF-3)."""
        latest_first: dict[str, list[int]] = {}
        for topic, partition in reversed(self):
            latest_first.setdefault(topic, []).append(partition)
        topics = list(self._slots)
        topics.reverse()
        topics.sort(key=lambda topic: _slot(_signed(java_hash(topic)), self._topic_slots))
        return {
            topic: sorted(latest_first[topic], key=lambda p: _slot(p, self._slots[topic][1]))
            for topic in topics
        }

    def __copy__(self) -> Offsets:
        other = Offsets()
        other.update(self)
        other._topic_slots = self._topic_slots
        other._slots = {topic: list(table) for topic, table in self._slots.items()}
        return other


def _signed(h: int) -> int:
    return h - 0x1_0000_0000 if h & 0x8000_0000 else h


def _slot(h: int, slots: int) -> int:
    return (h * _MULTIPLIER & 0xFFFF_FFFF_FFFF_FFFF) >> (65 - slots.bit_length())
