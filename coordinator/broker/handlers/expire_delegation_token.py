"""ExpireDelegationToken (key 40), v1-2: by the owner, who asked for it, or a renewer (63). A period below
0 ends the token at once, another one is cut at its maximum (TOK-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire.messages.delegation_tokens import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from ..delegation_tokens import with_new_end

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker


def handle(broker: Broker, call: Call) -> ExpireDelegationTokenResponse:
    """Answered at once."""
    request = call.message
    assert isinstance(request, ExpireDelegationTokenRequest)
    return with_new_end(
        broker,
        call,
        ExpireDelegationTokenResponse,
        lambda tokens, now_ms: tokens.expire(
            request.hmac, call.principal, request.expiry_time_period_ms, now_ms
        ),
    )
