"""ShareAcknowledge (key 79)."""

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
    string,
    struct,
    uuid,
)

KEY = 79


class AcknowledgementBatch(Struct):
    first_offset: int = int64(default=0)
    last_offset: int = int64(default=0)
    acknowledge_types: list[int] = array(int8, default=())


class AcknowledgePartition(Struct):
    partition_index: int = int32(default=0)
    acknowledgement_batches: list[AcknowledgementBatch] = array(AcknowledgementBatch, default=())


class AcknowledgeTopic(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[AcknowledgePartition] = array(AcknowledgePartition, default=())


class ShareAcknowledgeRequest(Request, key=KEY, versions=(1, 2), flexible=1):
    group_id: str | None = string(nullable=1, default=None)
    member_id: str | None = string(nullable=1, default="")
    share_session_epoch: int = int32(default=0)
    is_renew_ack: bool = boolean(since=2, default=False)
    topics: list[AcknowledgeTopic] = array(AcknowledgeTopic, default=())


class LeaderIdAndEpoch(Struct):
    leader_id: int = int32(default=0)
    leader_epoch: int = int32(default=0)


class PartitionData(Struct):
    partition_index: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=1, default=None)
    current_leader: LeaderIdAndEpoch = struct(LeaderIdAndEpoch, default=...)


class ShareAcknowledgeTopicResponse(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[PartitionData] = array(PartitionData, default=())


class NodeEndpoint(Struct):
    node_id: int = int32(default=0)
    host: str = string(default="")
    port: int = int32(default=0)
    rack: str | None = string(nullable=1, default=None)


class ShareAcknowledgeResponse(Response, key=KEY, versions=(1, 2), flexible=1):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=1, default=None)
    acquisition_lock_timeout_ms: int = int32(since=2, default=0)
    responses: list[ShareAcknowledgeTopicResponse] = array(
        ShareAcknowledgeTopicResponse, default=()
    )
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, default=())
