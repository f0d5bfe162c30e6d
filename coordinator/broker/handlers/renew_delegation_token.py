"""RenewDelegationToken (key 39), v1-2: by the owner, who asked for it, or a renewer (63). The
period is cut at delegation.token.expiry.time.ms, which 0 and less mean, and at the token's maximum
(TOK-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire.messages.delegation_tokens import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from ..delegation_tokens import with_new_end

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker


def handle(broker: Broker, call: Call) -> RenewDelegationTokenResponse:
    """Answered at once."""
    request = call.message
    assert isinstance(request, RenewDelegationTokenRequest)
    return with_new_end(
        broker,
        call,
        RenewDelegationTokenResponse,
        lambda tokens, now_ms: tokens.renew(
            request.hmac, call.principal, request.renew_period_ms, now_ms
        ),
    )
