"""SaslHandshake (key 17), v0-1, on a listener without SASL: refused (34), no mechanism offered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.sasl import SaslHandshakeResponse

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker


def handle(_: Broker, __: Call) -> SaslHandshakeResponse:
    """Answered at once."""
    return SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE)
