"""ControllerRegistration (key 70)."""

from __future__ import annotations

from ..schema import (
    ZERO_UUID,
    Request,
    Response,
    Struct,
    array,
    boolean,
    int16,
    int32,
    string,
    uint16,
    uuid,
)

KEY = 70


class Listener(Struct):
    name: str = string(default="")
    host: str = string(default="")
    port: int = uint16(default=0)
    security_protocol: int = int16(default=0)


class Feature(Struct):
    name: str = string(default="")
    min_supported_version: int = int16(default=0)
    max_supported_version: int = int16(default=0)


class ControllerRegistrationRequest(Request, key=KEY, versions=(0, 0), flexible=0):
    controller_id: int = int32(default=0)
    incarnation_id: bytes = uuid(default=ZERO_UUID)
    zk_migration_ready: bool = boolean(default=False)
    listeners: list[Listener] = array(Listener, default=())
    features: list[Feature] = array(Feature, default=())


class ControllerRegistrationResponse(Response, key=KEY, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
