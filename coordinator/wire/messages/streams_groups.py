"""StreamsGroupHeartbeat, StreamsGroupDescribe and the topology's description: groups of Kafka
Streams (KIP-1071).
"""

from __future__ import annotations

from ..schema import (
    Request,
    Response,
    Struct,
    array,
    boolean,
    int16,
    int32,
    int64,
    int8,
    string,
    struct,
    uint16,
)


class KeyValue(Struct):
    key: str = string(default="")
    value: str = string(default="")


class TopicInfo(Struct):
    name: str = string(default="")
    partitions: int = int32(default=0)
    replication_factor: int = int16(default=0)
    topic_configs: list[KeyValue] = array(KeyValue, default=())


class CopartitionGroup(Struct):
    source_topics: list[int] = array(int16, default=())
    source_topic_regex: list[int] = array(int16, default=())
    repartition_source_topics: list[int] = array(int16, default=())


class StreamsGroupHeartbeatSubtopology(Struct):
    subtopology_id: str = string(default="")
    source_topics: list[str] = array(string, default=())
    source_topic_regex: list[str] = array(string, default=())
    state_changelog_topics: list[TopicInfo] = array(TopicInfo, default=())
    repartition_sink_topics: list[str] = array(string, default=())
    repartition_source_topics: list[TopicInfo] = array(TopicInfo, default=())
    copartition_groups: list[CopartitionGroup] = array(CopartitionGroup, default=())


class StreamsGroupHeartbeatTopology(Struct):
    epoch: int = int32(default=0)
    subtopologies: list[StreamsGroupHeartbeatSubtopology] = array(
        StreamsGroupHeartbeatSubtopology, default=()
    )


class TaskIds(Struct):
    subtopology_id: str = string(default="")
    partitions: list[int] = array(int32, default=())


class Endpoint(Struct):
    host: str = string(default="")
    port: int = uint16(default=0)


class TaskOffset(Struct):
    subtopology_id: str = string(default="")
    partition: int = int32(default=0)
    offset: int = int64(default=0)


class StreamsGroupHeartbeatRequest(Request, key=88, versions=(0, 1), flexible=0):
    """StreamsGroupHeartbeat (key 88): join, stay in or leave a streams group.

    1: the recovery lag is a wider integer, and the broker may ask for a description of the
    topology (KIP-1331).
    """

    group_id: str = string(default="")
    member_id: str = string(default="")
    member_epoch: int = int32(default=0)
    endpoint_information_epoch: int = int32(default=0)
    instance_id: str | None = string(nullable=0, default=None)
    rack_id: str | None = string(nullable=0, default=None)
    rebalance_timeout_ms: int = int32(default=-1)
    topology: StreamsGroupHeartbeatTopology | None = struct(
        StreamsGroupHeartbeatTopology, nullable=0, default=None
    )
    active_tasks: list[TaskIds] | None = array(TaskIds, nullable=0, default=None)
    standby_tasks: list[TaskIds] | None = array(TaskIds, nullable=0, default=None)
    warmup_tasks: list[TaskIds] | None = array(TaskIds, nullable=0, default=None)
    process_id: str | None = string(nullable=0, default=None)
    user_endpoint: Endpoint | None = struct(Endpoint, nullable=0, default=None)
    client_tags: list[KeyValue] | None = array(KeyValue, nullable=0, default=None)
    task_offsets: list[TaskOffset] | None = array(TaskOffset, nullable=0, default=None)
    task_end_offsets: list[TaskOffset] | None = array(TaskOffset, nullable=0, default=None)
    shutdown_application: bool = boolean(default=False)


class Status(Struct):
    status_code: int = int8(default=0)
    status_detail: str = string(default="")


class TopicPartition(Struct):
    topic: str = string(default="")
    partitions: list[int] = array(int32, default=())


class EndpointToPartitions(Struct):
    user_endpoint: Endpoint = struct(Endpoint, default=...)
    active_partitions: list[TopicPartition] = array(TopicPartition, default=())
    standby_partitions: list[TopicPartition] = array(TopicPartition, default=())


class StreamsGroupHeartbeatResponse(Response, key=88, versions=(0, 1), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)
    member_id: str = string(default="")
    member_epoch: int = int32(default=0)
    heartbeat_interval_ms: int = int32(default=0)
    acceptable_recovery_lag_legacy: int = int32(until=0, default=0)
    task_offset_interval_ms: int = int32(default=0)
    acceptable_recovery_lag: int = int64(since=1, default=-1)
    status: list[Status] | None = array(Status, nullable=0, default=())
    active_tasks: list[TaskIds] | None = array(TaskIds, nullable=0, default=None)
    standby_tasks: list[TaskIds] | None = array(TaskIds, nullable=0, default=None)
    warmup_tasks: list[TaskIds] | None = array(TaskIds, nullable=0, default=None)
    topology_description_required: bool = boolean(since=1, default=False)
    endpoint_information_epoch: int = int32(default=0)
    partitions_by_user_endpoint: list[EndpointToPartitions] | None = array(
        EndpointToPartitions, nullable=0, default=None
    )


