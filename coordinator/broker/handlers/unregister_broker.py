"""UnregisterBroker (key 64), v0: only the broker that serves is registered; anybody else is not (102)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse

if TYPE_CHECKING:
    from ..core import Broker, Call


def handle(broker: Broker, call: Call) -> UnregisterBrokerResponse:
    """Answered at once. The broker that serves stays: without it Kafka's cluster is of no use to anybody."""
    request = call.message
    assert isinstance(request, UnregisterBrokerRequest)
    if request.broker_id not in broker.cluster.brokers:
        why = f"Broker ID {request.broker_id} is not currently registered"
        return UnregisterBrokerResponse(error_code=ErrorCode.BROKER_ID_NOT_REGISTERED, error_message=why)
    return UnregisterBrokerResponse()
