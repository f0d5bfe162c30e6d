"""DescribeCluster (key 60): brokers, controller, cluster id (KIP-700).

1: of brokers or of controllers (KIP-919). 2: fenced brokers too (KIP-1073).
"""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, boolean, int16, int32, int8, string

KEY = 60


class DescribeClusterRequest(Request, key=KEY, versions=(0, 2), flexible=0):
    include_cluster_authorized_operations: bool = boolean(default=False)
    endpoint_type: int = int8(since=1, default=1)
    include_fenced_brokers: bool = boolean(since=2, default=False)


class DescribeClusterBroker(Struct):
    broker_id: int = int32(default=0)
    host: str = string(default="")
    port: int = int32(default=0)
    rack: str | None = string(nullable=0, default=None)
    is_fenced: bool = boolean(since=2, default=False)


class DescribeClusterResponse(Response, key=KEY, versions=(0, 2), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)
    endpoint_type: int = int8(since=1, default=1)
    cluster_id: str = string(default="")
    controller_id: int = int32(default=-1)
    brokers: list[DescribeClusterBroker] = array(DescribeClusterBroker, default=())
    cluster_authorized_operations: int = int32(default=-2147483648)
