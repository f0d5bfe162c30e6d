"""Moves of partitions while the sticky assignor balances, so that a later move can undo an earlier
one instead of adding to it.

Owns PartitionMovements of Java's AbstractStickyAssignor (STK-23). Of several candidates Java
takes the first of a HashSet. Does not depend on the reason of a move.
"""

from __future__ import annotations

from assignors.java_hashing import capacity_of, partition_hash, spread
from assignors.sticky.numbers import Numbers

Pair = tuple[int, int]


class _MovedSet:
    """A HashSet of partitions of one topic: it grows, never shrinks, and is removed when it is
    empty.
    """

    __slots__ = ("numbers", "peak")

    def __init__(self) -> None:
        self.numbers: dict[int, None] = {}
        self.peak = 0

    def add(self, partition: int) -> None:
        self.numbers[partition] = None
        self.peak = max(self.peak, len(self.numbers))


class Movements:
    """The moves of one assignment. Members and partitions are numbers."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers
        self._pair_of: dict[int, Pair] = {}
        self._sets: dict[tuple[int, int, int], _MovedSet] = {}

    def instead_of(self, partition: int, topic: int, source: int, target: int) -> int:
        """Return the partition to move instead of this one: one of the topic that moved in the
        opposite direction, or this one.
        """
        if moved := self._pair_of.get(partition):
            source = moved[0]
        other_way = self._sets.get((topic, target, source))
        return partition if other_way is None else self._first(other_way, topic)

    def record(self, partition: int, topic: int, source: int, target: int) -> None:
        """Record a move. A partition that is back at its source counts as not moved."""
        if moved := self._pair_of.pop(partition, None):
            before = self._sets[topic, *moved]
            del before.numbers[partition]
            if not before.numbers:
                del self._sets[topic, *moved]
            source = moved[0]
            if source == target:
                return
        self._pair_of[partition] = source, target
        self._sets.setdefault((topic, source, target), _MovedSet()).add(partition)

    def _first(self, moved: _MovedSet, topic: int) -> int:
        if len(moved.numbers) == 1:
            return next(iter(moved.numbers))
        name, base, mask = (
            self._numbers.topics[topic],
            self._numbers.bases[topic],
            capacity_of(moved.peak) - 1,
        )
        return min(
            moved.numbers, key=lambda number: spread(partition_hash(name, number - base)) & mask
        )
