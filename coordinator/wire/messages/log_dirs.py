"""AlterReplicaLogDirs and DescribeLogDirs: the log directories of brokers."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, boolean, int16, int32, int64, string


class AlterReplicaLogDirTopic(Struct):
    name: str = string(default="")
    partitions: list[int] = array(int32, default=())


class AlterReplicaLogDir(Struct):
    path: str = string(default="")
    topics: list[AlterReplicaLogDirTopic] = array(AlterReplicaLogDirTopic, default=())


class AlterReplicaLogDirsRequest(Request, key=34, versions=(0, 2), flexible=2):
    """AlterReplicaLogDirs (key 34): move replicas to other log directories of their broker."""

    dirs: list[AlterReplicaLogDir] = array(AlterReplicaLogDir, default=())


class AlterReplicaLogDirPartitionResult(Struct):
    partition_index: int = int32(default=0)
    error_code: int = int16(default=0)


class AlterReplicaLogDirTopicResult(Struct):
    topic_name: str = string(default="")
    partitions: list[AlterReplicaLogDirPartitionResult] = array(
        AlterReplicaLogDirPartitionResult, default=()
    )


class AlterReplicaLogDirsResponse(Response, key=34, versions=(0, 2), flexible=2):
    throttle_time_ms: int = int32(default=0)
    results: list[AlterReplicaLogDirTopicResult] = array(AlterReplicaLogDirTopicResult, default=())


class DescribableLogDirTopic(Struct):
    topic: str = string(default="")
    partitions: list[int] = array(int32, default=())


class DescribeLogDirsRequest(Request, key=35, versions=(0, 5), flexible=2):
    """DescribeLogDirs (key 35): list a broker's log directories and the replicas in them."""

    topics: list[DescribableLogDirTopic] | None = array(
        DescribableLogDirTopic, nullable=0, default=()
    )


class DescribeLogDirsPartition(Struct):
    partition_index: int = int32(default=0)
    partition_size: int = int64(default=0)
    offset_lag: int = int64(default=0)
    is_future_key: bool = boolean(default=False)


class DescribeLogDirsTopic(Struct):
    name: str = string(default="")
    partitions: list[DescribeLogDirsPartition] = array(DescribeLogDirsPartition, default=())


class DescribeLogDirsResult(Struct):
    error_code: int = int16(default=0)
    log_dir: str = string(default="")
    topics: list[DescribeLogDirsTopic] = array(DescribeLogDirsTopic, default=())
    total_bytes: int = int64(since=4, default=-1)
    usable_bytes: int = int64(since=4, default=-1)
    is_cordoned: bool = boolean(since=5, default=False)


class DescribeLogDirsResponse(Response, key=35, versions=(0, 5), flexible=2):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(since=3, default=0)
    results: list[DescribeLogDirsResult] = array(DescribeLogDirsResult, default=())
