"""Sticky partitioner of KIP-480, the default from 2.4 to 3.2.

Owns the current partition of each topic (PART-5). It changes only when the producer announces a
new batch for that partition; a late announcement for an older one changes nothing. Does not know
how full a batch is.
"""

from __future__ import annotations

from .murmur2 import partition_for_key
from .topic import Random, TopicView


class UniformStickyPartitioner:
    """Partitioner that sticks to one random available partition of a topic until a new batch
    begins; keys ignored (PART-5).
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self._current: dict[str, int] = {}

    def partition(self, topic: TopicView, key: bytes | None) -> int:
        """Return the partition that the topic sticks to."""
        current = self._current.get(topic.name)
        return self._choose(topic, None) if current is None else current

    def on_new_batch(self, topic: TopicView, previous: int) -> None:
        """Choose another partition, unless the topic has left `previous` already."""
        current = self._current.get(topic.name)
        if current is None or current == previous:
            self._choose(topic, current)

    def _choose(self, topic: TopicView, old: int | None) -> int:
        # With two or more to choose from, Java draws until the partition is another one.
        chosen = topic.available[0] if len(topic.available) == 1 else topic.pick(self._random())
        while chosen == old and len(topic.available) > 1:
            chosen = topic.pick(self._random())
        self._current[topic.name] = chosen
        return chosen


class StickyPartitioner(UniformStickyPartitioner):
    """The default partitioner of 2.4 to 3.2: keys hashed, all other records sticky (PART-2,
    PART-5).
    """

    def partition(self, topic: TopicView, key: bytes | None) -> int:
        """Return the key's partition, or the one that the topic sticks to."""
        if key is not None:
            return partition_for_key(key, topic.partitions)
        return super().partition(topic, key)
