"""DescribeTransactions (key 65), v0: what the coordinator knows of transactional ids (KIP-664).

An id nobody uses is 105, an empty one 42. The start of the last transaction stays to be seen until
a producer is initialized.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...common.java_hash import in_hash_order, topic_partition_hash
from ...errors import ErrorCode
from ...wire.messages.transaction_views import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
)
from ...wire.messages.transaction_views import (
    DescribeTransactionsTransactionState as TransactionState,
)
from ..call import row_by_row

if TYPE_CHECKING:
    from ..call import Call, Sliced
    from ..core import Broker


def handle(broker: Broker, call: Call) -> Sliced:
    """Always answered at once, in the order of the request."""
    request = call.message
    assert isinstance(request, DescribeTransactionsRequest)
    return row_by_row(
        request.transactional_ids,
        lambda name: _describe(broker, name, call.now),
        lambda states: DescribeTransactionsResponse(transaction_states=states),
    )


def _describe(broker: Broker, name: str, now: int) -> TransactionState:
    unavailable = broker.transactions.availability(name)
    if unavailable:
        return TransactionState(error_code=unavailable, transactional_id=name)
    known = broker.transactions.shown(name, now)
    if known is None:
        error = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND if name else ErrorCode.INVALID_REQUEST
        return TransactionState(error_code=error, transactional_id=name)
    topics: dict[str, TopicData] = {}
    partitions = in_hash_order(
        broker.transactions.partitions(known), lambda each: topic_partition_hash(*each)
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
