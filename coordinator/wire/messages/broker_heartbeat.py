"""BrokerHeartbeat (key 63)."""

from __future__ import annotations

from ..schema import Request, Response, array, boolean, int16, int32, int64, uuid

KEY = 63


class BrokerHeartbeatRequest(Request, key=KEY, versions=(0, 2), flexible=0):
    broker_id: int = int32(default=0)
    broker_epoch: int = int64(default=-1)
    current_metadata_offset: int = int64(default=0)
    want_fence: bool = boolean(default=False)
    want_shut_down: bool = boolean(default=False)
    offline_log_dirs: list[bytes] = array(uuid, since=1, tag=0, default=())
    cordoned_log_dirs: list[bytes] | None = array(uuid, since=2, nullable=2, tag=1, default=None)


class BrokerHeartbeatResponse(Response, key=KEY, versions=(0, 2), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    is_caught_up: bool = boolean(default=False)
    is_fenced: bool = boolean(default=True)
    should_shut_down: bool = boolean(default=False)
