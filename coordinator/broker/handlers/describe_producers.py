"""DescribeProducers (key 61), v0: the producers that a partition's leader remembers (KIP-664).

Names that no topic can have are 17, unknown partitions 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...cluster.topic_names import why_invalid
from ...errors import ErrorCode
from ...wire.messages.transaction_views import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from ..call import row_by_row

if TYPE_CHECKING:
    from ...wire.messages.transaction_views import TopicRequest
    from ..call import Call, Sliced
    from ..core import Broker


def handle(broker: Broker, call: Call) -> Sliced:
    """Always answered at once, in the order of the request."""
    request = call.message
    assert isinstance(request, DescribeProducersRequest)
    return row_by_row(
        request.topics,
        lambda topic: _topic(broker, topic),
        lambda topics: DescribeProducersResponse(topics=topics),
    )


def _topic(broker: Broker, topic: TopicRequest) -> TopicResponse:
    return TopicResponse(
        name=topic.name,
        partitions=[_describe(broker, topic.name, index) for index in topic.partition_indexes],
    )


def _describe(broker: Broker, topic: str, index: int) -> PartitionResponse:
    invalid = why_invalid(topic)
    if invalid is not None:
        return PartitionResponse(
            partition_index=index,
            error_code=ErrorCode.INVALID_TOPIC_EXCEPTION,
            error_message=invalid,
        )
    found = broker.cluster.partition(topic, index)
    if found is None:
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        message = None if topic in broker.cluster.topics else error.message  # as Kafka has it
        return PartitionResponse(partition_index=index, error_code=error, error_message=message)
    if broker.node_id not in found.replicas:
        return PartitionResponse(partition_index=index, error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER)
    return PartitionResponse(
        partition_index=index,
        active_producers=[
            ProducerState(
                producer_id=producer_id,
                producer_epoch=state.epoch,
                last_sequence=state.last_sequence,
                last_timestamp=state.last_timestamp,
                coordinator_epoch=state.coordinator_epoch,
                current_txn_start_offset=-1 if state.first_offset is None else state.first_offset,
            )
            for producer_id, state in found.log.producers.states.items()
        ],
    )
