"""ListPartitionReassignments (key 46)."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, int16, int32, string

KEY = 46


class ListPartitionReassignmentsTopics(Struct):
    name: str = string(default="")
    partition_indexes: list[int] = array(int32, default=())


class ListPartitionReassignmentsRequest(Request, key=KEY, versions=(0, 0), flexible=0):
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


class ListPartitionReassignmentsResponse(Response, key=KEY, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
    topics: list[OngoingTopicReassignment] = array(OngoingTopicReassignment, default=())
