"""SaslAuthenticate (key 36)."""

from __future__ import annotations

from ..schema import Request, Response, binary, int16, int64, string

KEY = 36


class SaslAuthenticateRequest(Request, key=KEY, versions=(0, 2), flexible=2):
    auth_bytes: bytes = binary(default=b"")


class SaslAuthenticateResponse(Response, key=KEY, versions=(0, 2), flexible=2):
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
    auth_bytes: bytes = binary(default=b"")
    session_lifetime_ms: int = int64(since=1, default=0)
