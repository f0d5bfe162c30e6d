"""CreateDelegationToken (key 38), v1-3, on a connection without authentication: refused (64), as
all of KIP-48 is.

The refusal names the owner asked for (v3), or who asked: User:ANONYMOUS. An owner's name without a
type is an exception that Kafka did not foresee (-1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker

_ANONYMOUS = ("User", "ANONYMOUS")


def handle(_: Broker, call: Call) -> CreateDelegationTokenResponse:
    """Answered at once."""
    request = call.message
    assert isinstance(request, CreateDelegationTokenRequest)
    code, owner = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, _ANONYMOUS
    if request.owner_principal_name:
        if request.owner_principal_type is None:
            code = ErrorCode.UNKNOWN_SERVER_ERROR
        else:
            owner = (request.owner_principal_type, request.owner_principal_name)
    return CreateDelegationTokenResponse(
        error_code=code,
        principal_type=owner[0],
        principal_name=owner[1],
        token_requester_principal_type=_ANONYMOUS[0],
        token_requester_principal_name=_ANONYMOUS[1],
        issue_timestamp_ms=-1,
        expiry_timestamp_ms=-1,
        max_timestamp_ms=-1,
    )
