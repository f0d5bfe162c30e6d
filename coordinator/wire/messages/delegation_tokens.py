"""Create-, Renew-, Expire- and DescribeDelegationToken: tokens that a client can log in with."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, binary, int16, int32, int64, string


class CreatableRenewers(Struct):
    principal_type: str = string(default="")
    principal_name: str = string(default="")


class CreateDelegationTokenRequest(Request, key=38, versions=(0, 3), flexible=2):
    """CreateDelegationToken (key 38): create a token for the client's user, or for another owner."""

    owner_principal_type: str | None = string(since=3, nullable=3, default="")
    owner_principal_name: str | None = string(since=3, nullable=3, default="")
    renewers: list[CreatableRenewers] = array(CreatableRenewers, default=())
    max_lifetime_ms: int = int64(default=0)


class CreateDelegationTokenResponse(Response, key=38, versions=(0, 3), flexible=2):
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


class RenewDelegationTokenRequest(Request, key=39, versions=(0, 2), flexible=2):
    """RenewDelegationToken (key 39): extend a token's expiry."""

    hmac: bytes = binary(default=b"")
    renew_period_ms: int = int64(default=0)


class RenewDelegationTokenResponse(Response, key=39, versions=(0, 2), flexible=2):
    error_code: int = int16(default=0)
    expiry_timestamp_ms: int = int64(default=0)
    throttle_time_ms: int = int32(default=0)


class ExpireDelegationTokenRequest(Request, key=40, versions=(0, 2), flexible=2):
    """ExpireDelegationToken (key 40): set a token's expiry earlier, or delete the token at once."""

    hmac: bytes = binary(default=b"")
    expiry_time_period_ms: int = int64(default=0)


class ExpireDelegationTokenResponse(Response, key=40, versions=(0, 2), flexible=2):
    error_code: int = int16(default=0)
    expiry_timestamp_ms: int = int64(default=0)
    throttle_time_ms: int = int32(default=0)


class DescribeDelegationTokenOwner(Struct):
    principal_type: str = string(default="")
    principal_name: str = string(default="")


class DescribeDelegationTokenRequest(Request, key=41, versions=(0, 3), flexible=2):
    """DescribeDelegationToken (key 41): list the tokens of owners."""

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


class DescribeDelegationTokenResponse(Response, key=41, versions=(0, 3), flexible=2):
    error_code: int = int16(default=0)
    tokens: list[DescribedDelegationToken] = array(DescribedDelegationToken, default=())
    throttle_time_ms: int = int32(default=0)
