"""AllocateProducerIds (key 67)."""

from __future__ import annotations

from ..schema import Request, Response, int16, int32, int64

KEY = 67


class AllocateProducerIdsRequest(Request, key=KEY, versions=(0, 0), flexible=0):
    broker_id: int = int32(default=0)
    broker_epoch: int = int64(default=-1)


class AllocateProducerIdsResponse(Response, key=KEY, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    producer_id_start: int = int64(default=0)
    producer_id_len: int = int32(default=0)
