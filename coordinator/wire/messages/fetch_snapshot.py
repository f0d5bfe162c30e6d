"""FetchSnapshot (key 59)."""

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
    record_bytes,
    string,
    struct,
    uint16,
    uuid,
)

KEY = 59


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


class FetchSnapshotRequest(Request, key=KEY, versions=(0, 1), flexible=0):
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


class NodeEndpoint(Struct):
    node_id: int = int32(since=1, default=0)
    host: str = string(since=1, default="")
    port: int = uint16(since=1, default=0)


class FetchSnapshotResponse(Response, key=KEY, versions=(0, 1), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    topics: list[FetchSnapshotResponseTopicSnapshot] = array(
        FetchSnapshotResponseTopicSnapshot, default=()
    )
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, since=1, tag=0, default=())
