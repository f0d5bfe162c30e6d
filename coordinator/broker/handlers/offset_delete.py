"""OffsetDelete (key 47): committed offsets, forgotten (KIP-496).

Topics and partitions the cluster does not have get 3. The coordinator is asked in any case, also when nothing is left to
delete, and an error of its stands alone at the top (OD-3 as Kafka 4.3.1 was seen to do).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)

if TYPE_CHECKING:
    from ..core import Broker, Call, Result


def handle(broker: Broker, call: Call) -> Result:
    """Answered at once. In the answer a topic stands once: its refused partitions, then the coordinator's."""
    request = call.message
    assert isinstance(request, OffsetDeleteRequest)
    merged: dict[str, OffsetDeleteResponseTopic] = {}
    wanted = []
    for topic in request.topics:
        held = [p for p in topic.partitions if broker.cluster.partition(topic.name, p.partition_index) is not None]
        if len(held) < len(topic.partitions) or topic.name not in broker.cluster.topics:
            entry = merged.setdefault(topic.name, OffsetDeleteResponseTopic(name=topic.name))
            entry.partitions += [
                OffsetDeleteResponsePartition(partition_index=p.partition_index, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
                for p in topic.partitions
                if broker.cluster.partition(topic.name, p.partition_index) is None
            ]
        if held:
            topic.partitions = held
            wanted.append(topic)
    request.topics = wanted
    answer = broker.coordinate(call, request)
    assert isinstance(answer, OffsetDeleteResponse)
    if answer.error_code != ErrorCode.NONE:
        return OffsetDeleteResponse(error_code=answer.error_code)
    for answered in answer.topics:
        known = merged.setdefault(answered.name, answered)
        if known is not answered:
            known.partitions += answered.partitions
    answer.topics = list(merged.values())
    return answer
