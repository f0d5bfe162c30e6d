"""ExpireDelegationToken (key 40), v1-2: by the owner, who asked for it, or a renewer (63). A period below
0 ends the token at once, another one is cut at its maximum (TOK-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...security.tokens import TokenRefused
from ...wire.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from ..delegation_tokens import NO_TIME, refusal, tokens_of, wall_ms

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker


def handle(broker: Broker, call: Call) -> ExpireDelegationTokenResponse:
    """Answered at once."""
    request = call.message
    assert isinstance(request, ExpireDelegationTokenRequest)
    error = refusal(broker, call)
    if error is not None:
        return ExpireDelegationTokenResponse(error_code=error, expiry_timestamp_ms=NO_TIME)
    tokens = tokens_of(broker)
    if tokens is None:
        return ExpireDelegationTokenResponse(error_code=ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    try:
        ends_ms = tokens.expire(
            request.hmac, call.principal, request.expiry_time_period_ms, wall_ms(broker, call)
        )
    except TokenRefused as refused:
        return ExpireDelegationTokenResponse(error_code=refused.code)
    return ExpireDelegationTokenResponse(expiry_timestamp_ms=ends_ms)
