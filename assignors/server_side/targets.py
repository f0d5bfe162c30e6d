"""One member's target while it is computed, which begins as its former assignment.

Owns when Java copies: an unchanged target keeps the order of the map that it came in; the first
change makes a copy, whose order is that of new tables (AssignorHelpers.deepCopyAssignment). Does
not depend on the reason of a change.
"""

from __future__ import annotations

from collections.abc import Mapping

from assignors.java_hash_table import HashTable
from assignors.java_hashing import DEFAULT_CAPACITY, int_hash, uuid_hash
from assignors.server_side.model import Owned


def unchanged(assignment: Owned) -> Mapping[bytes, tuple[int, ...]]:
    """Return an assignment as a target: the same object, if all its values are tuples."""
    for partitions in assignment.values():
        if type(partitions) is not tuple:
            return {topic: tuple(numbers) for topic, numbers in assignment.items()}
    return assignment  # type: ignore[return-value]  # all its values are tuples


class Target:
    """A member's target while it is computed."""

    __slots__ = ("_kept", "_order", "_sets")

    def __init__(self, assignment: Owned) -> None:
        self._kept = assignment
        self._order: HashTable[bytes] | None = None
        self._sets: dict[bytes, HashTable[int]] = {}

    def open(self) -> HashTable[bytes]:
        """Copy the former assignment, if that was not done yet; return its topics."""
        if self._order is None:
            self._order = HashTable(uuid_hash, len(self._kept))
            for topic, partitions in self._kept.items():
                self._order.put(topic)
                self._sets[topic] = HashTable.copy_of(partitions, int_hash)
        return self._order

    def drop(self, topic: bytes) -> None:
        """Remove a whole topic."""
        self.open().discard(topic)
        self._sets.pop(topic, None)

    def remove(self, topic: bytes, partition: int) -> None:
        """Remove a partition."""
        self.open()
        partitions = self._sets.get(topic)
        if partitions is not None:
            partitions.discard(partition)
            if not partitions:
                self.drop(topic)

    def add(self, topic: bytes, partition: int, initial: int = DEFAULT_CAPACITY) -> None:
        """Add a partition; the set of a new topic is made with capacity `initial`."""
        self.open().compute(topic)
        partitions = self._sets.get(topic)
        if partitions is None:
            partitions = self._sets[topic] = HashTable(int_hash, initial)
        partitions.put(partition)

    def result(self) -> Mapping[bytes, tuple[int, ...]]:
        """Return topics and partitions in Java's order; the former assignment itself, if it holds
        tuples and is unchanged.
        """
        if self._order is None:
            return unchanged(self._kept)
        return {topic: tuple(self._sets[topic]) for topic in self._order}
