"""CreateDelegationToken (key 38)."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, binary, int16, int32, int64, string

KEY = 38


class CreatableRenewers(Struct):
    principal_type: str = string(default="")
    principal_name: str = string(default="")


class CreateDelegationTokenRequest(Request, key=KEY, versions=(0, 3), flexible=2):
    owner_principal_type: str | None = string(since=3, nullable=3, default="")
    owner_principal_name: str | None = string(since=3, nullable=3, default="")
    renewers: list[CreatableRenewers] = array(CreatableRenewers, default=())
    max_lifetime_ms: int = int64(default=0)


class CreateDelegationTokenResponse(Response, key=KEY, versions=(0, 3), flexible=2):
    error_code: int = int16(default=0)
    principal_type: str = string(default="")
    principal_name: str = string(default="")
    token_requester_principal_type: str = string(since=3, default="")
    token_requester_principal_name: str = string(since=3, default="")
    issue_timestamp_ms: int = int64(default=0)
    expiry_timestamp_ms: int = int64(default=0)
    max_timestamp_ms: int = int64(default=0)
    token_id: str = string(default="")
    hmac: bytes = binary(default=b"")
    throttle_time_ms: int = int32(default=0)
