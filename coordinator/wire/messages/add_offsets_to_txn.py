"""AddOffsetsToTxn (key 25)."""

from __future__ import annotations

from ..schema import Request, Response, int16, int32, int64, string

KEY = 25


class AddOffsetsToTxnRequest(Request, key=KEY, versions=(0, 4), flexible=3):
    transactional_id: str = string(default="")
    producer_id: int = int64(default=0)
    producer_epoch: int = int16(default=0)
    group_id: str = string(default="")


class AddOffsetsToTxnResponse(Response, key=KEY, versions=(0, 4), flexible=3):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
