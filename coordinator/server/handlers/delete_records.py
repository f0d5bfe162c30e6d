"""DeleteRecords (key 21), v0-2 (KIP-107): moves log start offsets. A partition named twice counts
once, with its last offset.

With several brokers the answer waits until every live replica has moved its log start offset, at
most for the request's timeout (7). Refusals: unknown (3), internal topic (17), not the leader
(6), compacted without deletion (44), offset outside the log (1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.topics import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

from ..log_configs import retention
from ..storage.records import BatchRefused
from ..waiting.delayed_deletion import DelayedDeletion, Deleted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..broker import Broker
    from ..requests.call import Call


def handle(broker: Broker, call: Call) -> DeleteRecordsResponse | None:
    """Move the log start offsets, which answers no waiting fetch (RET-6). Answer, or park the
    request until the replicas follow.
    """
    request = call.message
    assert isinstance(request, DeleteRecordsRequest)
    offsets: dict[str, dict[int, int]] = {}
    for topic in request.topics:
        offsets.setdefault(topic.name, {}).update(
            (partition.partition_index, partition.offset) for partition in topic.partitions
        )
    response = DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                name=name,
                partitions=[
                    _delete(broker, name, index, offset, call.now)
                    for index, offset in partitions.items()
                ],
            )
            for name, partitions in offsets.items()
            if partitions
        ]
    )
    if broker.replication is None:
        return response
    broker.replication.run(call.now)
    waiting = DelayedDeletion(
        broker, call, request.timeout_ms, _deleted(broker, response), lambda: response
    )
    if waiting.ready():
        return response
    broker.parked_fetches.park(waiting)
    return None


def _deleted(broker: Broker, response: DeleteRecordsResponse) -> Iterator[Deleted]:
    """Yield the deletions that replicas have to follow. Until they have, the answer's low watermark
    is the least log start offset.
    """
    assert broker.replication is not None
    for topic in response.topics:
        for answer in topic.partitions:
            partition = broker.cluster.partition(topic.name, answer.partition_index)
            if not answer.error_code and partition is not None:
                offset, answer.low_watermark = (
                    answer.low_watermark,
                    broker.replication.low_watermark(broker.node_id, partition),
                )
                yield Deleted(topic.name, answer.partition_index, offset, answer)


def _delete(
    broker: Broker, name: str, index: int, offset: int, now: int
) -> DeleteRecordsPartitionResult:
    answer = DeleteRecordsPartitionResult(partition_index=index, low_watermark=-1)
    topic, partition = broker.cluster.topics.get(name), broker.cluster.partition(name, index)
    if topic is None or partition is None:
        answer.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    elif topic.internal:
        answer.error_code = ErrorCode.INVALID_TOPIC_EXCEPTION
    elif partition.leader != broker.node_id:
        answer.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
    elif retention(topic).compacts and not retention(topic).deletes:  # without a policy it may
        answer.error_code = ErrorCode.POLICY_VIOLATION
    else:
        try:
            answer.low_watermark = partition.log.delete_records(offset)
        except BatchRefused as refusal:
            answer.error_code = refusal.error
        else:
            broker.services.cleaning.log_start_moved(partition, now)
            if broker.replication is not None:
                broker.replication.mark(name, index)
    return answer
