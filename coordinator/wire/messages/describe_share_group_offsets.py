"""DescribeShareGroupOffsets (key 90)."""

from __future__ import annotations

from ..schema import ZERO_UUID, Request, Response, Struct, array, int16, int32, int64, string, uuid

KEY = 90


class DescribeShareGroupOffsetsRequestTopic(Struct):
    topic_name: str = string(default="")
    partitions: list[int] = array(int32, default=())


class DescribeShareGroupOffsetsRequestGroup(Struct):
    group_id: str = string(default="")
    topics: list[DescribeShareGroupOffsetsRequestTopic] | None = array(
        DescribeShareGroupOffsetsRequestTopic, nullable=0, default=()
    )


class DescribeShareGroupOffsetsRequest(Request, key=KEY, versions=(0, 1), flexible=0):
    groups: list[DescribeShareGroupOffsetsRequestGroup] = array(
        DescribeShareGroupOffsetsRequestGroup, default=()
    )


class DescribeShareGroupOffsetsResponsePartition(Struct):
    partition_index: int = int32(default=0)
    start_offset: int = int64(default=0)
    leader_epoch: int = int32(default=0)
    lag: int = int64(since=1, default=-1)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)


class DescribeShareGroupOffsetsResponseTopic(Struct):
    topic_name: str = string(default="")
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[DescribeShareGroupOffsetsResponsePartition] = array(
        DescribeShareGroupOffsetsResponsePartition, default=()
    )


class DescribeShareGroupOffsetsResponseGroup(Struct):
    group_id: str = string(default="")
    topics: list[DescribeShareGroupOffsetsResponseTopic] = array(
        DescribeShareGroupOffsetsResponseTopic, default=()
    )
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)


class DescribeShareGroupOffsetsResponse(Response, key=KEY, versions=(0, 1), flexible=0):
    throttle_time_ms: int = int32(default=0)
    groups: list[DescribeShareGroupOffsetsResponseGroup] = array(
        DescribeShareGroupOffsetsResponseGroup, default=()
    )
