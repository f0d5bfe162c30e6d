"""Metadata and DescribeCluster: the brokers, topics and partitions of a cluster."""

from __future__ import annotations

from ..schema import (
    ZERO_UUID,
    Request,
    Response,
    Struct,
    array,
    boolean,
    int16,
    int32,
    int8,
    string,
    uuid,
)


class MetadataRequestTopic(Struct):
    topic_id: bytes = uuid(since=10, default=ZERO_UUID)
    name: str | None = string(nullable=10, default="")


class MetadataRequest(Request, key=3, versions=(0, 13), flexible=9):
    """Metadata (key 3): brokers, topics, partitions and their leaders.

    To ask for all topics: an empty list in 0, null from 1 on. 1: racks, controller, internal
    topics. 2: cluster id. 4: may create topics. 5: offline replicas. 7: leader epochs (KIP-320).
    8: authorised operations (KIP-430). 9: flexible. 10: topic ids in the response, 12: in the
    request (KIP-516). 11: the cluster's authorised operations moved to DescribeCluster. 13:
    top-level error (KIP-1102).
    """

    topics: list[MetadataRequestTopic] | None = array(MetadataRequestTopic, nullable=1, default=())
    allow_auto_topic_creation: bool = boolean(since=4, default=True)
    include_cluster_authorized_operations: bool = boolean(since=8, until=10, default=False)
    include_topic_authorized_operations: bool = boolean(since=8, default=False)


class MetadataResponseBroker(Struct):
    node_id: int = int32(default=0)
    host: str = string(default="")
    port: int = int32(default=0)
    rack: str | None = string(since=1, nullable=1, default=None)


class MetadataResponsePartition(Struct):
    error_code: int = int16(default=0)
    partition_index: int = int32(default=0)
    leader_id: int = int32(default=0)
    leader_epoch: int = int32(since=7, default=-1)
    replica_nodes: list[int] = array(int32, default=())
    isr_nodes: list[int] = array(int32, default=())
    offline_replicas: list[int] = array(int32, since=5, default=())


class MetadataResponseTopic(Struct):
    error_code: int = int16(default=0)
    name: str | None = string(nullable=12, default="")
    topic_id: bytes = uuid(since=10, default=ZERO_UUID)
    is_internal: bool = boolean(since=1, default=False)
    partitions: list[MetadataResponsePartition] = array(MetadataResponsePartition, default=())
    topic_authorized_operations: int = int32(since=8, default=-2147483648)


class MetadataResponse(Response, key=3, versions=(0, 13), flexible=9):
    throttle_time_ms: int = int32(since=3, default=0)
    brokers: list[MetadataResponseBroker] = array(MetadataResponseBroker, default=())
    cluster_id: str | None = string(since=2, nullable=2, default=None)
    controller_id: int = int32(since=1, default=-1)
    topics: list[MetadataResponseTopic] = array(MetadataResponseTopic, default=())
    error_code: int = int16(since=13, default=0)
    cluster_authorized_operations: int = int32(since=8, until=10, default=-2147483648)


class DescribeClusterRequest(Request, key=60, versions=(0, 2), flexible=0):
    """DescribeCluster (key 60): brokers, controller, cluster id (KIP-700).

    1: either the brokers or the controllers (KIP-919). 2: fenced brokers too (KIP-1073).
    """

    include_cluster_authorized_operations: bool = boolean(default=False)
    endpoint_type: int = int8(since=1, default=1)
    include_fenced_brokers: bool = boolean(since=2, default=False)


class DescribeClusterBroker(Struct):
    broker_id: int = int32(default=0)
    host: str = string(default="")
    port: int = int32(default=0)
    rack: str | None = string(nullable=0, default=None)
    is_fenced: bool = boolean(since=2, default=False)


class DescribeClusterResponse(Response, key=60, versions=(0, 2), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)
    endpoint_type: int = int8(since=1, default=1)
    cluster_id: str = string(default="")
    controller_id: int = int32(default=-1)
    brokers: list[DescribeClusterBroker] = array(DescribeClusterBroker, default=())
    cluster_authorized_operations: int = int32(default=-2147483648)
