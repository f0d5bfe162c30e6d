"""GetTelemetrySubscriptions (key 71)."""

from __future__ import annotations

from ..schema import ZERO_UUID, Request, Response, array, boolean, int16, int32, int8, string, uuid

KEY = 71


class GetTelemetrySubscriptionsRequest(Request, key=KEY, versions=(0, 0), flexible=0):
    client_instance_id: bytes = uuid(default=ZERO_UUID)


class GetTelemetrySubscriptionsResponse(Response, key=KEY, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    client_instance_id: bytes = uuid(default=ZERO_UUID)
    subscription_id: int = int32(default=0)
    accepted_compression_types: list[int] = array(int8, default=())
    push_interval_ms: int = int32(default=0)
    telemetry_max_bytes: int = int32(default=0)
    delta_temporality: bool = boolean(default=False)
    requested_metrics: list[str] = array(string, default=())
