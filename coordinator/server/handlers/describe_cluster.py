"""DescribeCluster (key 60), v0-2: v1 distinguishes broker and controller endpoints (KIP-919), v2
shows fenced brokers. This is a broker's endpoint: a request for controllers is refused (114),
one for any other kind too (115).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.metadata import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

from ..authorized_operations import CLUSTER_OPERATIONS, NOT_ASKED

if TYPE_CHECKING:
    from ..broker import Broker
    from ..requests.call import Call

_BROKERS, _CONTROLLERS = 1, 2
_MISMATCH = "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER"


def handle(broker: Broker, call: Call) -> DescribeClusterResponse:
    """Handle a DescribeCluster; it is never parked."""
    request = call.message
    assert isinstance(request, DescribeClusterRequest)
    if request.endpoint_type == _CONTROLLERS:
        return DescribeClusterResponse(
            error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE, error_message=_MISMATCH
        )
    if request.endpoint_type != _BROKERS:
        text = f"Unsupported endpoint type {request.endpoint_type}"
        return DescribeClusterResponse(
            error_code=ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, error_message=text
        )
    cluster = broker.cluster
    brokers = []
    for node in cluster.brokers.values():
        if call.listener in node.endpoints and (request.include_fenced_brokers or not node.fenced):
            host, port = node.endpoints[call.listener]
            brokers.append(
                DescribeClusterBroker(
                    broker_id=node.node_id,
                    host=host,
                    port=port,
                    rack=node.rack,
                    is_fenced=node.fenced,
                )
            )
    asked = request.include_cluster_authorized_operations
    return DescribeClusterResponse(
        cluster_id=cluster.cluster_id,
        controller_id=cluster.controller_id,
        brokers=brokers,
        cluster_authorized_operations=CLUSTER_OPERATIONS if asked else NOT_ASKED,
    )
