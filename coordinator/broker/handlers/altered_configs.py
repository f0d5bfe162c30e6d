"""AlterConfigs (key 33), v0-2: a resource's own values become exactly those given, all others fall away;
and IncrementalAlterConfigs (key 44), v0-1 (KIP-339): SET 0, DELETE 1, and for lists APPEND 2 and
SUBTRACT 3.

Both are answered at once, each resource on its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...cluster.config_changes import Change, Operation
from ...wire.messages import alter_configs as whole
from ...wire.messages import incremental_alter_configs as incremental
from ..call import Sliced
from ..config_requests import Alteration, altered

if TYPE_CHECKING:
    from ...common.slices import Slices
    from ..call import Call, Result
    from ..core import Broker


def alter_configs(broker: Broker, call: Call) -> Sliced:
    """Other values fall away."""
    request = call.message
    assert isinstance(request, whole.AlterConfigsRequest)
    return Sliced(_alter_all(broker, call, request))


def incremental_alter_configs(broker: Broker, call: Call) -> Sliced:
    """Other values stay."""
    request = call.message
    assert isinstance(request, incremental.IncrementalAlterConfigsRequest)
    return Sliced(_alter_some(broker, call, request))


def _alter_all(broker: Broker, call: Call, request: whole.AlterConfigsRequest) -> Slices[Result]:
    alterations = [
        Alteration(
            (each.resource_type, each.resource_name),
            [Change(config.name, Operation.SET, config.value) for config in each.configs],
        )
        for each in request.resources
    ]
    row, only_checked = whole.AlterConfigsResourceResponse, request.validate_only
    rows = yield from altered(
        broker, call, alterations, row, replace=True, validate_only=only_checked
    )
    return whole.AlterConfigsResponse(responses=rows)


def _alter_some(
    broker: Broker, call: Call, request: incremental.IncrementalAlterConfigsRequest
) -> Slices[Result]:
    alterations = [
        Alteration(
            (each.resource_type, each.resource_name),
            [Change(config.name, config.config_operation, config.value) for config in each.configs],
        )
        for each in request.resources
    ]
    row, only_checked = incremental.AlterConfigsResourceResponse, request.validate_only
    rows = yield from altered(
        broker, call, alterations, row, replace=False, validate_only=only_checked
    )
    return incremental.IncrementalAlterConfigsResponse(responses=rows)
