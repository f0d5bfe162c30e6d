"""Mapping of groups, transactional ids and share partitions to partitions of the internal topics
(CFG-2).

The number of partitions is the configured one, read at start: Kafka's coordinators do not follow
the topic when CreatePartitions makes it grow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.java_hash import coordinator_partition

from .model import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE

if TYPE_CHECKING:
    from ..settings.broker_configs import BrokerConfigs

PARTITIONS_SETTING = {
    CONSUMER_OFFSETS: "offsets.topic.num.partitions",
    TRANSACTION_STATE: "transaction.state.log.num.partitions",
    SHARE_GROUP_STATE: "share.coordinator.state.topic.num.partitions",
}
OFFSETS_CONFIGS = {
    "cleanup.policy": "compact",
    "compression.type": "producer",
    "segment.bytes": "104857600",
}
"""The configuration of __consumer_offsets."""


def partition_for(configs: BrokerConfigs, topic: str, key: str) -> int:
    """Return the partition of an internal topic for a key: a group id in __consumer_offsets, a
    transactional id in __transaction_state, or a share partition in __share_group_state.
    """
    return coordinator_partition(key, configs.get_int(PARTITIONS_SETTING[topic]))
