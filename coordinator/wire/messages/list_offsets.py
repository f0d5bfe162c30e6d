"""ListOffsets (key 2): the offset of a timestamp, or of a special place in the log.

Specials: -1 latest, -2 earliest, from 7 on -3 greatest timestamp (KIP-734), 8: -4 earliest local
(KIP-405), 9: -5 latest tiered (KIP-1005), 11: -6 earliest pending upload (KIP-1023). 2: isolation
level. 4: leader epochs (KIP-320). 6: flexible. 10: a timeout for asking remote storage (KIP-1075).
"""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, int16, int32, int64, int8, string

KEY = 2


class ListOffsetsPartition(Struct):
    partition_index: int = int32(default=0)
    current_leader_epoch: int = int32(since=4, default=-1)
    timestamp: int = int64(default=0)
    max_num_offsets: int = int32(until=0, default=1)


class ListOffsetsTopic(Struct):
    name: str = string(default="")
    partitions: list[ListOffsetsPartition] = array(ListOffsetsPartition, default=())


class ListOffsetsRequest(Request, key=KEY, versions=(0, 11), flexible=6):
    replica_id: int = int32(default=0)
    isolation_level: int = int8(since=2, default=0)
    topics: list[ListOffsetsTopic] = array(ListOffsetsTopic, default=())
    timeout_ms: int = int32(since=10, default=0)


class ListOffsetsPartitionResponse(Struct):
    partition_index: int = int32(default=0)
    error_code: int = int16(default=0)
    old_style_offsets: list[int] = array(int64, until=0, default=())
    timestamp: int = int64(since=1, default=-1)
    offset: int = int64(since=1, default=-1)
    leader_epoch: int = int32(since=4, default=-1)


class ListOffsetsTopicResponse(Struct):
    name: str = string(default="")
    partitions: list[ListOffsetsPartitionResponse] = array(ListOffsetsPartitionResponse, default=())


class ListOffsetsResponse(Response, key=KEY, versions=(0, 11), flexible=6):
    throttle_time_ms: int = int32(since=2, default=0)
    topics: list[ListOffsetsTopicResponse] = array(ListOffsetsTopicResponse, default=())
