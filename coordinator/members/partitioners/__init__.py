"""Partitioners of the Java producer, exactly, as pure values and small state machines: which
partition a record is written to.

Explicit partitions, murmur2 for keys (PART-1, PART-2), the counter before 2.4 and
RoundRobinPartitioner (PART-3, PART-4), the sticky partitioner of KIP-480 (PART-5), the adaptive
one of KIP-794 (PART-6). Randomness comes as a callable; the state of the topic comes with each
call. Does not know producers, batches, the wire or brokers. Begin with `topic.py`.
"""

from __future__ import annotations

from .adaptive import AdaptivePartitioner, load_table
from .murmur2 import murmur2, partition_for_key
from .round_robin import CounterPartitioner, RoundRobinPartitioner
from .sticky import StickyPartitioner, UniformStickyPartitioner
from .topic import Partitioner, Random, TopicView, explicit_partition

__all__ = [
    "AdaptivePartitioner",
    "CounterPartitioner",
    "Partitioner",
    "Random",
    "RoundRobinPartitioner",
    "StickyPartitioner",
    "TopicView",
    "UniformStickyPartitioner",
    "explicit_partition",
    "load_table",
    "murmur2",
    "partition_for_key",
]
