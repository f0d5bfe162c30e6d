"""The sticky partitioner of KIP-480, default from 2.4 to 3.2.

Owns: the current partition of each topic (PART-5). Rule: it changes only when the producer
announces a new batch for just that partition; late announcements for an older one change nothing.
Does not depend on how full a batch is.
"""

from __future__ import annotations

from .murmur2 import partition_for_key
from .topic import Random, TopicView


class UniformStickyPartitioner:
    """Sticks to one random available partition a topic until a new batch begins; keys ignored
    (PART-5)."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._current: dict[str, int] = {}

    def partition(self, topic: TopicView, key: bytes | None) -> int:
        """The partition stuck to at present."""
        current = self._current.get(topic.name)
        return self._choose(topic, None) if current is None else current

    def on_new_batch(self, topic: TopicView, previous: int) -> None:
        """Move on, unless the topic has moved on from `previous` already."""
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
    PART-5)."""

    def partition(self, topic: TopicView, key: bytes | None) -> int:
        """The key's partition, or the one stuck to."""
        if key is not None:
            return partition_for_key(key, topic.partitions)
        return super().partition(topic, key)
