"""AlterConfigs (key 33), v0-2: a resource's own values become exactly those given; all others fall away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...cluster.config_changes import Change, ConfigRefused, Operation
from ...errors import ErrorCode
from ...wire.messages.alter_configs import AlterConfigsRequest, AlterConfigsResource, AlterConfigsResourceResponse, AlterConfigsResponse
from ..config_requests import alter, doubled

if TYPE_CHECKING:
    from ..core import Broker, Call


def handle(broker: Broker, call: Call) -> AlterConfigsResponse:
    """Answered at once, each resource on its own."""
    request = call.message
    assert isinstance(request, AlterConfigsRequest)
    twice = doubled((each.resource_type, each.resource_name) for each in request.resources)
    return AlterConfigsResponse(responses=[_altered(broker, call, each, twice, request.validate_only) for each in request.resources])


def _altered(
    broker: Broker, call: Call, asked: AlterConfigsResource, twice: frozenset[tuple[int, str]], validate_only: bool
) -> AlterConfigsResourceResponse:
    resource = (asked.resource_type, asked.resource_name)
    response = AlterConfigsResourceResponse(error_message=None, resource_type=resource[0], resource_name=resource[1])
    changes = [Change(config.name, Operation.SET, config.value) for config in asked.configs]
    try:
        if resource in twice:
            raise ConfigRefused(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
        alter(broker, call, resource, changes, replace=True, validate_only=validate_only)
    except ConfigRefused as refused:
        response.error_code, response.error_message = refused.code, refused.message
    return response
