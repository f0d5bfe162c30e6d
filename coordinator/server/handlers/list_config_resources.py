"""ListConfigResources (key 74), v0-1 (KIP-1142): resources that DescribeConfigs could describe. v0
lists client metrics subscriptions only. Topics and brokers are always listed; groups and
subscriptions only if they have own values.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.describe_configs import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

from ..settings.definitions import ResourceType

if TYPE_CHECKING:
    from ..broker import Broker
    from ..requests.call import Call

_ALL = (
    ResourceType.GROUP,
    ResourceType.CLIENT_METRICS,
    ResourceType.BROKER_LOGGER,
    ResourceType.BROKER,
    ResourceType.TOPIC,
)


def handle(broker: Broker, call: Call) -> ListConfigResourcesResponse:
    """Handle a ListConfigResources. No types mean all; an unknown type refuses the whole request
    (35).
    """
    request = call.message
    assert isinstance(request, ListConfigResourcesRequest)
    if call.version == 0:
        asked: Iterable[int] = (ResourceType.CLIENT_METRICS,)
    else:
        asked = dict.fromkeys(request.resource_types) or _ALL
    if any(kind not in _ALL for kind in asked):
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    return ListConfigResourcesResponse(
        config_resources=[
            ConfigResource(resource_name=name, resource_type=kind)
            for kind in asked
            for name in _names(broker, ResourceType(kind))
        ]
    )


def _names(broker: Broker, kind: ResourceType) -> Iterable[str]:
    cluster = broker.cluster
    match kind:
        case ResourceType.TOPIC:
            return cluster.topics
        case ResourceType.GROUP:
            return [name for name, configs in cluster.group_configs.items() if configs]
        case ResourceType.CLIENT_METRICS:
            return [name for name, configs in cluster.client_metrics.items() if configs]
        case _:
            return [str(node_id) for node_id in cluster.brokers]
