"""SaslHandshake and SaslAuthenticate: a client's login by SASL."""

from __future__ import annotations

from ..schema import Request, Response, array, binary, int16, int64, string


class SaslHandshakeRequest(Request, key=17, versions=(0, 1), flexible=None):
    """SaslHandshake (key 17): choose a SASL mechanism."""

    mechanism: str = string(default="")


class SaslHandshakeResponse(Response, key=17, versions=(0, 1), flexible=None):
    error_code: int = int16(default=0)
    mechanisms: list[str] = array(string, default=())


class SaslAuthenticateRequest(Request, key=36, versions=(0, 2), flexible=2):
    """SaslAuthenticate (key 36): send one message of the mechanism's exchange."""

    auth_bytes: bytes = binary(default=b"")


class SaslAuthenticateResponse(Response, key=36, versions=(0, 2), flexible=2):
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
    auth_bytes: bytes = binary(default=b"")
    session_lifetime_ms: int = int64(since=1, default=0)
