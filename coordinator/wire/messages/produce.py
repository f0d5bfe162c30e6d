"""Produce (key 0): append record batches to partitions.

3 is the first with record batches of magic 2 and transactional ids (KIP-98). 4: the response may
have storage errors. 5: log start offset. 7: zstd allowed (KIP-110). 8: errors by record
(KIP-467). 9: flexible. 10: the current leader as a hint (KIP-951). 12: transactions without
AddPartitionsToTxn (KIP-890). 13: topic ids instead of names (KIP-516). Versions 0-2 are
advertised by Kafka for librdkafka's sake and have no tables: a client that sends them is
disconnected.
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
    record_bytes,
    string,
    struct,
    uuid,
)

KEY = 0


class PartitionProduceData(Struct):
    index: int = int32(default=0)
    records: bytes | None = record_bytes(nullable=3, default=None)


class TopicProduceData(Struct):
    topic_id: bytes = uuid(since=13, default=ZERO_UUID)
    name: str = string(until=12, default="")
    partition_data: list[PartitionProduceData] = array(PartitionProduceData, default=())


class ProduceRequest(Request, key=KEY, versions=(3, 13), flexible=9):
    transactional_id: str | None = string(nullable=3, default=None)
    acks: int = int16(default=0)
    timeout_ms: int = int32(default=0)
    topic_data: list[TopicProduceData] = array(TopicProduceData, default=())


class BatchIndexAndErrorMessage(Struct):
    batch_index: int = int32(since=8, default=0)
    batch_index_error_message: str | None = string(since=8, nullable=8, default=None)


class LeaderIdAndEpoch(Struct):
    leader_id: int = int32(since=10, default=-1)
    leader_epoch: int = int32(since=10, default=-1)


class PartitionProduceResponse(Struct):
    index: int = int32(default=0)
    error_code: int = int16(default=0)
    base_offset: int = int64(default=0)
    log_append_time_ms: int = int64(default=-1)
    log_start_offset: int = int64(since=5, default=-1)
    record_errors: list[BatchIndexAndErrorMessage] = array(
        BatchIndexAndErrorMessage, since=8, default=()
    )
    error_message: str | None = string(since=8, nullable=8, default=None)
    current_leader: LeaderIdAndEpoch = struct(LeaderIdAndEpoch, since=10, tag=0, default=...)


class TopicProduceResponse(Struct):
    topic_id: bytes = uuid(since=13, default=ZERO_UUID)
    name: str = string(until=12, default="")
    partition_responses: list[PartitionProduceResponse] = array(
        PartitionProduceResponse, default=()
    )


class NodeEndpoint(Struct):
    node_id: int = int32(since=10, default=0)
    host: str = string(since=10, default="")
    port: int = int32(since=10, default=0)
    rack: str | None = string(since=10, nullable=10, default=None)


class ProduceResponse(Response, key=KEY, versions=(3, 13), flexible=9, bounded=False):
    responses: list[TopicProduceResponse] = array(TopicProduceResponse, default=())
    throttle_time_ms: int = int32(default=0)
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, since=10, tag=0, default=())
