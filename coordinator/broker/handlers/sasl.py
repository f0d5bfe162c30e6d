"""A login by SASL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.sasl import SaslAuthenticateResponse, SaslHandshakeResponse

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker


def sasl_handshake(_: Broker, __: Call) -> SaslHandshakeResponse:
    """SaslHandshake (key 17), v0-1, on a listener without SASL: refused (34), no mechanism offered.

    Answered at once.
    """
    return SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE)


_WHY = "SaslAuthenticate request received after successful authentication"


def sasl_authenticate(_: Broker, __: Call) -> SaslAuthenticateResponse:
    """SaslAuthenticate (key 36), v0-2, on a listener without SASL: refused (34).

    Answered at once.
    """
    return SaslAuthenticateResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE, error_message=_WHY)
