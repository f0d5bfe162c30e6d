"""Fetch (key 1): read record batches from partitions, waiting for them if asked to.

4: record batches of magic 2, isolation level, aborted transactions (KIP-98). 5: log start offset.
7: fetch sessions (KIP-227). 9: leader epoch of the reader (KIP-320). 10: zstd allowed. 11: rack,
preferred read replica (KIP-392). 12: flexible, last fetched epoch, divergence (KIP-595). 13: topic
ids instead of names. 15: replica state instead of replica id (KIP-903). 16: endpoints of new
leaders (KIP-951). 17: directory ids, 18: high watermark; both are said by followers only.
"""

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
    int8,
    record_bytes,
    string,
    struct,
    uuid,
)

KEY = 1


class FetchPartition(Struct):
    partition: int = int32(default=0)
    current_leader_epoch: int = int32(since=9, default=-1)
    fetch_offset: int = int64(default=0)
    last_fetched_epoch: int = int32(since=12, default=-1)
    log_start_offset: int = int64(since=5, default=-1)
    partition_max_bytes: int = int32(default=0)
    replica_directory_id: bytes = uuid(since=17, tag=0, default=ZERO_UUID)
    high_watermark: int = int64(since=18, tag=1, default=9223372036854775807)


class FetchTopic(Struct):
    topic_id: bytes = uuid(since=13, default=ZERO_UUID)
    topic: str = string(until=12, default="")
    partitions: list[FetchPartition] = array(FetchPartition, default=())


class ForgottenTopic(Struct):
    topic_id: bytes = uuid(since=13, default=ZERO_UUID)
    topic: str = string(since=7, until=12, default="")
    partitions: list[int] = array(int32, since=7, default=())


class ReplicaState(Struct):
    replica_id: int = int32(since=15, default=-1)
    replica_epoch: int = int64(since=15, default=-1)


class FetchRequest(Request, key=KEY, versions=(4, 18), flexible=12):
    replica_id: int = int32(until=14, default=-1)
    max_wait_ms: int = int32(default=0)
    min_bytes: int = int32(default=0)
    max_bytes: int = int32(default=2147483647)
    isolation_level: int = int8(default=0)
    session_id: int = int32(since=7, default=0)
    session_epoch: int = int32(since=7, default=-1)
    topics: list[FetchTopic] = array(FetchTopic, default=())
    forgotten_topics_data: list[ForgottenTopic] = array(ForgottenTopic, since=7, default=())
    rack_id: str = string(since=11, default="")
    cluster_id: str | None = string(since=12, nullable=12, tag=0, default=None)
    replica_state: ReplicaState = struct(ReplicaState, since=15, tag=1, default=...)


class AbortedTransaction(Struct):
    producer_id: int = int64(default=0)
    first_offset: int = int64(default=0)


class EpochEndOffset(Struct):
    epoch: int = int32(since=12, default=-1)
    end_offset: int = int64(since=12, default=-1)


class LeaderIdAndEpoch(Struct):
    leader_id: int = int32(since=12, default=-1)
    leader_epoch: int = int32(since=12, default=-1)


class SnapshotId(Struct):
    end_offset: int = int64(since=12, default=-1)
    epoch: int = int32(since=12, default=-1)


class PartitionData(Struct):
    partition_index: int = int32(default=0)
    error_code: int = int16(default=0)
    high_watermark: int = int64(default=0)
    last_stable_offset: int = int64(default=-1)
    log_start_offset: int = int64(since=5, default=-1)
    aborted_transactions: list[AbortedTransaction] | None = array(
        AbortedTransaction, nullable=4, default=()
    )
    preferred_read_replica: int = int32(since=11, default=-1)
    records: bytes | None = record_bytes(nullable=4, default=None)
    diverging_epoch: EpochEndOffset = struct(EpochEndOffset, since=12, tag=0, default=...)
    current_leader: LeaderIdAndEpoch = struct(LeaderIdAndEpoch, since=12, tag=1, default=...)
    snapshot_id: SnapshotId = struct(SnapshotId, since=12, tag=2, default=...)


class FetchableTopicResponse(Struct):
    topic_id: bytes = uuid(since=13, default=ZERO_UUID)
    topic: str = string(until=12, default="")
    partitions: list[PartitionData] = array(PartitionData, default=())


class NodeEndpoint(Struct):
    node_id: int = int32(since=16, default=0)
    host: str = string(since=16, default="")
    port: int = int32(since=16, default=0)
    rack: str | None = string(since=16, nullable=16, default=None)


class FetchResponse(Response, key=KEY, versions=(4, 18), flexible=12, bounded=False):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(since=7, default=0)
    session_id: int = int32(since=7, default=0)
    responses: list[FetchableTopicResponse] = array(FetchableTopicResponse, default=())
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, since=16, tag=0, default=())
