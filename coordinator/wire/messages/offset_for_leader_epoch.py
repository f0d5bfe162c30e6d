"""OffsetForLeaderEpoch (key 23): the end offset of a leader epoch (KIP-101, KIP-320).

2: current leader epoch, throttle time. 3: replica id. 4: flexible. 0 and 1 were removed in Kafka
4.0.
"""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, int16, int32, int64, string

KEY = 23


class OffsetForLeaderPartition(Struct):
    partition: int = int32(default=0)
    current_leader_epoch: int = int32(since=2, default=-1)
    leader_epoch: int = int32(default=0)


class OffsetForLeaderTopic(Struct):
    topic: str = string(default="")
    partitions: list[OffsetForLeaderPartition] = array(OffsetForLeaderPartition, default=())


class OffsetForLeaderEpochRequest(Request, key=KEY, versions=(0, 4), flexible=4):
    replica_id: int = int32(since=3, default=-2)
    topics: list[OffsetForLeaderTopic] = array(OffsetForLeaderTopic, default=())


class EpochEndOffset(Struct):
    error_code: int = int16(default=0)
    partition: int = int32(default=0)
    leader_epoch: int = int32(since=1, default=-1)
    end_offset: int = int64(default=-1)


class OffsetForLeaderTopicResult(Struct):
    topic: str = string(default="")
    partitions: list[EpochEndOffset] = array(EpochEndOffset, default=())


class OffsetForLeaderEpochResponse(Response, key=KEY, versions=(0, 4), flexible=4):
    throttle_time_ms: int = int32(since=2, default=0)
    topics: list[OffsetForLeaderTopicResult] = array(OffsetForLeaderTopicResult, default=())
