"""ListPartitionReassignments (key 46), v0 (KIP-455): the partitions on their way to other brokers.
(REASN-5)

No topics, null: all of them. What is unknown is left out, as what does not move is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...cluster import Partition
from ...cluster.controller.reassignments import in_progress
from ...wire.messages.reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker


def handle(broker: Broker, call: Call) -> ListPartitionReassignmentsResponse:
    """Answered at once."""
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
