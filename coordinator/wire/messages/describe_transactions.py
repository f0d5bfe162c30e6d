"""DescribeTransactions (key 65)."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, int16, int32, int64, string

KEY = 65


class DescribeTransactionsRequest(Request, key=KEY, versions=(0, 0), flexible=0):
    transactional_ids: list[str] = array(string, default=())


class TopicData(Struct):
    topic: str = string(default="")
    partitions: list[int] = array(int32, default=())


class TransactionState(Struct):
    error_code: int = int16(default=0)
    transactional_id: str = string(default="")
    transaction_state: str = string(default="")
    transaction_timeout_ms: int = int32(default=0)
    transaction_start_time_ms: int = int64(default=0)
    producer_id: int = int64(default=0)
    producer_epoch: int = int16(default=0)
    topics: list[TopicData] = array(TopicData, default=())


class DescribeTransactionsResponse(Response, key=KEY, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    transaction_states: list[TransactionState] = array(TransactionState, default=())
