"""Reassignments of partitions to other replicas, and elections of leaders."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, boolean, int16, int32, int8, string


class ReassignablePartition(Struct):
    partition_index: int = int32(default=0)
    replicas: list[int] | None = array(int32, nullable=0, default=None)


class ReassignableTopic(Struct):
    name: str = string(default="")
    partitions: list[ReassignablePartition] = array(ReassignablePartition, default=())


class AlterPartitionReassignmentsRequest(Request, key=45, versions=(0, 1), flexible=0):
    """AlterPartitionReassignments (key 45): move partitions to other replicas, or cancel that."""

    timeout_ms: int = int32(default=60000)
    allow_replication_factor_change: bool = boolean(since=1, default=True)
    topics: list[ReassignableTopic] = array(ReassignableTopic, default=())


class ReassignablePartitionResponse(Struct):
    partition_index: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")


class ReassignableTopicResponse(Struct):
    name: str = string(default="")
    partitions: list[ReassignablePartitionResponse] = array(
        ReassignablePartitionResponse, default=()
    )


class AlterPartitionReassignmentsResponse(Response, key=45, versions=(0, 1), flexible=0):
    throttle_time_ms: int = int32(default=0)
    allow_replication_factor_change: bool = boolean(since=1, default=True)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
    responses: list[ReassignableTopicResponse] = array(ReassignableTopicResponse, default=())


class ListPartitionReassignmentsTopics(Struct):
    name: str = string(default="")
    partition_indexes: list[int] = array(int32, default=())


class ListPartitionReassignmentsRequest(Request, key=46, versions=(0, 0), flexible=0):
    """ListPartitionReassignments (key 46): list the reassignments in progress."""

    timeout_ms: int = int32(default=60000)
    topics: list[ListPartitionReassignmentsTopics] | None = array(
        ListPartitionReassignmentsTopics, nullable=0, default=None
    )


class OngoingPartitionReassignment(Struct):
    partition_index: int = int32(default=0)
    replicas: list[int] = array(int32, default=())
    adding_replicas: list[int] = array(int32, default=())
    removing_replicas: list[int] = array(int32, default=())


class OngoingTopicReassignment(Struct):
    name: str = string(default="")
    partitions: list[OngoingPartitionReassignment] = array(OngoingPartitionReassignment, default=())


class ListPartitionReassignmentsResponse(Response, key=46, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
    topics: list[OngoingTopicReassignment] = array(OngoingTopicReassignment, default=())


class TopicPartitions(Struct):
    topic: str = string(default="")
    partitions: list[int] = array(int32, default=())


class ElectLeadersRequest(Request, key=43, versions=(0, 2), flexible=2):
    """ElectLeaders (key 43): elect the preferred leaders of partitions, or unclean ones."""

    election_type: int = int8(since=1, default=0)
    topic_partitions: list[TopicPartitions] | None = array(TopicPartitions, nullable=0, default=())
    timeout_ms: int = int32(default=60000)


class PartitionResult(Struct):
    partition_id: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")


class ReplicaElectionResult(Struct):
    topic: str = string(default="")
    partition_result: list[PartitionResult] = array(PartitionResult, default=())


class ElectLeadersResponse(Response, key=43, versions=(0, 2), flexible=2):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(since=1, default=0)
    replica_election_results: list[ReplicaElectionResult] = array(ReplicaElectionResult, default=())
