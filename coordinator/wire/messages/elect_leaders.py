"""ElectLeaders (key 43)."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, int16, int32, int8, string

KEY = 43


class TopicPartitions(Struct):
    topic: str = string(default="")
    partitions: list[int] = array(int32, default=())


class ElectLeadersRequest(Request, key=KEY, versions=(0, 2), flexible=2):
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


class ElectLeadersResponse(Response, key=KEY, versions=(0, 2), flexible=2):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(since=1, default=0)
    replica_election_results: list[ReplicaElectionResult] = array(ReplicaElectionResult, default=())
