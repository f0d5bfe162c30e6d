"""Mapping of groups and transactional ids to partitions of the internal topics, in one place for
everybody (CFG-2).

The number of partitions is that of the configuration at the start. Kafka's coordinators read it
once, when the broker starts, and do not follow the topic when CreatePartitions makes it grow. Both
settings are read-only in a running broker.
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
    """The partition of __consumer_offsets that holds the group `key`, of __transaction_state that
    holds the id `key`, or of __share_group_state that holds the share partition `key`."""
    return coordinator_partition(key, configs.get_int(PARTITIONS_SETTING[topic]))
