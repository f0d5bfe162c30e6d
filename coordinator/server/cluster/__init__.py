"""Topics, partitions, logs, placement and configuration: what a broker has apart from its groups.

Pure: no clock, no chance of its own, no sockets. `model` is the cluster itself; `configs` and
`topic_configs` hold Kafka's configuration tables and validators; `placement` chooses replicas.
"""

from __future__ import annotations

from .model import CONSUMER_OFFSETS, BrokerNode, Cluster, Partition, Topic

__all__ = ["CONSUMER_OFFSETS", "BrokerNode", "Cluster", "Partition", "Topic"]
