"""SaslAuthenticate (key 36), v0-2, on a listener without SASL: refused (34)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.sasl import SaslAuthenticateResponse

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker

_WHY = "SaslAuthenticate request received after successful authentication"


def handle(_: Broker, __: Call) -> SaslAuthenticateResponse:
    """Answered at once."""
    return SaslAuthenticateResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE, error_message=_WHY)
