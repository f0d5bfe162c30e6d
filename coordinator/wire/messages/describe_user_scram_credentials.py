"""DescribeUserScramCredentials (key 50)."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, int16, int32, int8, string

KEY = 50


class UserName(Struct):
    name: str = string(default="")


class DescribeUserScramCredentialsRequest(Request, key=KEY, versions=(0, 0), flexible=0):
    users: list[UserName] | None = array(UserName, nullable=0, default=())


class CredentialInfo(Struct):
    mechanism: int = int8(default=0)
    iterations: int = int32(default=0)


class DescribeUserScramCredentialsResult(Struct):
    user: str = string(default="")
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
    credential_infos: list[CredentialInfo] = array(CredentialInfo, default=())


class DescribeUserScramCredentialsResponse(Response, key=KEY, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
    results: list[DescribeUserScramCredentialsResult] = array(
        DescribeUserScramCredentialsResult, default=()
    )
