"""Brokers and controllers that are taken out of the cluster."""

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
    """UnregisterBroker (key 64), v0: the controller forgets a broker's registration, be it alive or
    not; who has none is told 102.

    Of a cluster of one the broker that serves stays: without it the cluster is of no use to anybody.

    Answered at once.
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
    """UnregisterController (key 94), v0: the active controller forgets another one's registration.

    The active one is refused (42), who has no registration is told 136. A controller that lives
    registers anew at once, so forgetting it leaves nothing to be seen, as in Kafka.

    Answered at once.
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
