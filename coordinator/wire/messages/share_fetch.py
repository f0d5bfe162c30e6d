"""ShareFetch (key 78): acquire records for a share group, and acknowledge earlier ones (KIP-932)."""

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
    int8,
    record_bytes,
    string,
    struct,
    uuid,
)

KEY = 78


class AcknowledgementBatch(Struct):
    first_offset: int = int64(default=0)
    last_offset: int = int64(default=0)
    acknowledge_types: list[int] = array(int8, default=())


class FetchPartition(Struct):
    partition_index: int = int32(default=0)
    acknowledgement_batches: list[AcknowledgementBatch] = array(AcknowledgementBatch, default=())


class FetchTopic(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[FetchPartition] = array(FetchPartition, default=())


class ForgottenTopic(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[int] = array(int32, default=())


class ShareFetchRequest(Request, key=KEY, versions=(1, 2), flexible=1):
    group_id: str | None = string(nullable=1, default=None)
    member_id: str | None = string(nullable=1, default="")
    share_session_epoch: int = int32(default=0)
    max_wait_ms: int = int32(default=0)
    min_bytes: int = int32(default=0)
    max_bytes: int = int32(default=2147483647)
    max_records: int = int32(default=0)
    batch_size: int = int32(default=0)
    share_acquire_mode: int = int8(since=2, default=0)
    is_renew_ack: bool = boolean(since=2, default=False)
    topics: list[FetchTopic] = array(FetchTopic, default=())
    forgotten_topics_data: list[ForgottenTopic] = array(ForgottenTopic, default=())


class LeaderIdAndEpoch(Struct):
    leader_id: int = int32(default=0)
    leader_epoch: int = int32(default=0)


class AcquiredRecords(Struct):
    first_offset: int = int64(default=0)
    last_offset: int = int64(default=0)
    delivery_count: int = int16(default=0)


class PartitionData(Struct):
    partition_index: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=1, default=None)
    acknowledge_error_code: int = int16(default=0)
    acknowledge_error_message: str | None = string(nullable=1, default=None)
    current_leader: LeaderIdAndEpoch = struct(LeaderIdAndEpoch, default=...)
    records: bytes | None = record_bytes(default=None)
    acquired_records: list[AcquiredRecords] = array(AcquiredRecords, default=())


class ShareFetchableTopicResponse(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[PartitionData] = array(PartitionData, default=())


class NodeEndpoint(Struct):
    node_id: int = int32(default=0)
    host: str = string(default="")
    port: int = int32(default=0)
    rack: str | None = string(nullable=1, default=None)


class ShareFetchResponse(Response, key=KEY, versions=(1, 2), flexible=1):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=1, default=None)
    acquisition_lock_timeout_ms: int = int32(default=0)
    responses: list[ShareFetchableTopicResponse] = array(ShareFetchableTopicResponse, default=())
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, default=())
