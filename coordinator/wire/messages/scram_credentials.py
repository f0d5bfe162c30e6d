"""DescribeUserScramCredentials and AlterUserScramCredentials: users' credentials for SCRAM."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, binary, int16, int32, int8, string


class UserName(Struct):
    name: str = string(default="")


class DescribeUserScramCredentialsRequest(Request, key=50, versions=(0, 0), flexible=0):
    """DescribeUserScramCredentials (key 50): list users' mechanisms and iterations."""

    users: list[UserName] | None = array(UserName, nullable=0, default=())


class CredentialInfo(Struct):
    mechanism: int = int8(default=0)
    iterations: int = int32(default=0)


class DescribeUserScramCredentialsResult(Struct):
    user: str = string(default="")
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
    credential_infos: list[CredentialInfo] = array(CredentialInfo, default=())


class DescribeUserScramCredentialsResponse(Response, key=50, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
    results: list[DescribeUserScramCredentialsResult] = array(
        DescribeUserScramCredentialsResult, default=()
    )


class ScramCredentialDeletion(Struct):
    name: str = string(default="")
    mechanism: int = int8(default=0)


class ScramCredentialUpsertion(Struct):
    name: str = string(default="")
    mechanism: int = int8(default=0)
    iterations: int = int32(default=0)
    salt: bytes = binary(default=b"")
    salted_password: bytes = binary(default=b"")


class AlterUserScramCredentialsRequest(Request, key=51, versions=(0, 0), flexible=0):
    """AlterUserScramCredentials (key 51): set or delete users' credentials."""

    deletions: list[ScramCredentialDeletion] = array(ScramCredentialDeletion, default=())
    upsertions: list[ScramCredentialUpsertion] = array(ScramCredentialUpsertion, default=())


class AlterUserScramCredentialsResult(Struct):
    user: str = string(default="")
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")


class AlterUserScramCredentialsResponse(Response, key=51, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    results: list[AlterUserScramCredentialsResult] = array(
        AlterUserScramCredentialsResult, default=()
    )
