"""EndTxn (key 26)."""

from __future__ import annotations

from ..schema import Request, Response, boolean, int16, int32, int64, string

KEY = 26


class EndTxnRequest(Request, key=KEY, versions=(0, 5), flexible=3):
    transactional_id: str = string(default="")
    producer_id: int = int64(default=0)
    producer_epoch: int = int16(default=0)
    committed: bool = boolean(default=False)


class EndTxnResponse(Response, key=KEY, versions=(0, 5), flexible=3):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    producer_id: int = int64(since=5, default=-1)
    producer_epoch: int = int16(since=5, default=-1)
