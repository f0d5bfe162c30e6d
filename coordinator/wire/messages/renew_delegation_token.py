"""RenewDelegationToken (key 39)."""

from __future__ import annotations

from ..schema import Request, Response, binary, int16, int32, int64

KEY = 39


class RenewDelegationTokenRequest(Request, key=KEY, versions=(0, 2), flexible=2):
    hmac: bytes = binary(default=b"")
    renew_period_ms: int = int64(default=0)


class RenewDelegationTokenResponse(Response, key=KEY, versions=(0, 2), flexible=2):
    error_code: int = int16(default=0)
    expiry_timestamp_ms: int = int64(default=0)
    throttle_time_ms: int = int32(default=0)
