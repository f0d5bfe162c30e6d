"""Handlers of the APIs about partition reassignments (KIP-455). The rules are in
`server.cluster.controller.reassignments`.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.reassignments import (
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

from ..cluster import Partition
from ..cluster.controller.reassignments import in_progress, reassign
from ..requests.call import Sliced, by_element
from ..requests.refusals import refused_whole_in_slices

if TYPE_CHECKING:
    from ..broker import Broker
    from ..requests.call import Call


def alter_partition_reassignments(broker: Broker, call: Call) -> Sliced:
    """Handle AlterPartitionReassignments (key 45), v0-1 (KIP-455): start or cancel reassignments
    (REASN-4).

    v1: a change of the replication factor may be forbidden. Refusals: a target that is empty, or
    has an unknown broker or one twice (39), unknown partition (3), nothing to cancel (85). Each
    partition is answered independently; a timeout of 0 or less refuses all.
    """
    request = call.message
    assert isinstance(request, AlterPartitionReassignmentsRequest)
    if (request.timeout_ms <= 0 or not broker.reaches_controller) and request.topics:
        code = ErrorCode.REQUEST_TIMED_OUT
        return Sliced(refused_whole_in_slices(request, call.version, code, None))
    may_change = request.allow_replication_factor_change

    def after(rows: list[ReassignablePartitionResponse]) -> Sliced:
        left = iter(rows)
        return by_element(
            call,
            request.topics,
            lambda topic, _: ReassignableTopicResponse(
                name=topic.name, partitions=list(islice(left, len(topic.partitions)))
            ),
            lambda topics: AlterPartitionReassignmentsResponse(
                allow_replication_factor_change=may_change or not topics,
                responses=topics,
                error_message=None if topics else "",
            ),
        )

    return by_element(
        call,
        ((topic.name, partition) for topic in request.topics for partition in topic.partitions),
        lambda named, call: _reassigned(broker, call, *named, may_change),
        after,
    )


def _reassigned(
    broker: Broker, call: Call, topic: str, partition: ReassignablePartition, may_change: bool
) -> ReassignablePartitionResponse:
    refusal = reassign(
        broker.controller,
        topic,
        partition.partition_index,
        partition.replicas,
        call.now,
        call.cause,
        allow_factor_change=may_change,
    )
    return ReassignablePartitionResponse(
        partition_index=partition.partition_index,
        error_code=refusal.error,
        error_message=refusal.message,
    )


def list_partition_reassignments(broker: Broker, call: Call) -> ListPartitionReassignmentsResponse:
    """Handle ListPartitionReassignments (key 46), v0 (KIP-455): partitions that are being
    reassigned (REASN-5). Null topics mean all. Unknown partitions are left out.
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
