"""UnregisterController (key 94), v0: the active controller forgets another one's registration.

The active one is refused (42), who has no registration is told 136. A controller that lives
registers anew at once, so forgetting it leaves nothing to be seen, as in Kafka.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.broker_registration import (
    UnregisterControllerRequest,
    UnregisterControllerResponse,
)

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker


def handle(broker: Broker, call: Call) -> UnregisterControllerResponse:
    """Answered at once."""
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
