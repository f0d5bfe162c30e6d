"""Replicas that move."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...cluster import Partition
from ...cluster.controller.leaders import Refusal
from ...cluster.controller.reassignments import in_progress, reassign
from ...common.slices import ITEMS_A_STEP
from ...errors import ErrorCode
from ...wire.messages.reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from ..call import Sliced

if TYPE_CHECKING:
    from ...common.slices import Slices
    from ..call import Call, Result
    from ..core import Broker


def alter_partition_reassignments(broker: Broker, call: Call) -> Sliced:
    """AlterPartitionReassignments (key 45), v0-1 (KIP-455): partitions are to move to other brokers, or
    no longer. (REASN-4)

    v1: a change of the replication factor may be forbidden. Refused are targets that are empty, name an
    unknown broker or one twice (39), unknown partitions (3), and the cancelling of what does not move
    (85). `cluster.controller.reassignments` holds the rules.

    Each partition is answered by itself; no time (timeout 0 or less) refuses all.
    """
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


def list_partition_reassignments(broker: Broker, call: Call) -> ListPartitionReassignmentsResponse:
    """ListPartitionReassignments (key 46), v0 (KIP-455): the partitions on their way to other brokers.
    (REASN-5)

    No topics, null: all of them. What is unknown is left out, as what does not move is.

    Answered at once.
    """
    request = call.message
    assert isinstance(request, ListPartitionReassignmentsRequest)
    topics = broker.controller.cluster.topics
    if request.topics is None:
        asked = [(name, list(topic.partitions)) for name, topic in topics.items()]
    else:
        asked = []
        for each in request.topics:
            partitions = topics[each.name].partitions if each.name in topics else []
            asked.append(
                (
                    each.name,
                    [
                        partitions[index]
                        for index in each.partition_indexes
                        if 0 <= index < len(partitions)
                    ],
                )
            )
    moving = [(name, in_progress(partitions)) for name, partitions in asked]
    return ListPartitionReassignmentsResponse(
        error_message=None,
        topics=[
            OngoingTopicReassignment(name=name, partitions=_listed(partitions))
            for name, partitions in moving
            if partitions
        ],
    )


def _listed(partitions: Iterable[Partition]) -> list[OngoingPartitionReassignment]:
    return [
        OngoingPartitionReassignment(
            partition_index=partition.index,
            replicas=list(partition.replicas),
            adding_replicas=list(partition.adding),
            removing_replicas=list(partition.removing),
        )
        for partition in partitions
    ]
