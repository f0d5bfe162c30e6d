"""ListOffsets (key 2)."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, int16, int32, int64, int8, string

KEY = 2


class ListOffsetsPartition(Struct):
    partition_index: int = int32(default=0)
    current_leader_epoch: int = int32(since=4, default=-1)
    timestamp: int = int64(default=0)


class ListOffsetsTopic(Struct):
    name: str = string(default="")
    partitions: list[ListOffsetsPartition] = array(ListOffsetsPartition, default=())


class ListOffsetsRequest(Request, key=KEY, versions=(1, 11), flexible=6):
    replica_id: int = int32(default=0)
    isolation_level: int = int8(since=2, default=0)
    topics: list[ListOffsetsTopic] = array(ListOffsetsTopic, default=())
    timeout_ms: int = int32(since=10, default=0)


class ListOffsetsPartitionResponse(Struct):
    partition_index: int = int32(default=0)
    error_code: int = int16(default=0)
    timestamp: int = int64(default=-1)
    offset: int = int64(default=-1)
    leader_epoch: int = int32(since=4, default=-1)


class ListOffsetsTopicResponse(Struct):
    name: str = string(default="")
    partitions: list[ListOffsetsPartitionResponse] = array(ListOffsetsPartitionResponse, default=())


class ListOffsetsResponse(Response, key=KEY, versions=(1, 11), flexible=6):
    throttle_time_ms: int = int32(since=2, default=0)
    topics: list[ListOffsetsTopicResponse] = array(ListOffsetsTopicResponse, default=())
