"""AlterReplicaLogDirs (key 34)."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, int16, int32, string

KEY = 34


class AlterReplicaLogDirTopic(Struct):
    name: str = string(default="")
    partitions: list[int] = array(int32, default=())


class AlterReplicaLogDir(Struct):
    path: str = string(default="")
    topics: list[AlterReplicaLogDirTopic] = array(AlterReplicaLogDirTopic, default=())


class AlterReplicaLogDirsRequest(Request, key=KEY, versions=(0, 2), flexible=2):
    dirs: list[AlterReplicaLogDir] = array(AlterReplicaLogDir, default=())


class AlterReplicaLogDirPartitionResult(Struct):
    partition_index: int = int32(default=0)
    error_code: int = int16(default=0)


class AlterReplicaLogDirTopicResult(Struct):
    topic_name: str = string(default="")
    partitions: list[AlterReplicaLogDirPartitionResult] = array(
        AlterReplicaLogDirPartitionResult, default=()
    )


class AlterReplicaLogDirsResponse(Response, key=KEY, versions=(0, 2), flexible=2):
    throttle_time_ms: int = int32(default=0)
    results: list[AlterReplicaLogDirTopicResult] = array(AlterReplicaLogDirTopicResult, default=())
