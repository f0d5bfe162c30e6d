"""Counting partitioners: the default before 2.4 for records without a key, and
RoundRobinPartitioner.

Owns one counter for each topic (PART-3, PART-4), a Java int that wraps and whose sign bit is
cleared when used. Does not know batches: such a partitioner skips a partition whenever the
producer asks twice for one record, as KIP-480's producers do at each new batch.
"""

from __future__ import annotations

from .murmur2 import partition_for_key, to_positive
from .topic import Random, TopicView


class RoundRobinPartitioner:
    """`org.apache.kafka.clients.producer.RoundRobinPartitioner`: keys ignored, each topic counted
    from 0 (PART-4).
    """

    def __init__(self) -> None:
        self._counters: dict[str, int] = {}

    def partition(self, topic: TopicView, key: bytes | None) -> int:
        """Return the next partition in turn, among the available ones if there are any."""
        count = self._counters.get(topic.name)
        if count is None:
            count = self._start()
        self._counters[topic.name] = count + 1
        return topic.pick(to_positive(count))

    def on_new_batch(self, topic: TopicView, previous: int) -> None:
        """Do nothing; therefore the second question for a record skips a partition."""

    def _start(self) -> int:
        return 0


class CounterPartitioner(RoundRobinPartitioner):
    """The default partitioner before 2.4: keys hashed; without a key in turn, each topic from a
    random start (PART-3).
    """

    def __init__(self, random: Random) -> None:
        super().__init__()
        self._random = random

    def partition(self, topic: TopicView, key: bytes | None) -> int:
        """Return the key's partition, or the next in turn."""
        if key is not None:
            return partition_for_key(key, topic.partitions)
        return super().partition(topic, key)

    def _start(self) -> int:
        return self._random()
