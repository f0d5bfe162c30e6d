"""Metadata of a cluster: topics, partitions, replica placement, configuration, the controller and
replication; everything a broker has apart from its groups.

Pure: no clock, no randomness of its own, no sockets. `model` is the cluster itself, `controller`
decides changes, `evolve` applies them, `replication` copies records, `placement` chooses
replicas. Begin with `model.py`.
"""

from __future__ import annotations

from .model import CONSUMER_OFFSETS, BrokerNode, Cluster, Partition, Topic

__all__ = ["CONSUMER_OFFSETS", "BrokerNode", "Cluster", "Partition", "Topic"]
