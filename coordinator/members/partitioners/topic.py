"""Interface of partitioners: their view of a topic, the calls they get, and explicit partitions,
which need no partitioner. Does not know any particular partitioner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

Random = Callable[[], int]
"""Chance, told from outside: each call gives the next int, 0 <= n < 2**31, as Java's
toPositive(nextInt()) does."""


class TopicView(NamedTuple):
    """A topic in the producer's metadata: the number of partitions, and those that have a leader."""

    name: str
    partitions: int
    available: Sequence[int]

    @classmethod
    def all_available(cls, name: str, partitions: int) -> TopicView:
        """Return a topic whose partitions all have a leader."""
        return cls(name, partitions, range(partitions))

    def pick(self, number: int) -> int:
        """Return the partition for a non-negative number: among the available ones, or all if none
        is.
        """
        if self.available:
            return self.available[number % len(self.available)]
        return number % self.partitions


class Partitioner(Protocol):
    """The Java producer's plug-in interface."""

    def partition(self, topic: TopicView, key: bytes | None) -> int:
        """Return the partition for the next record. `key`: serialised, None for a record without
        one.
        """
        ...

    def on_new_batch(self, topic: TopicView, previous: int) -> None:
        """Note that a record would start a new batch in partition `previous` (KIP-480). The
        producer calls `partition` again afterwards.
        """
        ...


def explicit_partition(partition: int, partitions: int) -> int:
    """Return the partition that the record itself names, without a partitioner. Raises ValueError
    for a negative number, and for one the topic does not have (the Java producer waits for
    metadata that has it, until max.block.ms).
    """
    if not 0 <= partition < partitions:
        raise ValueError(f"partition {partition}: the topic has 0 to {partitions - 1}")
    return partition
