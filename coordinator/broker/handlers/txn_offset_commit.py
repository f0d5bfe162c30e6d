"""TxnOffsetCommit (key 28), v0-5: offsets that count when a transaction commits (KIP-98, KIP-447, TXN-*).

A topic or partition the cluster does not have gets 3; if nothing is left, nobody is asked. Then the group id (24), whether the
producer has its transaction here (TXN-8; v5 brings the group's partition into it by itself, KIP-890), then the group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...groups.decide.offsets import transactional_response
from ...transactions.decide import Producer
from ...wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from ..transactions import ability

if TYPE_CHECKING:
    from ..core import Broker, Call

ADDS_PARTITIONS_SINCE, ABORTABLE_SINCE = 5, 4
_KNOWS_LOADING = 2


def handle(broker: Broker, call: Call) -> TxnOffsetCommitResponse:
    """Answered at once. In the answer a topic's refused partitions come first, then the coordinator's."""
    request = call.message
    assert isinstance(request, TxnOffsetCommitRequest)
    refused: dict[str, TxnOffsetCommitResponseTopic] = {}
    wanted = []
    for topic in request.topics:
        missing = [p for p in topic.partitions if broker.cluster.partition(topic.name, p.partition_index) is None]
        if missing or topic.name not in broker.cluster.topics:
            entry = refused.setdefault(topic.name, TxnOffsetCommitResponseTopic(name=topic.name))
            entry.partitions += [
                TxnOffsetCommitResponsePartition(partition_index=p.partition_index, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
                for p in missing]
            topic.partitions = [p for p in topic.partitions if p not in missing]
        if topic.partitions:
            wanted.append(topic)
    if not wanted:
        return TxnOffsetCommitResponse(topics=list(refused.values()))
    request.topics = wanted
    answer = _commit(broker, call, request)
    if not refused:
        return answer
    for answered in answer.topics:
        known = refused.setdefault(answered.name, answered)
        if known is not answered:
            known.partitions += answered.partitions
    return TxnOffsetCommitResponse(topics=list(refused.values()))


def _commit(broker: Broker, call: Call, request: TxnOffsetCommitRequest) -> TxnOffsetCommitResponse:
    if not request.group_id:
        return transactional_response(request, ErrorCode.INVALID_GROUP_ID)
    transactions = broker.transactions
    able = ability(call.version, adds_since=ADDS_PARTITIONS_SINCE, abortable_since=ABORTABLE_SINCE)
    producer = Producer(request.producer_id, request.producer_epoch)
    error = transactions.admit(request.transactional_id, producer, transactions.offsets_partition(request.group_id), able, call)
    if error:
        return transactional_response(request, error)
    answer = broker.coordinate(call, request)
    assert isinstance(answer, TxnOffsetCommitResponse)
    if call.version < _KNOWS_LOADING:  # TXN-4
        for partition in (partition for topic in answer.topics for partition in topic.partitions):
            if partition.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
                partition.error_code = ErrorCode.COORDINATOR_NOT_AVAILABLE
    return answer
