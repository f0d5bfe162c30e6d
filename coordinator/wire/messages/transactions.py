"""The requests of a transactional producer, and WriteTxnMarkers between brokers."""

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
    int8,
    string,
    uuid,
)


class InitProducerIdRequest(Request, key=22, versions=(0, 5), flexible=2):
    """InitProducerId (key 22): the id and epoch that make a producer idempotent (KIP-98).

    2: flexible. 3: keep the id and raise the epoch (KIP-360). 4: error 90 (KIP-588). 5: error 120
    (KIP-890). Not here: 6, two-phase commit (KIP-939), which 4.4.0 holds back as unstable.
    """

    transactional_id: str | None = string(nullable=0, default="")
    transaction_timeout_ms: int = int32(default=0)
    producer_id: int = int64(since=3, default=-1)
    producer_epoch: int = int16(since=3, default=-1)


class InitProducerIdResponse(Response, key=22, versions=(0, 5), flexible=2):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    producer_id: int = int64(default=-1)
    producer_epoch: int = int16(default=0)


class AddPartitionsToTxnTopic(Struct):
    name: str = string(default="")
    partitions: list[int] = array(int32, default=())


class AddPartitionsToTxnTransaction(Struct):
    transactional_id: str = string(since=4, default="")
    producer_id: int = int64(since=4, default=0)
    producer_epoch: int = int16(since=4, default=0)
    verify_only: bool = boolean(since=4, default=False)
    topics: list[AddPartitionsToTxnTopic] = array(AddPartitionsToTxnTopic, since=4, default=())


class AddPartitionsToTxnRequest(Request, key=24, versions=(0, 5), flexible=3):
    """AddPartitionsToTxn (key 24): add partitions to a producer's transaction."""

    transactions: list[AddPartitionsToTxnTransaction] = array(
        AddPartitionsToTxnTransaction, since=4, default=()
    )
    v3_and_below_transactional_id: str = string(until=3, default="")
    v3_and_below_producer_id: int = int64(until=3, default=0)
    v3_and_below_producer_epoch: int = int16(until=3, default=0)
    v3_and_below_topics: list[AddPartitionsToTxnTopic] = array(
        AddPartitionsToTxnTopic, until=3, default=()
    )


class AddPartitionsToTxnPartitionResult(Struct):
    partition_index: int = int32(default=0)
    partition_error_code: int = int16(default=0)


class AddPartitionsToTxnTopicResult(Struct):
    name: str = string(default="")
    results_by_partition: list[AddPartitionsToTxnPartitionResult] = array(
        AddPartitionsToTxnPartitionResult, default=()
    )


class AddPartitionsToTxnResult(Struct):
    transactional_id: str = string(since=4, default="")
    topic_results: list[AddPartitionsToTxnTopicResult] = array(
        AddPartitionsToTxnTopicResult, since=4, default=()
    )


class AddPartitionsToTxnResponse(Response, key=24, versions=(0, 5), flexible=3):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(since=4, default=0)
    results_by_transaction: list[AddPartitionsToTxnResult] = array(
        AddPartitionsToTxnResult, since=4, default=()
    )
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = array(
        AddPartitionsToTxnTopicResult, until=3, default=()
    )


class AddOffsetsToTxnRequest(Request, key=25, versions=(0, 4), flexible=3):
    """AddOffsetsToTxn (key 25): add a group's offsets partition to a producer's transaction."""

    transactional_id: str = string(default="")
    producer_id: int = int64(default=0)
    producer_epoch: int = int16(default=0)
    group_id: str = string(default="")


class AddOffsetsToTxnResponse(Response, key=25, versions=(0, 4), flexible=3):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)


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


class TxnOffsetCommitRequest(Request, key=28, versions=(0, 6), flexible=3):
    """TxnOffsetCommit (key 28): commit a group's offsets within a transaction.

    3: flexible, the member and its generation. 6: topics by id, and a member epoch (KIP-1319).
    """

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


class TxnOffsetCommitResponse(Response, key=28, versions=(0, 6), flexible=3):
    throttle_time_ms: int = int32(default=0)
    topics: list[TxnOffsetCommitResponseTopic] = array(TxnOffsetCommitResponseTopic, default=())


class EndTxnRequest(Request, key=26, versions=(0, 5), flexible=3):
    """EndTxn (key 26): commit or abort a transaction."""

    transactional_id: str = string(default="")
    producer_id: int = int64(default=0)
    producer_epoch: int = int16(default=0)
    committed: bool = boolean(default=False)


class EndTxnResponse(Response, key=26, versions=(0, 5), flexible=3):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    producer_id: int = int64(since=5, default=-1)
    producer_epoch: int = int16(since=5, default=-1)


class WritableTxnMarkerTopic(Struct):
    name: str = string(default="")
    partition_indexes: list[int] = array(int32, default=())


class WritableTxnMarker(Struct):
    producer_id: int = int64(default=0)
    producer_epoch: int = int16(default=0)
    transaction_result: bool = boolean(default=False)
    topics: list[WritableTxnMarkerTopic] = array(WritableTxnMarkerTopic, default=())
    coordinator_epoch: int = int32(default=0)
    transaction_version: int = int8(since=2, default=0)


class WriteTxnMarkersRequest(Request, key=27, versions=(0, 2), flexible=1):
    """WriteTxnMarkers (key 27): the transaction coordinator has the leaders of partitions write
    markers.
    """

    markers: list[WritableTxnMarker] = array(WritableTxnMarker, default=())


class WritableTxnMarkerPartitionResult(Struct):
    partition_index: int = int32(default=0)
    error_code: int = int16(default=0)


class WritableTxnMarkerTopicResult(Struct):
    name: str = string(default="")
    partitions: list[WritableTxnMarkerPartitionResult] = array(
        WritableTxnMarkerPartitionResult, default=()
    )


class WritableTxnMarkerResult(Struct):
    producer_id: int = int64(default=0)
    topics: list[WritableTxnMarkerTopicResult] = array(WritableTxnMarkerTopicResult, default=())


class WriteTxnMarkersResponse(Response, key=27, versions=(0, 2), flexible=1):
    markers: list[WritableTxnMarkerResult] = array(WritableTxnMarkerResult, default=())
