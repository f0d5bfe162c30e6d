"""PushTelemetry (key 72)."""

from __future__ import annotations

from ..schema import ZERO_UUID, Request, Response, binary, boolean, int16, int32, int8, uuid

KEY = 72


class PushTelemetryRequest(Request, key=KEY, versions=(0, 0), flexible=0):
    client_instance_id: bytes = uuid(default=ZERO_UUID)
    subscription_id: int = int32(default=0)
    terminating: bool = boolean(default=False)
    compression_type: int = int8(default=0)
    metrics: bytes = binary(default=b"")


class PushTelemetryResponse(Response, key=KEY, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
