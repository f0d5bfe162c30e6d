"""Steps of a transaction that name no partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.core.transactions.decide import Producer
from coordinator.wire.messages.transactions import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
)

from ..transactions.outcomes import fenced

if TYPE_CHECKING:
    from ..broker import Broker
    from ..requests.call import Call


_INIT_KNOWS_PRODUCER_FENCED = 4


def init_producer_id(broker: Broker, call: Call) -> InitProducerIdResponse:
    """InitProducerId (key 22), v0-5: a producer id for an idempotent or a transactional producer
    (KIP-98, KIP-360).

    Without a transactional id Kafka gives a new id at epoch 0 every time, also to a producer that names
    its old id and epoch (both or neither, else 42). With one the transaction coordinator decides; up to
    v3 a fenced producer is told 47 for 90.

    Always answered at once.
    """
    request = call.message
    assert isinstance(request, InitProducerIdRequest)
    if (request.producer_id == -1) != (request.producer_epoch == -1):
        return InitProducerIdResponse(error_code=ErrorCode.INVALID_REQUEST, producer_epoch=-1)
    if request.transactional_id is None:
        return InitProducerIdResponse(producer_id=broker.producer_ids.next(), producer_epoch=0)
    expected = (
        None if request.producer_id == -1 else Producer(request.producer_id, request.producer_epoch)
    )
    answer = broker.transactions.init_producer(
        request.transactional_id, request.transaction_timeout_ms, expected, call
    )
    error = fenced(answer.error, call.version >= _INIT_KNOWS_PRODUCER_FENCED)
    return InitProducerIdResponse(
        error_code=error,
        producer_id=answer.producer.producer_id,
        producer_epoch=answer.producer.epoch,
    )


_ADD_KNOWS_PRODUCER_FENCED = 2


def add_offsets_to_txn(broker: Broker, call: Call) -> AddOffsetsToTxnResponse:
    """AddOffsetsToTxn (key 25), v0-4: the partition with a group's offsets comes into a transaction
    (KIP-98). v2: 90 in place of 47.

    Always answered at once.
    """
    request = call.message
    assert isinstance(request, AddOffsetsToTxnRequest)
    transactions = broker.transactions
    producer, partition = (
        Producer(request.producer_id, request.producer_epoch),
        transactions.offsets_partition(request.group_id),
    )
    error = transactions.add(request.transactional_id, producer, (partition,), call)
    return AddOffsetsToTxnResponse(
        error_code=fenced(error, call.version >= _ADD_KNOWS_PRODUCER_FENCED)
    )


_END_KNOWS_PRODUCER_FENCED = 2


_EPOCH_RISES = 5


def end_txn(broker: Broker, call: Call) -> EndTxnResponse:
    """EndTxn (key 26), v0-5: commit or abort (KIP-98).

    v2: 90 in place of 47 (KIP-588). v5: the epoch rises with every end, and the answer holds the id and
    epoch to go on with (KIP-890); an error holds -1 and -1. Markers follow the answer, and until they
    are written the transactional id is told 51.

    Always answered at once.
    """
    request = call.message
    assert isinstance(request, EndTxnRequest)
    answer = broker.transactions.end(
        request.transactional_id,
        Producer(request.producer_id, request.producer_epoch),
        commit=request.committed,
        epoch_rises=call.version >= _EPOCH_RISES,
        call=call,
    )
    error = fenced(answer.error, call.version >= _END_KNOWS_PRODUCER_FENCED)
    return EndTxnResponse(
        error_code=error,
        producer_id=answer.producer.producer_id,
        producer_epoch=answer.producer.epoch,
    )
