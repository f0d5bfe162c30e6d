"""Built-in partitioner of KIP-794 (3.3 and later, `partitioner.class` unset): uniform by bytes,
adaptive by queue length.

Owns how long a topic sticks to a partition, and the odds of the next one (PART-6). A switch
needs batch.size bytes and permission, or twice batch.size; odds fall as a partition's queue
grows. Does not know why a partition is slow or unavailable: the accumulator leaves it out of the
queue sizes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate
from typing import NamedTuple

from .murmur2 import partition_for_key
from .topic import Random, TopicView


class LoadTable(NamedTuple):
    """Cumulative odds of the available partitions; `partitions[i]` has the weight `cumulative[i] -
    cumulative[i - 1]`.
    """

    partitions: tuple[int, ...]
    cumulative: tuple[int, ...]

    def pick(self, number: int) -> int:
        """Return the partition for a non-negative random number."""
        return self.partitions[bisect_right(self.cumulative, number % self.cumulative[-1])]


def load_table(queue_sizes: Mapping[int, int], partitions: int) -> LoadTable | None:
    """Return the odds for the number of waiting batches of each available partition, of a topic
    with `partitions` partitions (PART-6).

    The weight of a partition is the longest queue + 1 - its own queue. None means uniform odds:
    fewer than two partitions, none available, or all available with equal queues.
    """
    if partitions < 2 or not queue_sizes:
        return None
    sizes = queue_sizes.values()
    longest = max(sizes)
    if len(queue_sizes) == partitions and longest == min(sizes):
        return None
    return LoadTable(tuple(queue_sizes), tuple(accumulate(longest + 1 - size for size in sizes)))


class AdaptivePartitioner:
    """Partitioner of KIP-794. `batch_size`: the producer's batch.size in bytes (0 counts as 1); the
    flags are partitioner.ignore.keys and partitioner.adaptive.partitioning.enable.
    """

    def __init__(
        self,
        random: Random,
        batch_size: int = 16_384,
        *,
        ignore_keys: bool = False,
        adaptive: bool = True,
    ) -> None:
        self._random = random
        self._batch_size = max(1, batch_size)
        self._ignore_keys = ignore_keys
        self._adaptive = adaptive
        self._current: dict[str, int] = {}
        self._produced: dict[str, int] = {}
        self._tables: dict[str, LoadTable] = {}

    def partition(self, topic: TopicView, key: bytes | None) -> int:
        """Return the key's partition, or the one that the topic sticks to."""
        if key is not None and not self._ignore_keys:
            return partition_for_key(key, topic.partitions)
        current = self._current.get(topic.name)
        return self._next(topic) if current is None else current

    def on_new_batch(self, topic: TopicView, previous: int) -> None:
        """Do nothing: KIP-794 counts bytes, not batches."""

    def on_append(self, topic: TopicView, size: int, *, may_switch: bool) -> None:
        """Count `size` bytes for the current partition. `may_switch`: all of its batches are full
        or ready to be sent.
        """
        produced = self._produced.get(topic.name, 0) + size
        self._produced[topic.name] = produced
        if produced >= 2 * self._batch_size or (may_switch and produced >= self._batch_size):
            self._next(topic)

    def on_queue_sizes(self, topic: TopicView, queue_sizes: Mapping[int, int]) -> None:
        """Update the odds from the number of waiting batches, by available partition in the
        accumulator's order. The accumulator reports once every partition has had a batch.
        Ignored if not adaptive.
        """
        table = load_table(queue_sizes, topic.partitions) if self._adaptive else None
        if table is None:
            self._tables.pop(topic.name, None)
        else:
            self._tables[topic.name] = table

    def _next(self, topic: TopicView) -> int:
        number = self._random()
        table = self._tables.get(topic.name)
        chosen = topic.pick(number) if table is None else table.pick(number)
        self._current[topic.name] = chosen
        self._produced[topic.name] = 0
        return chosen
