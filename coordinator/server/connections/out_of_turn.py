"""Answers to requests that come while a client is to log in (SASL-2).

Kafka refuses such a request with ILLEGAL_SASL_STATE and closes the connection. The answer here is the
API's ordinary refusal; Kafka's differs from it in some fields (docs/divergences.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.produce import ProduceRequest

from ..requests.refusals import refused_whole

if TYPE_CHECKING:
    from coordinator.wire.schema import Request, Response


def answer(message: Request, version: int) -> Response | None:
    """Return the answer after which the connection closes, or None if the request has none: a
    Produce without acknowledgement."""
    if isinstance(message, ProduceRequest) and message.acks == 0:
        return None
    error = ErrorCode.ILLEGAL_SASL_STATE
    return refused_whole(message, version, error, error.message)
