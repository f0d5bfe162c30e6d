"""OffsetCommit (key 8): commit a group's offsets (VER-5).

2-4: retention time of this commit; removed in 5 (KIP-211). 6: leader epoch of the committed
offset (KIP-320). 7: group instance id (KIP-345). 8: flexible. 9: also for members of the
consumer protocol (KIP-848). 10: topic ids instead of names. 0 and 1 were removed in Kafka 4.0.
"""

from __future__ import annotations

from ..schema import ZERO_UUID, Request, Response, Struct, array, int16, int32, int64, string, uuid

KEY = 8


class OffsetCommitRequestPartition(Struct):
    partition_index: int = int32(default=0)
    committed_offset: int = int64(default=0)
    committed_leader_epoch: int = int32(since=6, default=-1)
    commit_timestamp: int = int64(since=1, until=1, default=-1)
    committed_metadata: str | None = string(nullable=0, default="")


class OffsetCommitRequestTopic(Struct):
    topic_id: bytes = uuid(since=10, default=ZERO_UUID)
    name: str = string(until=9, default="")
    partitions: list[OffsetCommitRequestPartition] = array(OffsetCommitRequestPartition, default=())


class OffsetCommitRequest(Request, key=KEY, versions=(0, 10), flexible=8):
    group_id: str = string(default="")
    generation_id_or_member_epoch: int = int32(since=1, default=-1)
    member_id: str = string(since=1, default="")
    group_instance_id: str | None = string(since=7, nullable=7, default=None)
    retention_time_ms: int = int64(since=2, until=4, default=-1)
    topics: list[OffsetCommitRequestTopic] = array(OffsetCommitRequestTopic, default=())


class OffsetCommitResponsePartition(Struct):
    partition_index: int = int32(default=0)
    error_code: int = int16(default=0)


class OffsetCommitResponseTopic(Struct):
    topic_id: bytes = uuid(since=10, default=ZERO_UUID)
    name: str = string(until=9, default="")
    partitions: list[OffsetCommitResponsePartition] = array(
        OffsetCommitResponsePartition, default=()
    )


class OffsetCommitResponse(Response, key=KEY, versions=(0, 10), flexible=8):
    throttle_time_ms: int = int32(since=3, default=0)
    topics: list[OffsetCommitResponseTopic] = array(OffsetCommitResponseTopic, default=())
