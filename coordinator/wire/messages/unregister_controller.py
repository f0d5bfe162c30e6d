"""UnregisterController (key 94): forget a controller that is gone for good."""

from __future__ import annotations

from ..schema import Request, Response, int16, int32, string

KEY = 94


class UnregisterControllerRequest(Request, key=KEY, versions=(0, 0), flexible=0):
    controller_id: int = int32(default=0)


class UnregisterControllerResponse(Response, key=KEY, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
