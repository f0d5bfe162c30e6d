"""AlterConfigs (key 33), v0-2: a resource's own values become exactly those given; all others fall
away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...cluster.config_changes import Change, Operation
from ...wire.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from ..call import Sliced
from ..config_requests import Alteration, altered

if TYPE_CHECKING:
    from ...common.slices import Slices
    from ..call import Call, Result
    from ..core import Broker


def handle(broker: Broker, call: Call) -> Sliced:
    """Answered at once, each resource on its own."""
    request = call.message
    assert isinstance(request, AlterConfigsRequest)
    return Sliced(_alter_all(broker, call, request))


def _alter_all(broker: Broker, call: Call, request: AlterConfigsRequest) -> Slices[Result]:
    alterations = [
        Alteration(
            (each.resource_type, each.resource_name),
            [Change(config.name, Operation.SET, config.value) for config in each.configs],
        )
        for each in request.resources
    ]
    responses = yield from altered(
        broker,
        call,
        alterations,
        AlterConfigsResourceResponse,
        replace=True,
        validate_only=request.validate_only,
    )
    return AlterConfigsResponse(responses=responses)
