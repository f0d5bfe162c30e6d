"""RenewDelegationToken (key 39), v1-2: by the owner, who asked for it, or a renewer (63). The
period is cut at delegation.token.expiry.time.ms, which 0 and less mean, and at the token's maximum
(TOK-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...security.tokens import TokenRefused
from ...wire.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from ..delegation_tokens import NO_TIME, refusal, tokens_of, wall_ms

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker


def handle(broker: Broker, call: Call) -> RenewDelegationTokenResponse:
    """Answered at once."""
    request = call.message
    assert isinstance(request, RenewDelegationTokenRequest)
    error = refusal(broker, call)
    if error is not None:
        return RenewDelegationTokenResponse(error_code=error, expiry_timestamp_ms=NO_TIME)
    tokens = tokens_of(broker)
    if tokens is None:
        return RenewDelegationTokenResponse(error_code=ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    try:
        ends_ms = tokens.renew(
            request.hmac, call.principal, request.renew_period_ms, wall_ms(broker, call)
        )
    except TokenRefused as refused:
        return RenewDelegationTokenResponse(error_code=refused.code)
    return RenewDelegationTokenResponse(expiry_timestamp_ms=ends_ms)
