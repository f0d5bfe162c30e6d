"""Vote (key 52)."""

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
    int64,
    string,
    uint16,
    uuid,
)

KEY = 52


class VoteRequestPartitionData(Struct):
    partition_index: int = int32(default=0)
    replica_epoch: int = int32(default=0)
    replica_id: int = int32(default=0)
    replica_directory_id: bytes = uuid(since=1, default=ZERO_UUID)
    voter_directory_id: bytes = uuid(since=1, default=ZERO_UUID)
    last_offset_epoch: int = int32(default=0)
    last_offset: int = int64(default=0)
    pre_vote: bool = boolean(since=2, default=False)


class VoteRequestTopicData(Struct):
    topic_name: str = string(default="")
    partitions: list[VoteRequestPartitionData] = array(VoteRequestPartitionData, default=())


class VoteRequest(Request, key=KEY, versions=(0, 2), flexible=0):
    cluster_id: str | None = string(nullable=0, default=None)
    voter_id: int = int32(since=1, default=-1)
    topics: list[VoteRequestTopicData] = array(VoteRequestTopicData, default=())


class VoteResponsePartitionData(Struct):
    partition_index: int = int32(default=0)
    error_code: int = int16(default=0)
    leader_id: int = int32(default=0)
    leader_epoch: int = int32(default=0)
    vote_granted: bool = boolean(default=False)


class VoteResponseTopicData(Struct):
    topic_name: str = string(default="")
    partitions: list[VoteResponsePartitionData] = array(VoteResponsePartitionData, default=())


class NodeEndpoint(Struct):
    node_id: int = int32(since=1, default=0)
    host: str = string(since=1, default="")
    port: int = uint16(since=1, default=0)


class VoteResponse(Response, key=KEY, versions=(0, 2), flexible=0):
    error_code: int = int16(default=0)
    topics: list[VoteResponseTopicData] = array(VoteResponseTopicData, default=())
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, since=1, tag=0, default=())
