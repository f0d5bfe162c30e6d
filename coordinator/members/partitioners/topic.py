"""A partitioner's view of a topic, what it is asked, and the case that needs no partitioner.

Owns: TopicView, the Partitioner protocol, the meaning of Random, explicit partitions.
Does not depend on any particular partitioner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

Random = Callable[[], int]
"""Chance, told from outside: each call gives the next int, 0 <= n < 2**31, as Java's
toPositive(nextInt()) does."""


class TopicView(NamedTuple):
    """A topic as the producer's metadata shows it: the number of partitions, and which of them have
    a leader."""

    name: str
    partitions: int
    available: Sequence[int]

    @classmethod
    def all_available(cls, name: str, partitions: int) -> TopicView:
        """A healthy topic."""
        return cls(name, partitions, range(partitions))

    def pick(self, number: int) -> int:
        """The partition that `number` (not negative) lands on: among the available ones, or all
        when none is."""
        if self.available:
            return self.available[number % len(self.available)]
        return number % self.partitions


class Partitioner(Protocol):
    """The Java producer's plug-in point."""

    def partition(self, topic: TopicView, key: bytes | None) -> int:
        """The partition for the next record; `key` is serialised, None when the record has none."""
        ...

    def on_new_batch(self, topic: TopicView, previous: int) -> None:
        """A record would open a new batch in partition `previous` (KIP-480). The producer asks
        `partition` again afterwards."""
        ...


def explicit_partition(partition: int, partitions: int) -> int:
    """The partition that the record itself names; no partitioner is asked.

    Raises ValueError for a negative number, and for one the topic does not have (the Java producer
    waits for metadata that has it, until max.block.ms).
    """
    if not 0 <= partition < partitions:
        raise ValueError(f"partition {partition}: the topic has 0 to {partitions - 1}")
    return partition
