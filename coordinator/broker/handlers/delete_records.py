"""DeleteRecords (key 21), v0-2 (KIP-107): moves log starts. A partition named twice counts once, as it came last.

Refusals: unknown (3), internal topic (17), not the leader (6), compacted and never deleted (44), offset outside the log (1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...cluster.records import BatchRefused
from ...errors import ErrorCode
from ...wire.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker


def handle(broker: Broker, call: Call) -> DeleteRecordsResponse:
    """Always answered at once; fetches that wait below a new log start are woken."""
    request = call.message
    assert isinstance(request, DeleteRecordsRequest)
    offsets: dict[str, dict[int, int]] = {}
    for topic in request.topics:
        offsets.setdefault(topic.name, {}).update((partition.partition_index, partition.offset) for partition in topic.partitions)
    return DeleteRecordsResponse(topics=[
        DeleteRecordsTopicResult(
            name=name, partitions=[_delete(broker, name, index, offset, call.now) for index, offset in partitions.items()])
        for name, partitions in offsets.items() if partitions])


def _delete(broker: Broker, name: str, index: int, offset: int, now: int) -> DeleteRecordsPartitionResult:
    answer = DeleteRecordsPartitionResult(partition_index=index, low_watermark=-1)
    topic, partition = broker.cluster.topics.get(name), broker.cluster.partition(name, index)
    if topic is None or partition is None:
        answer.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    elif topic.internal:
        answer.error_code = ErrorCode.INVALID_TOPIC_EXCEPTION
    elif partition.leader != broker.node_id:
        answer.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
    elif "delete" not in str(topic.effective("cleanup.policy")):
        answer.error_code = ErrorCode.POLICY_VIOLATION
    else:
        try:
            answer.low_watermark = partition.log.delete_records(offset)
        except BatchRefused as refusal:
            answer.error_code = refusal.error
        else:
            broker.parked_fetches.wake(name, index, now)
    return answer
