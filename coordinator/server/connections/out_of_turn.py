"""Answers to requests that arrive while the client is still to authenticate (SASL-2).

Kafka refuses such a request with ILLEGAL_SASL_STATE and closes the connection. The answer here
is the API's ordinary refusal; Kafka's differs in some fields (docs/divergences.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.produce import ProduceRequest

from ..requests.refusals import refused_whole

if TYPE_CHECKING:
    from coordinator.wire.schema import Request, Response


def answer(message: Request, version: int) -> Response | None:
    """Return the answer to send before the connection is closed, or None for a Produce with acks=0."""
    if isinstance(message, ProduceRequest) and message.acks == 0:
        return None
    error = ErrorCode.ILLEGAL_SASL_STATE
    return refused_whole(message, version, error, error.message)
