"""DescribeProducers and DescribeTransactions: producers and transactions for administrators
(KIP-664).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.base.java_hash import in_hash_order, topic_partition_hash
from coordinator.wire.messages.transaction_views import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    PartitionResponse,
    ProducerState,
    TopicData,
    TopicResponse,
)
from coordinator.wire.messages.transaction_views import (
    DescribeTransactionsTransactionState as TransactionState,
)

from ..cluster.topic_names import why_invalid
from ..requests.call import by_element

if TYPE_CHECKING:
    from coordinator.wire.messages.transaction_views import TopicRequest

    from ..broker import Broker
    from ..requests.call import Call, Sliced


def describe_producers(broker: Broker, call: Call) -> Sliced:
    """Handle DescribeProducers (key 61), v0: the producers that a partition's leader knows. Invalid
    topic names get 17, unknown partitions 3.
    """
    request = call.message
    assert isinstance(request, DescribeProducersRequest)
    return by_element(
        call,
        request.topics,
        lambda topic, _: _topic(broker, topic),
        lambda topics: DescribeProducersResponse(topics=topics),
    )


def _topic(broker: Broker, topic: TopicRequest) -> TopicResponse:
    return TopicResponse(
        name=topic.name,
        partitions=[
            _describe_partition(broker, topic.name, index) for index in topic.partition_indexes
        ],
    )


def _describe_partition(broker: Broker, topic: str, index: int) -> PartitionResponse:
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


def describe_transactions(broker: Broker, call: Call) -> Sliced:
    """Handle DescribeTransactions (key 65), v0: the coordinator's state of transactional ids. An
    unknown id gets 105, an empty one 42. The start time of the last transaction is shown until a
    producer is initialized.
    """
    request = call.message
    assert isinstance(request, DescribeTransactionsRequest)
    return by_element(
        call,
        request.transactional_ids,
        lambda name, call: _describe_transaction(broker, name, call.now),
        lambda states: DescribeTransactionsResponse(transaction_states=states),
    )


def _describe_transaction(broker: Broker, name: str, now: int) -> TransactionState:
    unavailable = broker.services.transactions.availability(name)
    if unavailable:
        return TransactionState(error_code=unavailable, transactional_id=name)
    known = broker.services.transactions.shown(name, now)
    if known is None:
        error = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND if name else ErrorCode.INVALID_REQUEST
        return TransactionState(error_code=error, transactional_id=name)
    topics: dict[str, TopicData] = {}
    partitions = in_hash_order(
        broker.services.transactions.partitions(known), lambda each: topic_partition_hash(*each)
    )  # Kafka keeps a set
    for topic, index in partitions:
        topics.setdefault(topic, TopicData(topic=topic)).partitions.append(index)
    return TransactionState(
        transactional_id=name,
        transaction_state=str(known.state),
        transaction_timeout_ms=known.timeout_ms,
        transaction_start_time_ms=-1
        if known.started_ms is None
        else broker.epoch_ms + known.started_ms,
        producer_id=known.producer_id,
        producer_epoch=known.producer_epoch,
        topics=list(topics.values()),
    )
