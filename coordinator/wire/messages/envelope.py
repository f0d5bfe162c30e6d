"""Envelope (key 58)."""

from __future__ import annotations

from ..schema import Request, Response, binary, int16

KEY = 58


class EnvelopeRequest(Request, key=KEY, versions=(0, 0), flexible=0):
    request_data: bytes = binary(default=b"")
    request_principal: bytes | None = binary(nullable=0, default=b"")
    client_host_address: bytes = binary(default=b"")


class EnvelopeResponse(Response, key=KEY, versions=(0, 0), flexible=0):
    response_data: bytes | None = binary(nullable=0, default=None)
    error_code: int = int16(default=0)
