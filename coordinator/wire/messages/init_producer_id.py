"""InitProducerId (key 22): the id and epoch that make a producer idempotent (KIP-98).

2: flexible. 3: keep the id and raise the epoch (KIP-360). 4: error 90 (KIP-588). 5: error 120
(KIP-890). Not here: 6, two-phase commit (KIP-939), which 4.4.0 holds back as unstable.
"""

from __future__ import annotations

from ..schema import Request, Response, int16, int32, int64, string

KEY = 22


class InitProducerIdRequest(Request, key=KEY, versions=(0, 5), flexible=2):
    transactional_id: str | None = string(nullable=0, default="")
    transaction_timeout_ms: int = int32(default=0)
    producer_id: int = int64(since=3, default=-1)
    producer_epoch: int = int16(since=3, default=-1)


class InitProducerIdResponse(Response, key=KEY, versions=(0, 5), flexible=2):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    producer_id: int = int64(default=-1)
    producer_epoch: int = int16(default=0)
