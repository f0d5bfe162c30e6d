"""AlterUserScramCredentials (key 51)."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, binary, int16, int32, int8, string

KEY = 51


class ScramCredentialDeletion(Struct):
    name: str = string(default="")
    mechanism: int = int8(default=0)


class ScramCredentialUpsertion(Struct):
    name: str = string(default="")
    mechanism: int = int8(default=0)
    iterations: int = int32(default=0)
    salt: bytes = binary(default=b"")
    salted_password: bytes = binary(default=b"")


class AlterUserScramCredentialsRequest(Request, key=KEY, versions=(0, 0), flexible=0):
    deletions: list[ScramCredentialDeletion] = array(ScramCredentialDeletion, default=())
    upsertions: list[ScramCredentialUpsertion] = array(ScramCredentialUpsertion, default=())


class AlterUserScramCredentialsResult(Struct):
    user: str = string(default="")
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")


class AlterUserScramCredentialsResponse(Response, key=KEY, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    results: list[AlterUserScramCredentialsResult] = array(
        AlterUserScramCredentialsResult, default=()
    )
