"""DescribeProducers, DescribeTransactions and ListTransactions: an administrator's view of
producers and transactions.
"""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, int16, int32, int64, string


class TopicRequest(Struct):
    name: str = string(default="")
    partition_indexes: list[int] = array(int32, default=())


class DescribeProducersRequest(Request, key=61, versions=(0, 0), flexible=0):
    """DescribeProducers (key 61): list the active producers of partitions."""

    topics: list[TopicRequest] = array(TopicRequest, default=())


class ProducerState(Struct):
    producer_id: int = int64(default=0)
    producer_epoch: int = int32(default=0)
    last_sequence: int = int32(default=-1)
    last_timestamp: int = int64(default=-1)
    coordinator_epoch: int = int32(default=0)
    current_txn_start_offset: int = int64(default=-1)


class PartitionResponse(Struct):
    partition_index: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)
    active_producers: list[ProducerState] = array(ProducerState, default=())


class TopicResponse(Struct):
    name: str = string(default="")
    partitions: list[PartitionResponse] = array(PartitionResponse, default=())


class DescribeProducersResponse(Response, key=61, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    topics: list[TopicResponse] = array(TopicResponse, default=())


class DescribeTransactionsRequest(Request, key=65, versions=(0, 0), flexible=0):
    """DescribeTransactions (key 65): describe the transactions of transactional ids."""

    transactional_ids: list[str] = array(string, default=())


class TopicData(Struct):
    topic: str = string(default="")
    partitions: list[int] = array(int32, default=())


class DescribeTransactionsTransactionState(Struct):
    error_code: int = int16(default=0)
    transactional_id: str = string(default="")
    transaction_state: str = string(default="")
    transaction_timeout_ms: int = int32(default=0)
    transaction_start_time_ms: int = int64(default=0)
    producer_id: int = int64(default=0)
    producer_epoch: int = int16(default=0)
    topics: list[TopicData] = array(TopicData, default=())


class DescribeTransactionsResponse(Response, key=65, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    transaction_states: list[DescribeTransactionsTransactionState] = array(
        DescribeTransactionsTransactionState, default=()
    )


class ListTransactionsRequest(Request, key=66, versions=(0, 2), flexible=0):
    """ListTransactions (key 66): list the transactional ids of a broker, with filters."""

    state_filters: list[str] = array(string, default=())
    producer_id_filters: list[int] = array(int64, default=())
    duration_filter: int = int64(since=1, default=-1)
    transactional_id_pattern: str | None = string(since=2, nullable=2, default=None)


class ListTransactionsTransactionState(Struct):
    transactional_id: str = string(default="")
    producer_id: int = int64(default=0)
    transaction_state: str = string(default="")


class ListTransactionsResponse(Response, key=66, versions=(0, 2), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    unknown_state_filters: list[str] = array(string, default=())
    transaction_states: list[ListTransactionsTransactionState] = array(
        ListTransactionsTransactionState, default=()
    )
