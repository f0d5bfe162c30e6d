"""BeginQuorumEpoch (key 53)."""

from __future__ import annotations

from ..schema import ZERO_UUID, Request, Response, Struct, array, int16, int32, string, uint16, uuid

KEY = 53


class BeginQuorumEpochRequestPartitionData(Struct):
    partition_index: int = int32(default=0)
    voter_directory_id: bytes = uuid(since=1, default=ZERO_UUID)
    leader_id: int = int32(default=0)
    leader_epoch: int = int32(default=0)


class BeginQuorumEpochRequestTopicData(Struct):
    topic_name: str = string(default="")
    partitions: list[BeginQuorumEpochRequestPartitionData] = array(
        BeginQuorumEpochRequestPartitionData, default=()
    )


class LeaderEndpoint(Struct):
    name: str = string(since=1, default="")
    host: str = string(since=1, default="")
    port: int = uint16(since=1, default=0)


class BeginQuorumEpochRequest(Request, key=KEY, versions=(0, 1), flexible=1):
    cluster_id: str | None = string(nullable=0, default=None)
    voter_id: int = int32(since=1, default=-1)
    topics: list[BeginQuorumEpochRequestTopicData] = array(
        BeginQuorumEpochRequestTopicData, default=()
    )
    leader_endpoints: list[LeaderEndpoint] = array(LeaderEndpoint, since=1, default=())


class BeginQuorumEpochResponsePartitionData(Struct):
    partition_index: int = int32(default=0)
    error_code: int = int16(default=0)
    leader_id: int = int32(default=0)
    leader_epoch: int = int32(default=0)


class BeginQuorumEpochResponseTopicData(Struct):
    topic_name: str = string(default="")
    partitions: list[BeginQuorumEpochResponsePartitionData] = array(
        BeginQuorumEpochResponsePartitionData, default=()
    )


class NodeEndpoint(Struct):
    node_id: int = int32(since=1, default=0)
    host: str = string(since=1, default="")
    port: int = uint16(since=1, default=0)


class BeginQuorumEpochResponse(Response, key=KEY, versions=(0, 1), flexible=1):
    error_code: int = int16(default=0)
    topics: list[BeginQuorumEpochResponseTopicData] = array(
        BeginQuorumEpochResponseTopicData, default=()
    )
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, since=1, tag=0, default=())
