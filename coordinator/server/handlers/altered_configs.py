"""AlterConfigs (key 33), v0-2, which replaces all of a resource's own values, and
IncrementalAlterConfigs (key 44), v0-1 (KIP-339): SET 0, DELETE 1, and for lists APPEND 2 and
SUBTRACT 3.

Both are answered at once, each resource independently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.wire.messages.incremental_alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

from ..cluster.config_changes import Change, Operation
from ..config_requests import Alteration, altered
from ..requests.call import Sliced

if TYPE_CHECKING:
    from coordinator.base.slices import Slices

    from ..broker import Broker
    from ..requests.call import Call, Result


def alter_configs(broker: Broker, call: Call) -> Sliced:
    """Handle AlterConfigs: values that are not named are removed."""
    request = call.message
    assert isinstance(request, AlterConfigsRequest)
    return Sliced(_alter_all(broker, call, request))


def incremental_alter_configs(broker: Broker, call: Call) -> Sliced:
    """Handle IncrementalAlterConfigs: values that are not named stay."""
    request = call.message
    assert isinstance(request, IncrementalAlterConfigsRequest)
    return Sliced(_alter_some(broker, call, request))


def _alter_all(broker: Broker, call: Call, request: AlterConfigsRequest) -> Slices[Result]:
    alterations = [
        Alteration(
            (each.resource_type, each.resource_name),
            [Change(config.name, Operation.SET, config.value) for config in each.configs],
        )
        for each in request.resources
    ]
    rows = yield from altered(
        broker, call, alterations, replace=True, validate_only=request.validate_only
    )
    return AlterConfigsResponse(responses=rows)


def _alter_some(
    broker: Broker, call: Call, request: IncrementalAlterConfigsRequest
) -> Slices[Result]:
    alterations = [
        Alteration(
            (each.resource_type, each.resource_name),
            [Change(config.name, config.config_operation, config.value) for config in each.configs],
        )
        for each in request.resources
    ]
    rows = yield from altered(
        broker, call, alterations, replace=False, validate_only=request.validate_only
    )
    return IncrementalAlterConfigsResponse(responses=rows)
