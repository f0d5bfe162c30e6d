"""Describe-, Alter- and DeleteShareGroupOffsets: the start offsets of share groups."""

from __future__ import annotations

from ..schema import Request, Response, Struct, ZERO_UUID, array, int16, int32, int64, string, uuid


class DescribeShareGroupOffsetsRequestTopic(Struct):
    topic_name: str = string(default="")
    partitions: list[int] = array(int32, default=())


class DescribeShareGroupOffsetsRequestGroup(Struct):
    group_id: str = string(default="")
    topics: list[DescribeShareGroupOffsetsRequestTopic] | None = array(
        DescribeShareGroupOffsetsRequestTopic, nullable=0, default=()
    )


class DescribeShareGroupOffsetsRequest(Request, key=90, versions=(0, 1), flexible=0):
    """DescribeShareGroupOffsets (key 90): list the start offsets of share groups."""

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


class DescribeShareGroupOffsetsResponse(Response, key=90, versions=(0, 1), flexible=0):
    throttle_time_ms: int = int32(default=0)
    groups: list[DescribeShareGroupOffsetsResponseGroup] = array(
        DescribeShareGroupOffsetsResponseGroup, default=()
    )


class AlterShareGroupOffsetsRequestPartition(Struct):
    partition_index: int = int32(default=0)
    start_offset: int = int64(default=0)


class AlterShareGroupOffsetsRequestTopic(Struct):
    topic_name: str = string(default="")
    partitions: list[AlterShareGroupOffsetsRequestPartition] = array(
        AlterShareGroupOffsetsRequestPartition, default=()
    )


class AlterShareGroupOffsetsRequest(Request, key=91, versions=(0, 0), flexible=0):
    """AlterShareGroupOffsets (key 91): set the start offsets of an empty share group."""

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


class AlterShareGroupOffsetsResponse(Response, key=91, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)
    responses: list[AlterShareGroupOffsetsResponseTopic] = array(
        AlterShareGroupOffsetsResponseTopic, default=()
    )


class DeleteShareGroupOffsetsRequestTopic(Struct):
    topic_name: str = string(default="")


class DeleteShareGroupOffsetsRequest(Request, key=92, versions=(0, 0), flexible=0):
    """DeleteShareGroupOffsets (key 92): delete the offsets of an empty share group in topics."""

    group_id: str = string(default="")
    topics: list[DeleteShareGroupOffsetsRequestTopic] = array(
        DeleteShareGroupOffsetsRequestTopic, default=()
    )


class DeleteShareGroupOffsetsResponseTopic(Struct):
    topic_name: str = string(default="")
    topic_id: bytes = uuid(default=ZERO_UUID)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)


class DeleteShareGroupOffsetsResponse(Response, key=92, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)
    responses: list[DeleteShareGroupOffsetsResponseTopic] = array(
        DeleteShareGroupOffsetsResponseTopic, default=()
    )