class StreamsGroupDescribeRequest(Request, key=89, versions=(0, 1), flexible=0):
    """StreamsGroupDescribe (key 89): state, epochs and members of streams groups.

    1: the description of the topology (KIP-1331), and the assignor.
    """

    group_ids: list[str] = array(string, default=())
    include_authorized_operations: bool = boolean(default=False)
    include_topology_description: bool = boolean(since=1, default=False)


class StreamsGroupDescribeSubtopology(Struct):
    subtopology_id: str = string(default="")
    source_topics: list[str] = array(string, default=())
    repartition_sink_topics: list[str] = array(string, default=())
    state_changelog_topics: list[TopicInfo] = array(TopicInfo, default=())
    repartition_source_topics: list[TopicInfo] = array(TopicInfo, default=())


class StreamsGroupDescribeTopology(Struct):
    epoch: int = int32(default=0)
    subtopologies: list[StreamsGroupDescribeSubtopology] | None = array(
        StreamsGroupDescribeSubtopology, nullable=0, default=None
    )


class Assignment(Struct):
    active_tasks: list[TaskIds] = array(TaskIds, default=())
    standby_tasks: list[TaskIds] = array(TaskIds, default=())
    warmup_tasks: list[TaskIds] = array(TaskIds, default=())


class Member(Struct):
    member_id: str = string(default="")
    member_epoch: int = int32(default=0)
    instance_id: str | None = string(nullable=0, default=None)
    rack_id: str | None = string(nullable=0, default=None)
    client_id: str = string(default="")
    client_host: str = string(default="")
    topology_epoch: int = int32(default=0)
    process_id: str = string(default="")
    user_endpoint: Endpoint | None = struct(Endpoint, nullable=0, default=None)
    client_tags: list[KeyValue] = array(KeyValue, default=())
    task_offsets: list[TaskOffset] = array(TaskOffset, default=())
    task_end_offsets: list[TaskOffset] = array(TaskOffset, default=())
    assignment: Assignment = struct(Assignment, default=...)
    target_assignment: Assignment = struct(Assignment, default=...)
    is_classic: bool = boolean(default=False)


class TopologyDescriptionNode(Struct):
    name: str = string(default="")
    node_type: int = int8(default=0)
    source_topics: list[str] = array(string, default=())
    sink_topic: str | None = string(nullable=0, default=None)
    stores: list[str] = array(string, default=())
    successors: list[str] = array(string, default=())


class TopologyDescriptionSubtopology(Struct):
    subtopology_id: str = string(default="")
    nodes: list[TopologyDescriptionNode] = array(TopologyDescriptionNode, default=())


class TopologyDescriptionGlobalStore(Struct):
    source: TopologyDescriptionNode = struct(TopologyDescriptionNode, default=...)
    processor: TopologyDescriptionNode = struct(TopologyDescriptionNode, default=...)


class TopologyDescription(Struct):
    subtopologies: list[TopologyDescriptionSubtopology] = array(
        TopologyDescriptionSubtopology, default=()
    )
    global_stores: list[TopologyDescriptionGlobalStore] = array(
        TopologyDescriptionGlobalStore, default=()
    )


class DescribedGroup(Struct):
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)
    group_id: str = string(default="")
    group_state: str = string(default="")
    group_epoch: int = int32(default=0)
    assignment_epoch: int = int32(default=0)
    topology: StreamsGroupDescribeTopology | None = struct(
        StreamsGroupDescribeTopology, nullable=0, default=None
    )
    members: list[Member] = array(Member, default=())
    authorized_operations: int = int32(default=-2147483648)
    topology_description: TopologyDescription | None = struct(
        TopologyDescription, since=1, nullable=1, default=None
    )
    topology_description_status: int = int8(since=1, default=0)
    assignor_name: str | None = string(since=1, nullable=1, default=None)


class StreamsGroupDescribeResponse(Response, key=89, versions=(0, 1), flexible=0):
    throttle_time_ms: int = int32(default=0)
    groups: list[DescribedGroup] = array(DescribedGroup, default=())


class StreamsGroupTopologyDescriptionUpdateRequest(Request, key=93, versions=(0, 0), flexible=0):
    """StreamsGroupTopologyDescriptionUpdate (key 93): a member sends the description of its
    topology (KIP-1331).
    """

    group_id: str = string(default="")
    member_id: str = string(default="")
    topology_epoch: int = int32(default=0)
    topology_description: TopologyDescription = struct(TopologyDescription, default=...)


class StreamsGroupTopologyDescriptionUpdateResponse(Response, key=93, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)
