"""AlterShareGroupOffsets (key 91)."""

from __future__ import annotations

from ..schema import ZERO_UUID, Request, Response, Struct, array, int16, int32, int64, string, uuid

KEY = 91


class AlterShareGroupOffsetsRequestPartition(Struct):
    partition_index: int = int32(default=0)
    start_offset: int = int64(default=0)


class AlterShareGroupOffsetsRequestTopic(Struct):
    topic_name: str = string(default="")
    partitions: list[AlterShareGroupOffsetsRequestPartition] = array(
        AlterShareGroupOffsetsRequestPartition, default=()
    )


class AlterShareGroupOffsetsRequest(Request, key=KEY, versions=(0, 0), flexible=0):
    group_id: str = string(default="")
    topics: list[AlterShareGroupOffsetsRequestTopic] = array(
        AlterShareGroupOffsetsRequestTopic, default=()
    )


class AlterShareGroupOffsetsResponsePartition(Struct):
    partition_index: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)


class AlterShareGroupOffsetsResponseTopic(Struct):
    topic_name: str = string(default="")
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[AlterShareGroupOffsetsResponsePartition] = array(
        AlterShareGroupOffsetsResponsePartition, default=()
    )


class AlterShareGroupOffsetsResponse(Response, key=KEY, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)
    responses: list[AlterShareGroupOffsetsResponseTopic] = array(
        AlterShareGroupOffsetsResponseTopic, default=()
    )
