"""UnregisterBroker (key 64), v0: the controller forgets a broker's registration, be it alive or
not; who has none is told 102.

Of a cluster of one the broker that serves stays: without it the cluster is of no use to anybody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.broker_registration import UnregisterBrokerRequest, UnregisterBrokerResponse

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker


def handle(broker: Broker, call: Call) -> UnregisterBrokerResponse:
    """Answered at once."""
    request = call.message
    assert isinstance(request, UnregisterBrokerRequest)
    if not broker.reaches_controller:
        return UnregisterBrokerResponse(error_code=ErrorCode.REQUEST_TIMED_OUT)
    if request.broker_id not in broker.controller.cluster.brokers:
        told = broker.controller_release.has("BRK-41-1")
        why = f"Broker ID {request.broker_id} is not currently registered" if told else ""
        return UnregisterBrokerResponse(
            error_code=ErrorCode.BROKER_ID_NOT_REGISTERED, error_message=why
        )
    if broker.replication is not None:
        broker.controller.unregister(request.broker_id, call.now, call.cause)
    return UnregisterBrokerResponse()
