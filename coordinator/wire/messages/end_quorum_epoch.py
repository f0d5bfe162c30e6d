"""EndQuorumEpoch (key 54)."""

from __future__ import annotations

from ..schema import ZERO_UUID, Request, Response, Struct, array, int16, int32, string, uint16, uuid

KEY = 54


class ReplicaInfo(Struct):
    candidate_id: int = int32(since=1, default=0)
    candidate_directory_id: bytes = uuid(since=1, default=ZERO_UUID)


class EndQuorumEpochRequestPartitionData(Struct):
    partition_index: int = int32(default=0)
    leader_id: int = int32(default=0)
    leader_epoch: int = int32(default=0)
    preferred_candidates: list[ReplicaInfo] = array(ReplicaInfo, since=1, default=())
    preferred_successors: list[int] = array(int32, until=0, default=())


class EndQuorumEpochRequestTopicData(Struct):
    topic_name: str = string(default="")
    partitions: list[EndQuorumEpochRequestPartitionData] = array(
        EndQuorumEpochRequestPartitionData, default=()
    )


class LeaderEndpoint(Struct):
    name: str = string(since=1, default="")
    host: str = string(since=1, default="")
    port: int = uint16(since=1, default=0)


class EndQuorumEpochRequest(Request, key=KEY, versions=(0, 1), flexible=1):
    cluster_id: str | None = string(nullable=0, default=None)
    topics: list[EndQuorumEpochRequestTopicData] = array(EndQuorumEpochRequestTopicData, default=())
    leader_endpoints: list[LeaderEndpoint] = array(LeaderEndpoint, since=1, default=())


class EndQuorumEpochResponsePartitionData(Struct):
    partition_index: int = int32(default=0)
    error_code: int = int16(default=0)
    leader_id: int = int32(default=0)
    leader_epoch: int = int32(default=0)


class EndQuorumEpochResponseTopicData(Struct):
    topic_name: str = string(default="")
    partitions: list[EndQuorumEpochResponsePartitionData] = array(
        EndQuorumEpochResponsePartitionData, default=()
    )


class NodeEndpoint(Struct):
    node_id: int = int32(since=1, default=0)
    host: str = string(since=1, default="")
    port: int = uint16(since=1, default=0)


class EndQuorumEpochResponse(Response, key=KEY, versions=(0, 1), flexible=1):
    error_code: int = int16(default=0)
    topics: list[EndQuorumEpochResponseTopicData] = array(
        EndQuorumEpochResponseTopicData, default=()
    )
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, since=1, tag=0, default=())
