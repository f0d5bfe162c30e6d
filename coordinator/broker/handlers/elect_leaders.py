"""ElectLeaders (key 43), v0-2 (KIP-460): preferred 0, unclean 1. Every partition is led by its preferred, only replica: not needed (84).

No topics, null: all of them are looked at, and of those that need no election only the topic's name is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse, PartitionResult, ReplicaElectionResult

if TYPE_CHECKING:
    from ..core import Broker, Call

_PREFERRED, _UNCLEAN = 0, 1


def handle(broker: Broker, call: Call) -> ElectLeadersResponse:
    """Answered at once. No time (timeout 0 or less), and an unknown kind of election, are refused for the whole request."""
    request = call.message
    assert isinstance(request, ElectLeadersRequest)
    asked = request.topic_partitions
    if request.timeout_ms <= 0 and asked != []:
        return _refused(request, ErrorCode.REQUEST_TIMED_OUT, None)
    if request.election_type not in (_PREFERRED, _UNCLEAN) and asked != []:
        return _refused(request, ErrorCode.INVALID_REQUEST, f"Unknown election type {request.election_type}")
    if asked is None:
        return ElectLeadersResponse(replica_election_results=[
            ReplicaElectionResult(topic=name, partition_result=[]) for name in broker.cluster.topics])
    return ElectLeadersResponse(replica_election_results=[
        ReplicaElectionResult(topic=each.topic, partition_result=[_elected(broker, each.topic, index) for index in each.partitions])
        for each in asked])


def _elected(broker: Broker, topic: str, index: int) -> PartitionResult:
    if topic not in broker.cluster.topics:
        return _result(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {topic}")
    if broker.cluster.partition(topic, index) is None:
        return _result(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {topic}-{index}")
    return _result(index, ErrorCode.ELECTION_NOT_NEEDED, ErrorCode.ELECTION_NOT_NEEDED.message)


def _refused(request: ElectLeadersRequest, code: ErrorCode, message: str | None) -> ElectLeadersResponse:
    return ElectLeadersResponse(error_code=code, replica_election_results=[
        ReplicaElectionResult(topic=each.topic, partition_result=[_result(index, code, message) for index in each.partitions])
        for each in request.topic_partitions or ()])


def _result(index: int, code: ErrorCode, message: str | None) -> PartitionResult:
    return PartitionResult(partition_id=index, error_code=code, error_message=message)
