"""GetTelemetrySubscriptions and PushTelemetry: clients' metrics (KIP-714)."""

from __future__ import annotations

from ..schema import (
    Request,
    Response,
    ZERO_UUID,
    array,
    binary,
    boolean,
    int16,
    int32,
    int8,
    string,
    uuid,
)


class GetTelemetrySubscriptionsRequest(Request, key=71, versions=(0, 0), flexible=0):
    """GetTelemetrySubscriptions (key 71): ask which metrics the broker wants."""

    client_instance_id: bytes = uuid(default=ZERO_UUID)


class GetTelemetrySubscriptionsResponse(Response, key=71, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    client_instance_id: bytes = uuid(default=ZERO_UUID)
    subscription_id: int = int32(default=0)
    accepted_compression_types: list[int] = array(int8, default=())
    push_interval_ms: int = int32(default=0)
    telemetry_max_bytes: int = int32(default=0)
    delta_temporality: bool = boolean(default=False)
    requested_metrics: list[str] = array(string, default=())


class PushTelemetryRequest(Request, key=72, versions=(0, 0), flexible=0):
    """PushTelemetry (key 72): send a client's metrics."""

    client_instance_id: bytes = uuid(default=ZERO_UUID)
    subscription_id: int = int32(default=0)
    terminating: bool = boolean(default=False)
    compression_type: int = int8(default=0)
    metrics: bytes = binary(default=b"")


class PushTelemetryResponse(Response, key=72, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
