"""ListTransactions (key 66)."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, int16, int32, int64, string

KEY = 66


class ListTransactionsRequest(Request, key=KEY, versions=(0, 2), flexible=0):
    state_filters: list[str] = array(string, default=())
    producer_id_filters: list[int] = array(int64, default=())
    duration_filter: int = int64(since=1, default=-1)
    transactional_id_pattern: str | None = string(since=2, nullable=2, default=None)


class TransactionState(Struct):
    transactional_id: str = string(default="")
    producer_id: int = int64(default=0)
    transaction_state: str = string(default="")


class ListTransactionsResponse(Response, key=KEY, versions=(0, 2), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    unknown_state_filters: list[str] = array(string, default=())
    transaction_states: list[TransactionState] = array(TransactionState, default=())
