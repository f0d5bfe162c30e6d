"""BrokerRegistration (key 62)."""

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
    int64,
    string,
    uint16,
    uuid,
)

KEY = 62


class Listener(Struct):
    name: str = string(default="")
    host: str = string(default="")
    port: int = uint16(default=0)
    security_protocol: int = int16(default=0)


class Feature(Struct):
    name: str = string(default="")
    min_supported_version: int = int16(default=0)
    max_supported_version: int = int16(default=0)


class BrokerRegistrationRequest(Request, key=KEY, versions=(0, 4), flexible=0):
    broker_id: int = int32(default=0)
    cluster_id: str = string(default="")
    incarnation_id: bytes = uuid(default=ZERO_UUID)
    listeners: list[Listener] = array(Listener, default=())
    features: list[Feature] = array(Feature, default=())
    rack: str | None = string(nullable=0, default="")
    is_migrating_zk_broker: bool = boolean(since=1, default=False)
    log_dirs: list[bytes] = array(uuid, since=2, default=())
    previous_broker_epoch: int = int64(since=3, default=-1)


class BrokerRegistrationResponse(Response, key=KEY, versions=(0, 4), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    broker_epoch: int = int64(default=-1)
