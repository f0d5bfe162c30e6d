"""TxnOffsetCommit (key 28).

3: flexible, the member and its generation. 6: topics by id, and a member epoch (KIP-1319).
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
    string,
    uuid,
)

KEY = 28


class TxnOffsetCommitRequestPartition(Struct):
    partition_index: int = int32(default=0)
    committed_offset: int = int64(default=0)
    committed_leader_epoch: int = int32(since=2, default=-1)
    committed_metadata: str | None = string(nullable=0, default="")


class TxnOffsetCommitRequestTopic(Struct):
    name: str = string(until=5, default="")
    topic_id: bytes = uuid(since=6, default=ZERO_UUID)
    partitions: list[TxnOffsetCommitRequestPartition] = array(
        TxnOffsetCommitRequestPartition, default=()
    )


class TxnOffsetCommitRequest(Request, key=KEY, versions=(0, 6), flexible=3):
    transactional_id: str = string(default="")
    group_id: str = string(default="")
    producer_id: int = int64(default=0)
    producer_epoch: int = int16(default=0)
    generation_id_or_member_epoch: int = int32(since=3, default=-1)
    member_id: str = string(since=3, default="")
    group_instance_id: str | None = string(since=3, nullable=3, default=None)
    topics: list[TxnOffsetCommitRequestTopic] = array(TxnOffsetCommitRequestTopic, default=())


class TxnOffsetCommitResponsePartition(Struct):
    partition_index: int = int32(default=0)
    error_code: int = int16(default=0)


class TxnOffsetCommitResponseTopic(Struct):
    name: str = string(until=5, default="")
    topic_id: bytes = uuid(since=6, default=ZERO_UUID)
    partitions: list[TxnOffsetCommitResponsePartition] = array(
        TxnOffsetCommitResponsePartition, default=()
    )


class TxnOffsetCommitResponse(Response, key=KEY, versions=(0, 6), flexible=3):
    throttle_time_ms: int = int32(default=0)
    topics: list[TxnOffsetCommitResponseTopic] = array(TxnOffsetCommitResponseTopic, default=())
