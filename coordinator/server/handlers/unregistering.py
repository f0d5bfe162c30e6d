"""UnregisterBroker and UnregisterController: remove a registration from the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.broker_registration import (
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
    UnregisterControllerRequest,
    UnregisterControllerResponse,
)

if TYPE_CHECKING:
    from ..broker import Broker
    from ..requests.call import Call


def unregister_broker(broker: Broker, call: Call) -> UnregisterBrokerResponse:
    """Handle UnregisterBroker (key 64), v0: remove a broker's registration, whether it is alive or
    not; 102 if it has none. The only broker of a cluster stays registered.
    """
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


def unregister_controller(broker: Broker, call: Call) -> UnregisterControllerResponse:
    """Handle UnregisterController (key 94), v0: remove the registration of a controller. The active
    controller is refused (42), a missing registration gets 136. A running controller registers
    again at once, so nothing changes visibly, as in Kafka.
    """
    request = call.message
    assert isinstance(request, UnregisterControllerRequest)
    if not broker.reaches_controller:
        return UnregisterControllerResponse(error_code=ErrorCode.REQUEST_TIMED_OUT)
    cluster, wanted = broker.controller.cluster, request.controller_id
    if wanted == cluster.controller_id:
        return UnregisterControllerResponse(
            error_code=ErrorCode.INVALID_REQUEST,
            error_message="Controller cannot unregister itself while it is active.",
        )
    if wanted not in cluster.brokers:
        return UnregisterControllerResponse(
            error_code=ErrorCode.CONTROLLER_ID_NOT_REGISTERED,
            error_message=f"Controller ID {wanted} is not currently registered.",
        )
    return UnregisterControllerResponse()
