"""AlterPartitionReassignments (key 45), v0-1 (KIP-455): partitions are to move to other brokers, or
no longer. (REASN-4)

v1: a change of the replication factor may be forbidden. Refused are targets that are empty, name an
unknown broker or one twice (39), unknown partitions (3), and the cancelling of what does not move
(85). `cluster.controller.reassignments` holds the rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...cluster.controller.leaders import Refusal
from ...cluster.controller.reassignments import reassign
from ...common.slices import ITEMS_A_STEP
from ...errors import ErrorCode
from ...wire.messages.reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from ..call import Sliced

if TYPE_CHECKING:
    from ...common.slices import Slices
    from ..call import Call, Result
    from ..core import Broker


def handle(broker: Broker, call: Call) -> Sliced:
    """Each partition is answered by itself; no time (timeout 0 or less) refuses all."""
    request = call.message
    assert isinstance(request, AlterPartitionReassignmentsRequest)
    late = (request.timeout_ms <= 0 or not broker.reaches_controller) and bool(request.topics)
    return Sliced(_reassign_all(broker, call, request, late))


def _reassign_all(
    broker: Broker, call: Call, request: AlterPartitionReassignmentsRequest, late: bool
) -> Slices[Result]:
    responses = []
    count = 0
    for topic in request.topics:
        rows: list[ReassignablePartitionResponse] = []
        responses.append(ReassignableTopicResponse(name=topic.name, partitions=rows))
        for partition in topic.partitions:
            count += 1
            if not count % ITEMS_A_STEP:
                call = call._replace(now=(yield))
            rows.append(
                _answer(
                    partition,
                    Refusal(ErrorCode.REQUEST_TIMED_OUT)
                    if late
                    else reassign(
                        broker.controller,
                        topic.name,
                        partition.partition_index,
                        partition.replicas,
                        call.now,
                        call.cause,
                        allow_factor_change=request.allow_replication_factor_change,
                    ),
                )
            )
    told = request.allow_replication_factor_change or late or not request.topics
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=told,
        responses=responses,
        error_code=ErrorCode.REQUEST_TIMED_OUT if late else 0,
        error_message=None if request.topics else "",
    )


def _answer(partition: ReassignablePartition, refusal: Refusal) -> ReassignablePartitionResponse:
    return ReassignablePartitionResponse(
        partition_index=partition.partition_index,
        error_code=refusal.error,
        error_message=refusal.message,
    )
