"""UnregisterBroker (key 64)."""

from __future__ import annotations

from ..schema import Request, Response, int16, int32, string

KEY = 64


class UnregisterBrokerRequest(Request, key=KEY, versions=(0, 0), flexible=0):
    broker_id: int = int32(default=0)


class UnregisterBrokerResponse(Response, key=KEY, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
