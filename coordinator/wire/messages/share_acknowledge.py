"""ShareAcknowledge (key 79): acknowledge records of a share group (KIP-932). It has the same
structure of topics and partitions as ShareFetch.
"""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, boolean, int16, int32, string, struct, uuid
from ..schema import ZERO_UUID
from .share_fetch import (
    AcknowledgementBatch,
    FetchPartition,
    FetchTopic,
    LeaderIdAndEpoch,
    NodeEndpoint,
)

__all__ = ["AcknowledgementBatch", "LeaderIdAndEpoch", "NodeEndpoint"]
KEY = 79
AcknowledgePartition = FetchPartition
AcknowledgeTopic = FetchTopic


class ShareAcknowledgeRequest(Request, key=KEY, versions=(1, 2), flexible=1):
    group_id: str | None = string(nullable=1, default=None)
    member_id: str | None = string(nullable=1, default="")
    share_session_epoch: int = int32(default=0)
    is_renew_ack: bool = boolean(since=2, default=False)
    topics: list[FetchTopic] = array(FetchTopic, default=())


class PartitionData(Struct):
    partition_index: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=1, default=None)
    current_leader: LeaderIdAndEpoch = struct(LeaderIdAndEpoch, default=...)


class ShareAcknowledgeTopicResponse(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[PartitionData] = array(PartitionData, default=())


class ShareAcknowledgeResponse(Response, key=KEY, versions=(1, 2), flexible=1):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=1, default=None)
    acquisition_lock_timeout_ms: int = int32(since=2, default=0)
    responses: list[ShareAcknowledgeTopicResponse] = array(
        ShareAcknowledgeTopicResponse, default=()
    )
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, default=())
