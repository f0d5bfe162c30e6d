"""DescribeTopicPartitions (key 75): partitions of topics, page by page (KIP-966).

The cursor says where the next page starts; null at the end. Eligible leader replicas are null where
the feature is off.
"""

from __future__ import annotations

from ..schema import (
    ZERO_UUID,
    Request,
    Response,
    Struct,
    array,
    boolean,
    int16,
    int32,
    string,
    struct,
    uuid,
)

KEY = 75


class TopicRequest(Struct):
    name: str = string(default="")


class Cursor(Struct):
    topic_name: str = string(default="")
    partition_index: int = int32(default=0)


class DescribeTopicPartitionsRequest(Request, key=KEY, versions=(0, 0), flexible=0):
    topics: list[TopicRequest] = array(TopicRequest, default=())
    response_partition_limit: int = int32(default=2000)
    cursor: Cursor | None = struct(Cursor, nullable=0, default=None)


class DescribeTopicPartitionsResponsePartition(Struct):
    error_code: int = int16(default=0)
    partition_index: int = int32(default=0)
    leader_id: int = int32(default=0)
    leader_epoch: int = int32(default=-1)
    replica_nodes: list[int] = array(int32, default=())
    isr_nodes: list[int] = array(int32, default=())
    eligible_leader_replicas: list[int] | None = array(int32, nullable=0, default=None)
    last_known_elr: list[int] | None = array(int32, nullable=0, default=None)
    offline_replicas: list[int] = array(int32, default=())


class DescribeTopicPartitionsResponseTopic(Struct):
    error_code: int = int16(default=0)
    name: str | None = string(nullable=0, default="")
    topic_id: bytes = uuid(default=ZERO_UUID)
    is_internal: bool = boolean(default=False)
    partitions: list[DescribeTopicPartitionsResponsePartition] = array(
        DescribeTopicPartitionsResponsePartition, default=()
    )
    topic_authorized_operations: int = int32(default=-2147483648)


class DescribeTopicPartitionsResponse(Response, key=KEY, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    topics: list[DescribeTopicPartitionsResponseTopic] = array(
        DescribeTopicPartitionsResponseTopic, default=()
    )
    next_cursor: Cursor | None = struct(Cursor, nullable=0, default=None)
