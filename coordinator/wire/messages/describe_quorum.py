"""DescribeQuorum (key 55)."""

from __future__ import annotations

from ..schema import (
    ZERO_UUID,
    Request,
    Response,
    Struct,
    array,
    int16,
    int32,
    int64,
    string,
    uint16,
    uuid,
)

KEY = 55


class DescribeQuorumRequestPartitionData(Struct):
    partition_index: int = int32(default=0)


class DescribeQuorumRequestTopicData(Struct):
    topic_name: str = string(default="")
    partitions: list[DescribeQuorumRequestPartitionData] = array(
        DescribeQuorumRequestPartitionData, default=()
    )


class DescribeQuorumRequest(Request, key=KEY, versions=(0, 2), flexible=0):
    topics: list[DescribeQuorumRequestTopicData] = array(DescribeQuorumRequestTopicData, default=())


class ReplicaState(Struct):
    replica_id: int = int32(default=0)
    replica_directory_id: bytes = uuid(since=2, default=ZERO_UUID)
    log_end_offset: int = int64(default=0)
    last_fetch_timestamp: int = int64(since=1, default=-1)
    last_caught_up_timestamp: int = int64(since=1, default=-1)


class DescribeQuorumResponsePartitionData(Struct):
    partition_index: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(since=2, nullable=2, default="")
    leader_id: int = int32(default=0)
    leader_epoch: int = int32(default=0)
    high_watermark: int = int64(default=0)
    current_voters: list[ReplicaState] = array(ReplicaState, default=())
    observers: list[ReplicaState] = array(ReplicaState, default=())


class DescribeQuorumResponseTopicData(Struct):
    topic_name: str = string(default="")
    partitions: list[DescribeQuorumResponsePartitionData] = array(
        DescribeQuorumResponsePartitionData, default=()
    )


class Listener(Struct):
    name: str = string(since=2, default="")
    host: str = string(since=2, default="")
    port: int = uint16(since=2, default=0)


class Node(Struct):
    node_id: int = int32(since=2, default=0)
    listeners: list[Listener] = array(Listener, since=2, default=())


class DescribeQuorumResponse(Response, key=KEY, versions=(0, 2), flexible=0):
    error_code: int = int16(default=0)
    error_message: str | None = string(since=2, nullable=2, default="")
    topics: list[DescribeQuorumResponseTopicData] = array(
        DescribeQuorumResponseTopicData, default=()
    )
    nodes: list[Node] = array(Node, since=2, default=())
