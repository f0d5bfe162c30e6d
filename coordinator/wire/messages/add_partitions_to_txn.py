"""AddPartitionsToTxn (key 24)."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, boolean, int16, int32, int64, string

KEY = 24


class AddPartitionsToTxnTopic(Struct):
    name: str = string(default="")
    partitions: list[int] = array(int32, default=())


class AddPartitionsToTxnTransaction(Struct):
    transactional_id: str = string(since=4, default="")
    producer_id: int = int64(since=4, default=0)
    producer_epoch: int = int16(since=4, default=0)
    verify_only: bool = boolean(since=4, default=False)
    topics: list[AddPartitionsToTxnTopic] = array(AddPartitionsToTxnTopic, since=4, default=())


class AddPartitionsToTxnRequest(Request, key=KEY, versions=(0, 5), flexible=3):
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


class AddPartitionsToTxnResponse(Response, key=KEY, versions=(0, 5), flexible=3):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(since=4, default=0)
    results_by_transaction: list[AddPartitionsToTxnResult] = array(
        AddPartitionsToTxnResult, since=4, default=()
    )
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = array(
        AddPartitionsToTxnTopicResult, until=3, default=()
    )
