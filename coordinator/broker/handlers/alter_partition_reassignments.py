"""AlterPartitionReassignments (key 45), v0-1 (KIP-455): with one broker a partition stays where it is, or the target is refused. (REASN-4)

Refused are targets that are empty, name an unknown broker or one twice (39), unknown partitions (3), and the cancelling of what
does not move (85).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from ..topics import Refused, check_replicas

if TYPE_CHECKING:
    from ..core import Broker, Call


def handle(broker: Broker, call: Call) -> AlterPartitionReassignmentsResponse:
    """Answered at once, each partition by itself; no time (timeout 0 or less) refuses all."""
    request = call.message
    assert isinstance(request, AlterPartitionReassignmentsRequest)
    late = request.timeout_ms <= 0 and bool(request.topics)
    responses = [
        ReassignableTopicResponse(name=topic.name, partitions=[
            _answer(partition, Refused(ErrorCode.REQUEST_TIMED_OUT, None) if late else _why_not(broker, topic.name, partition))
            for partition in topic.partitions])
        for topic in request.topics
    ]
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change, responses=responses,
        error_code=ErrorCode.REQUEST_TIMED_OUT if late else 0, error_message=None if request.topics else "",
    )  # fmt: skip


def _why_not(broker: Broker, topic: str, wanted: ReassignablePartition) -> Refused | None:
    index, replicas = wanted.partition_index, wanted.replicas
    if topic not in broker.cluster.topics:
        return Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {topic}.")
    partition = broker.cluster.partition(topic, index)
    if partition is None:
        return Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition {topic}:{index}.")
    if replicas is None:
        return Refused(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, None)
    try:
        check_replicas(broker.cluster, index, replicas)
    except Refused as refused:
        return refused
    assert replicas == partition.replicas, "one broker is served: it holds every partition"
    return None


def _answer(partition: ReassignablePartition, refused: Refused | None) -> ReassignablePartitionResponse:
    return ReassignablePartitionResponse(
        partition_index=partition.partition_index, error_code=0 if refused is None else refused.code,
        error_message=None if refused is None else refused.message,
    )  # fmt: skip
