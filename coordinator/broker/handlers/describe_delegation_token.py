"""DescribeDelegationToken (key 41), v1-3, on a connection without authentication: refused (64), as
all of KIP-48 is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.describe_delegation_token import DescribeDelegationTokenResponse

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker


def handle(_: Broker, __: Call) -> DescribeDelegationTokenResponse:
    """Answered at once."""
    return DescribeDelegationTokenResponse(
        error_code=ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    )
