"""Handlers of the SASL APIs on a listener without SASL: always refused. On a listener with SASL,
`connections.secured` answers them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.sasl import SaslAuthenticateResponse, SaslHandshakeResponse

if TYPE_CHECKING:
    from ..broker import Broker
    from ..requests.call import Call


def sasl_handshake(_: Broker, __: Call) -> SaslHandshakeResponse:
    """Refuse SaslHandshake (key 17), v0-1, with error 34 and no mechanisms."""
    return SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE)


_WHY = "SaslAuthenticate request received after successful authentication"


def sasl_authenticate(_: Broker, __: Call) -> SaslAuthenticateResponse:
    """Refuse SaslAuthenticate (key 36), v0-2, with error 34."""
    return SaslAuthenticateResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE, error_message=_WHY)
