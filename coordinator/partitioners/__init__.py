"""Which partition a record goes to: the Java producer's partitioners, exactly, as pure values and
small state machines.

Owns: explicit partitions, murmur2 for keys (PART-1, PART-2), the counter before 2.4 and
RoundRobinPartitioner (PART-3, PART-4), the sticky partitioner of KIP-480 (PART-5), the adaptive one
of KIP-794 (PART-6). Rules: chance comes from outside as a callable; the state of the topic comes
with each call; nothing is ever looked up. Does not depend on producers, batches, the wire, brokers.
"""

from __future__ import annotations

from coordinator.partitioners.adaptive import AdaptivePartitioner, load_table
from coordinator.partitioners.murmur2 import murmur2, partition_for_key
from coordinator.partitioners.round_robin import CounterPartitioner, RoundRobinPartitioner
from coordinator.partitioners.sticky import StickyPartitioner, UniformStickyPartitioner
from coordinator.partitioners.topic import Partitioner, Random, TopicView, explicit_partition

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
