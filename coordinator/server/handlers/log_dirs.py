"""Handlers of the APIs about log directories, of which a broker has one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.log_dirs import (
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

from ..requests.call import by_element
from ..settings.broker_configs import VOLUME_TOTAL, VOLUME_USABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..broker import Broker
    from ..cluster import Partition
    from ..requests.call import Call, Sliced


_LONGEST_NAME = 255


def alter_replica_log_dirs(broker: Broker, call: Call) -> AlterReplicaLogDirsResponse:
    """Handle AlterReplicaLogDirs (key 34), v1-2: any directory but the only one is not found (57).

    Before that, Kafka checks that the folder name of the future copy is not too long for a file
    system; it is longer than the topic's (17). A partition named for several directories counts
    for the last.
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


def describe_log_dirs(broker: Broker, call: Call) -> Sliced:
    """Handle DescribeLogDirs (key 35), v1-5: v4 adds the volume's size, v5 whether the directory is
    cordoned.

    Logs are in memory; the one directory has Kafka's default name. The volume's size is constant
    (`log.dir.volume.total.bytes`, `log.dir.volume.usable.bytes`), a partition's size that of its
    batches. Partitions that this broker does not hold are left out.
    """
    request = call.message
    assert isinstance(request, DescribeLogDirsRequest)
    topics: dict[str, DescribeLogDirsTopic] = {}

    def one(asked: tuple[str, Partition | None], _: Call) -> None:
        name, partition = asked
        if partition is not None and broker.node_id in partition.replicas:
            row = topics.setdefault(name, DescribeLogDirsTopic(name=name))
            row.partitions.append(_partition(partition))

    def after(_: object) -> DescribeLogDirsResponse:
        volume = broker.configs.volume
        result = DescribeLogDirsResult(
            log_dir=LOG_DIR,
            topics=list(topics.values()),
            total_bytes=volume[VOLUME_TOTAL],
            usable_bytes=volume[VOLUME_USABLE],
        )
        return DescribeLogDirsResponse(results=[result])

    return by_element(call, _asked(broker, request), one, after)


def _asked(
    broker: Broker, request: DescribeLogDirsRequest
) -> Iterator[tuple[str, Partition | None]]:
    """Yield the requested partitions with their topics, each once; null topics mean all."""
    if request.topics is None:
        for topic in list(broker.cluster.topics.values()):
            for partition in topic.partitions:
                yield topic.name, partition
        return
    seen: set[tuple[str, int]] = set()
    for each in request.topics:
        for index in each.partitions:
            if (each.topic, index) not in seen:
                seen.add((each.topic, index))
                yield each.topic, broker.cluster.partition(each.topic, index)


def _partition(partition: Partition) -> DescribeLogDirsPartition:
    return DescribeLogDirsPartition(
        partition_index=partition.index, partition_size=partition.log.size
    )
