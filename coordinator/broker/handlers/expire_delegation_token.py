"""ExpireDelegationToken (key 40), v1-2, on a connection without authentication: refused (64), as
all of KIP-48 is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.expire_delegation_token import ExpireDelegationTokenResponse

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker


def handle(_: Broker, __: Call) -> ExpireDelegationTokenResponse:
    """Answered at once."""
    return ExpireDelegationTokenResponse(
        error_code=ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, expiry_timestamp_ms=-1
    )
