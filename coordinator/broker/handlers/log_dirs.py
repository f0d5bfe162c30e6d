"""Directories of logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
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


_LONGEST_NAME = 255


def alter_replica_log_dirs(broker: Broker, call: Call) -> AlterReplicaLogDirsResponse:
    """AlterReplicaLogDirs (key 34), v1-2: there is one directory, in which everything lies already; any
    other is not found (57).

    Before that Kafka looks whether the folder of the copy would have a name that a file system takes;
    it is longer than the topic's (17).

    A partition named for several directories goes by the last.

    Answered at once, each partition by itself.
    """
    request = call.message
    assert isinstance(request, AlterReplicaLogDirsRequest)
    results: dict[str, dict[int, int]] = {}
    for directory in request.dirs:
        for topic in directory.topics:
            for index in topic.partitions:
                results.setdefault(topic.name, {})[index] = _code(
                    broker, directory.path, topic.name, index
                )
    return AlterReplicaLogDirsResponse(
        results=[
            AlterReplicaLogDirTopicResult(
                topic_name=name,
                partitions=[
                    AlterReplicaLogDirPartitionResult(partition_index=index, error_code=code)
                    for index, code in codes.items()
                ],
            )
            for name, codes in results.items()
        ]
    )


def _code(broker: Broker, path: str, topic: str, index: int) -> int:
    if len(f"{topic}-{index}.{'0' * 32}-future") > _LONGEST_NAME:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    if path != LOG_DIR:
        return ErrorCode.LOG_DIR_NOT_FOUND
    partition = broker.cluster.partition(topic, index)
    if partition is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return 0 if broker.node_id in partition.replicas else ErrorCode.REPLICA_NOT_AVAILABLE


LOG_DIR = "/tmp/kafka-logs"


"""Kafka's default of log.dir."""


def describe_log_dirs(broker: Broker, call: Call) -> DescribeLogDirsResponse:
    """DescribeLogDirs (key 35), v1-5: v4 adds the volume's size, v5 whether the directory is cordoned.

    Logs lie in memory: there is one directory by name, Kafka's default, the size of its volume is
    unknown (-1), and a partition's size is that of its batches. What this broker does not hold is left
    out.

    Answered at once.
    """
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
