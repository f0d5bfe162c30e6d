"""A login by SASL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.sasl import SaslAuthenticateResponse, SaslHandshakeResponse

if TYPE_CHECKING:
    from ..broker import Broker
    from ..requests.call import Call


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
