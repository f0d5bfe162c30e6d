"""TxnOffsetCommit (key 28), v0-6: commits a group's offsets as part of a transaction (KIP-98,
KIP-447, TXN-*).

v6 has topic ids (KIP-1319). Order of checks: unknown topic or partition (3; if nothing is left,
no other check is made), group id (24), leader of the group's partition (16), the producer's
transaction (TXN-8; v5 adds the group's partition to it, KIP-890), then the group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.core.groups.append_errors import client_operation_error
from coordinator.core.groups.offsets.decide import transactional_response
from coordinator.core.transactions.decide import Producer
from coordinator.wire.messages.transactions import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from coordinator.wire.primitives import fits

from ..cluster.model import CONSUMER_OFFSETS
from ..requests.missing_partitions import MissingPartitions
from ..transactions.outcomes import transaction_support

if TYPE_CHECKING:
    from ..broker import Broker
    from ..requests.call import Call

ADDS_PARTITIONS_SINCE, ABORTABLE_SINCE = 5, 4
_KNOWS_LOADING = 2
_FIRST_WITH_IDS = 6


def handle(broker: Broker, call: Call) -> TxnOffsetCommitResponse:
    """Handle a TxnOffsetCommit. A topic's refused partitions come first, then the coordinator's."""
    request = call.message
    assert isinstance(request, TxnOffsetCommitRequest)
    missing: MissingPartitions[TxnOffsetCommitRequestTopic, TxnOffsetCommitResponseTopic] = (
        MissingPartitions(
            broker.cluster,
            TxnOffsetCommitResponseTopic,
            TxnOffsetCommitResponsePartition,
            by_id=call.version >= _FIRST_WITH_IDS,
            sees=call.sees,
        )
    )
    request.topics = missing.refuse(request.topics)
    if not request.topics:
        return TxnOffsetCommitResponse(topics=missing.merged(()))
    answer = _commit(broker, call, request)
    answer.topics = missing.before(answer.topics)
    return answer


def _commit(broker: Broker, call: Call, request: TxnOffsetCommitRequest) -> TxnOffsetCommitResponse:
    if not request.group_id:
        return transactional_response(request, ErrorCode.INVALID_GROUP_ID)
    if not fits(request.group_id):  # Kafka cannot write the record of such a group: -1
        return transactional_response(request, ErrorCode.UNKNOWN_SERVER_ERROR)
    if (
        CONSUMER_OFFSETS not in broker.cluster.topics
    ):  # TXN-10: Kafka looks at the transaction first: no such partition
        return transactional_response(request, ErrorCode.COORDINATOR_NOT_AVAILABLE)
    if broker.coordinator.refuse(request.group_id) is ErrorCode.NOT_COORDINATOR:
        return transactional_response(request, ErrorCode.NOT_COORDINATOR)
    transactions = broker.services.transactions
    support = transaction_support(
        call.version, adds_since=ADDS_PARTITIONS_SINCE, abortable_since=ABORTABLE_SINCE
    )
    producer = Producer(request.producer_id, request.producer_epoch)
    place = transactions.offsets_partition(request.group_id)
    topic = broker.cluster.topics[CONSUMER_OFFSETS]
    seat = topic.id, topic.partitions[place[1]], producer
    if not transactions.begun_offsets.has(*seat):
        error = transactions.admit(request.transactional_id, producer, place, support, call)
        if error:
            return transactional_response(request, client_operation_error(error))
    answer = broker.groups.coordinate(call, request)
    assert isinstance(answer, TxnOffsetCommitResponse)
    if any(not partition.error_code for topic in answer.topics for partition in topic.partitions):
        transactions.begun_offsets.add(*seat)
    if call.version < _KNOWS_LOADING:  # TXN-4
        for partition in (partition for topic in answer.topics for partition in topic.partitions):
            if partition.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
                partition.error_code = ErrorCode.COORDINATOR_NOT_AVAILABLE
    return answer
