"""AlterPartitionReassignments (key 45), v0-1 (KIP-455): partitions are to move to other brokers, or no longer. (REASN-4)

v1: a change of the replication factor may be forbidden. Refused are targets that are empty, name an unknown broker or one twice (39),
unknown partitions (3), and the cancelling of what does not move (85). `cluster.controller.reassignments` holds the rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...cluster.controller.leaders import Refusal
from ...cluster.controller.reassignments import reassign
from ...errors import ErrorCode
from ...wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker


def handle(broker: Broker, call: Call) -> AlterPartitionReassignmentsResponse:
    """Answered at once, each partition by itself; no time (timeout 0 or less) refuses all."""
    request = call.message
    assert isinstance(request, AlterPartitionReassignmentsRequest)
    late = (request.timeout_ms <= 0 or not broker.reaches_controller) and bool(request.topics)
    responses = [
        ReassignableTopicResponse(name=topic.name, partitions=[
            _answer(partition, Refusal(ErrorCode.REQUEST_TIMED_OUT) if late else reassign(
                broker.controller, topic.name, partition.partition_index, partition.replicas, call.now, call.cause,
                allow_factor_change=request.allow_replication_factor_change))
            for partition in topic.partitions])
        for topic in request.topics
    ]
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change, responses=responses,
        error_code=ErrorCode.REQUEST_TIMED_OUT if late else 0, error_message=None if request.topics else "",
    )  # fmt: skip


def _answer(partition: ReassignablePartition, refusal: Refusal) -> ReassignablePartitionResponse:
    return ReassignablePartitionResponse(
        partition_index=partition.partition_index, error_code=refusal.error, error_message=refusal.message
    )  # fmt: skip
