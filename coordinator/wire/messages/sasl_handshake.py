"""SaslHandshake (key 17)."""

from __future__ import annotations

from ..schema import Request, Response, array, int16, string

KEY = 17


class SaslHandshakeRequest(Request, key=KEY, versions=(0, 1), flexible=None):
    mechanism: str = string(default="")


class SaslHandshakeResponse(Response, key=KEY, versions=(0, 1), flexible=None):
    error_code: int = int16(default=0)
    mechanisms: list[str] = array(string, default=())
