"""Requests within the quorum of controllers (KRaft): votes, the beginning and end of epochs, the
quorum's description and snapshots.
"""

from __future__ import annotations

from ..schema import (
    Request,
    Response,
    Struct,
    ZERO_UUID,
    array,
    boolean,
    int16,
    int32,
    int64,
    record_bytes,
    string,
    struct,
    uint16,
    uuid,
)


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


class VoteRequest(Request, key=52, versions=(0, 2), flexible=0):
    """Vote (key 52): ask a voter of the quorum for its vote."""

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


class VoteResponse(Response, key=52, versions=(0, 2), flexible=0):
    error_code: int = int16(default=0)
    topics: list[VoteResponseTopicData] = array(VoteResponseTopicData, default=())
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, since=1, tag=0, default=())


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


class BeginQuorumEpochRequest(Request, key=53, versions=(0, 1), flexible=1):
    """BeginQuorumEpoch (key 53): a new leader announces its epoch to the voters."""

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


class BeginQuorumEpochResponse(Response, key=53, versions=(0, 1), flexible=1):
    error_code: int = int16(default=0)
    topics: list[BeginQuorumEpochResponseTopicData] = array(
        BeginQuorumEpochResponseTopicData, default=()
    )
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, since=1, tag=0, default=())


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


class EndQuorumEpochRequest(Request, key=54, versions=(0, 1), flexible=1):
    """EndQuorumEpoch (key 54): a leader that resigns asks for an election."""

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


class EndQuorumEpochResponse(Response, key=54, versions=(0, 1), flexible=1):
    error_code: int = int16(default=0)
    topics: list[EndQuorumEpochResponseTopicData] = array(
        EndQuorumEpochResponseTopicData, default=()
    )
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, since=1, tag=0, default=())


class DescribeQuorumRequestPartitionData(Struct):
    partition_index: int = int32(default=0)


class DescribeQuorumRequestTopicData(Struct):
    topic_name: str = string(default="")
    partitions: list[DescribeQuorumRequestPartitionData] = array(
        DescribeQuorumRequestPartitionData, default=()
    )


class DescribeQuorumRequest(Request, key=55, versions=(0, 2), flexible=0):
    """DescribeQuorum (key 55): describe the quorum's leader, voters and observers."""

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


class DescribeQuorumResponse(Response, key=55, versions=(0, 2), flexible=0):
    error_code: int = int16(default=0)
    error_message: str | None = string(since=2, nullable=2, default="")
    topics: list[DescribeQuorumResponseTopicData] = array(
        DescribeQuorumResponseTopicData, default=()
    )
    nodes: list[Node] = array(Node, since=2, default=())


class SnapshotId(Struct):
    end_offset: int = int64(default=0)
    epoch: int = int32(default=0)


class FetchSnapshotRequestPartitionSnapshot(Struct):
    partition: int = int32(default=0)
    current_leader_epoch: int = int32(default=0)
    snapshot_id: SnapshotId = struct(SnapshotId, default=...)
    position: int = int64(default=0)
    replica_directory_id: bytes = uuid(since=1, tag=0, default=ZERO_UUID)


class FetchSnapshotRequestTopicSnapshot(Struct):
    name: str = string(default="")
    partitions: list[FetchSnapshotRequestPartitionSnapshot] = array(
        FetchSnapshotRequestPartitionSnapshot, default=()
    )


class FetchSnapshotRequest(Request, key=59, versions=(0, 1), flexible=0):
    """FetchSnapshot (key 59): fetch a part of a snapshot of the metadata log."""

    replica_id: int = int32(default=-1)
    max_bytes: int = int32(default=2147483647)
    topics: list[FetchSnapshotRequestTopicSnapshot] = array(
        FetchSnapshotRequestTopicSnapshot, default=()
    )
    cluster_id: str | None = string(nullable=0, tag=0, default=None)


class LeaderIdAndEpoch(Struct):
    leader_id: int = int32(default=0)
    leader_epoch: int = int32(default=0)


class FetchSnapshotResponsePartitionSnapshot(Struct):
    index: int = int32(default=0)
    error_code: int = int16(default=0)
    snapshot_id: SnapshotId = struct(SnapshotId, default=...)
    size: int = int64(default=0)
    position: int = int64(default=0)
    unaligned_records: bytes | None = record_bytes(default=None)
    current_leader: LeaderIdAndEpoch = struct(LeaderIdAndEpoch, tag=0, default=...)


class FetchSnapshotResponseTopicSnapshot(Struct):
    name: str = string(default="")
    partitions: list[FetchSnapshotResponsePartitionSnapshot] = array(
        FetchSnapshotResponsePartitionSnapshot, default=()
    )


class FetchSnapshotResponse(Response, key=59, versions=(0, 1), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    topics: list[FetchSnapshotResponseTopicSnapshot] = array(
        FetchSnapshotResponseTopicSnapshot, default=()
    )
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, since=1, tag=0, default=())
