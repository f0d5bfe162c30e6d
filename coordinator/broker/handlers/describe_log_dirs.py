"""DescribeLogDirs (key 35), v1-5: v4 adds the volume's size, v5 whether the directory is cordoned.

Logs lie in memory: there is one directory by name, Kafka's default, the size of its volume is
unknown (-1), and a partition's size is that of its batches. What this broker does not hold is left
out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire.messages.log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)

if TYPE_CHECKING:
    from ...cluster import Partition
    from ..call import Call
    from ..core import Broker

LOG_DIR = "/tmp/kafka-logs"
"""Kafka's default of log.dir."""


def handle(broker: Broker, call: Call) -> DescribeLogDirsResponse:
    """Answered at once."""
    request = call.message
    assert isinstance(request, DescribeLogDirsRequest)
    topics = [
        DescribeLogDirsTopic(
            name=name, partitions=[_partition(partition) for partition in partitions]
        )
        for name, partitions in _asked(broker, request).items()
    ]
    return DescribeLogDirsResponse(results=[DescribeLogDirsResult(log_dir=LOG_DIR, topics=topics)])


def _asked(broker: Broker, request: DescribeLogDirsRequest) -> dict[str, list[Partition]]:
    """The partitions meant, by topic, each once; null means all."""
    if request.topics is None:
        held = {
            topic.name: [
                partition for partition in topic.partitions if broker.node_id in partition.replicas
            ]
            for topic in broker.cluster.topics.values()
        }
        return {name: partitions for name, partitions in held.items() if partitions}
    wanted = dict.fromkeys(
        (each.topic, index) for each in request.topics for index in each.partitions
    )
    found: dict[str, list[Partition]] = {}
    for name, index in wanted:
        partition = broker.cluster.partition(name, index)
        if partition is not None and broker.node_id in partition.replicas:
            found.setdefault(name, []).append(partition)
    return found


def _partition(partition: Partition) -> DescribeLogDirsPartition:
    return DescribeLogDirsPartition(
        partition_index=partition.index, partition_size=partition.log.size
    )
