"""IncrementalAlterConfigs (key 44), v0-1 (KIP-339): SET 0, DELETE 1, and for lists APPEND 2 and
SUBTRACT 3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...cluster.config_changes import Change
from ...wire.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
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
    assert isinstance(request, IncrementalAlterConfigsRequest)
    return Sliced(_alter_all(broker, call, request))


def _alter_all(
    broker: Broker, call: Call, request: IncrementalAlterConfigsRequest
) -> Slices[Result]:
    alterations = [
        Alteration(
            (each.resource_type, each.resource_name),
            [Change(config.name, config.config_operation, config.value) for config in each.configs],
        )
        for each in request.resources
    ]
    responses = yield from altered(
        broker,
        call,
        alterations,
        AlterConfigsResourceResponse,
        replace=False,
        validate_only=request.validate_only,
    )
    return IncrementalAlterConfigsResponse(responses=responses)
