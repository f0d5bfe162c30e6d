"""DescribeDelegationToken (key 41)."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, binary, int16, int32, int64, string

KEY = 41


class DescribeDelegationTokenOwner(Struct):
    principal_type: str = string(default="")
    principal_name: str = string(default="")


class DescribeDelegationTokenRequest(Request, key=KEY, versions=(0, 3), flexible=2):
    owners: list[DescribeDelegationTokenOwner] | None = array(
        DescribeDelegationTokenOwner, nullable=0, default=()
    )


class DescribedDelegationTokenRenewer(Struct):
    principal_type: str = string(default="")
    principal_name: str = string(default="")


class DescribedDelegationToken(Struct):
    principal_type: str = string(default="")
    principal_name: str = string(default="")
    token_requester_principal_type: str = string(since=3, default="")
    token_requester_principal_name: str = string(since=3, default="")
    issue_timestamp: int = int64(default=0)
    expiry_timestamp: int = int64(default=0)
    max_timestamp: int = int64(default=0)
    token_id: str = string(default="")
    hmac: bytes = binary(default=b"")
    renewers: list[DescribedDelegationTokenRenewer] = array(
        DescribedDelegationTokenRenewer, default=()
    )


class DescribeDelegationTokenResponse(Response, key=KEY, versions=(0, 3), flexible=2):
    error_code: int = int16(default=0)
    tokens: list[DescribedDelegationToken] = array(DescribedDelegationToken, default=())
    throttle_time_ms: int = int32(default=0)
