"""AlterReplicaLogDirs (key 34), v1-2: there is one directory, in which everything lies already; any
other is not found (57).

Before that Kafka looks whether the folder of the copy would have a name that a file system takes;
it is longer than the topic's (17).

A partition named for several directories goes by the last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from .describe_log_dirs import LOG_DIR

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker

_LONGEST_NAME = 255


def handle(broker: Broker, call: Call) -> AlterReplicaLogDirsResponse:
    """Answered at once, each partition by itself."""
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
