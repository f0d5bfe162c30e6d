"""AssignReplicasToDirs (key 73)."""

from __future__ import annotations

from ..schema import ZERO_UUID, Request, Response, Struct, array, int16, int32, int64, uuid

KEY = 73


class AssignReplicasToDirsRequestPartitionData(Struct):
    partition_index: int = int32(default=0)


class AssignReplicasToDirsRequestTopicData(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[AssignReplicasToDirsRequestPartitionData] = array(
        AssignReplicasToDirsRequestPartitionData, default=()
    )


class AssignReplicasToDirsRequestDirectoryData(Struct):
    id: bytes = uuid(default=ZERO_UUID)
    topics: list[AssignReplicasToDirsRequestTopicData] = array(
        AssignReplicasToDirsRequestTopicData, default=()
    )


class AssignReplicasToDirsRequest(Request, key=KEY, versions=(0, 0), flexible=0):
    broker_id: int = int32(default=0)
    broker_epoch: int = int64(default=-1)
    directories: list[AssignReplicasToDirsRequestDirectoryData] = array(
        AssignReplicasToDirsRequestDirectoryData, default=()
    )


class AssignReplicasToDirsResponsePartitionData(Struct):
    partition_index: int = int32(default=0)
    error_code: int = int16(default=0)


class AssignReplicasToDirsResponseTopicData(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[AssignReplicasToDirsResponsePartitionData] = array(
        AssignReplicasToDirsResponsePartitionData, default=()
    )


class AssignReplicasToDirsResponseDirectoryData(Struct):
    id: bytes = uuid(default=ZERO_UUID)
    topics: list[AssignReplicasToDirsResponseTopicData] = array(
        AssignReplicasToDirsResponseTopicData, default=()
    )


class AssignReplicasToDirsResponse(Response, key=KEY, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    directories: list[AssignReplicasToDirsResponseDirectoryData] = array(
        AssignReplicasToDirsResponseDirectoryData, default=()
    )
