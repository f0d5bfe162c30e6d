"""OffsetCommit (key 8): where a group's members have got to.

v10 names topics by id (KIP-848): an id nobody knows gets 100 on each of its partitions. A topic or partition the cluster
does not have gets 3. What is left goes to the coordinator; if nothing is left, it is not asked at all (OC-6).
In the answer a topic's refused partitions come first, then the coordinator's, as Kafka merges them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core import Broker, Call, Result

_FIRST_WITH_IDS = 10


class _Merge:
    """The answer while it is put together: what was refused here, then what the coordinator said."""

    def __init__(self) -> None:
        self._topics: dict[str | bytes, OffsetCommitResponseTopic] = {}

    def add(self, key: str | bytes, topic: OffsetCommitRequestTopic, partitions: Iterable[int], error: ErrorCode) -> None:
        """Refuse partitions of a topic; a topic without partitions is named all the same."""
        entry = self._topics.get(key)
        if entry is None:
            entry = self._topics[key] = OffsetCommitResponseTopic(name=topic.name, topic_id=topic.topic_id)
        entry.partitions += [OffsetCommitResponsePartition(partition_index=index, error_code=error) for index in partitions]

    def with_answer(self, answer: OffsetCommitResponse, by_id: bool) -> OffsetCommitResponse:
        """The whole answer. Kafka takes the coordinator's as it is when nothing was refused: doubled topics stay apart."""
        if not self._topics:
            return answer
        for topic in answer.topics:
            known = self._topics.setdefault(topic.topic_id if by_id else topic.name, topic)
            if known is not topic:
                known.partitions += topic.partitions
        return self.alone()

    def alone(self) -> OffsetCommitResponse:
        return OffsetCommitResponse(topics=list(self._topics.values()))


def handle(broker: Broker, call: Call) -> Result:
    """Answered at once."""
    request = call.message
    assert isinstance(request, OffsetCommitRequest)
    by_id = call.version >= _FIRST_WITH_IDS
    refused = _Merge()
    wanted = []
    for topic in request.topics:
        if by_id:
            known = broker.cluster.topics_by_id.get(topic.topic_id)
            if known is None:
                refused.add(topic.topic_id, topic, [p.partition_index for p in topic.partitions], ErrorCode.UNKNOWN_TOPIC_ID)
                continue
            topic.name = known.name
        key = topic.topic_id if by_id else topic.name
        if topic.name not in broker.cluster.topics:
            refused.add(key, topic, [p.partition_index for p in topic.partitions], ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            continue
        held = [p for p in topic.partitions if broker.cluster.partition(topic.name, p.partition_index) is not None]
        if len(held) < len(topic.partitions):
            missing = [p.partition_index for p in topic.partitions if broker.cluster.partition(topic.name, p.partition_index) is None]
            refused.add(key, topic, missing, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if held:
            topic.partitions = held
            wanted.append(topic)
    if not wanted:
        return refused.alone()
    request.topics = wanted
    answer = broker.coordinate(call, request)
    assert isinstance(answer, OffsetCommitResponse)
    if by_id:
        for topic, answered in zip(wanted, answer.topics, strict=True):
            answered.topic_id = topic.topic_id
    return refused.with_answer(answer, by_id)
