"""InitProducerId, AddOffsetsToTxn and EndTxn. The rules are in `server.transactions` and
`core.transactions`.
"""

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
    """Handle InitProducerId (key 22), v0-5: return a producer id for an idempotent or a
    transactional producer (KIP-98, KIP-360).

    Without a transactional id every request gets a new id at epoch 0, even if it contains an old
    id and epoch (both or neither, else 42). With one, the transaction coordinator decides; up to
    v3 a fenced producer gets 47 in place of 90.
    """
    request = call.message
    assert isinstance(request, InitProducerIdRequest)
    if (request.producer_id == -1) != (request.producer_epoch == -1):
        return InitProducerIdResponse(error_code=ErrorCode.INVALID_REQUEST, producer_epoch=-1)
    if request.transactional_id is None:
        return InitProducerIdResponse(
            producer_id=broker.services.producer_ids.next(), producer_epoch=0
        )
    expected = (
        None if request.producer_id == -1 else Producer(request.producer_id, request.producer_epoch)
    )
    answer = broker.services.transactions.init_producer(
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
    """Handle AddOffsetsToTxn (key 25), v0-4: add the partition of a group's offsets to a
    transaction (KIP-98). v2: 90 in place of 47.
    """
    request = call.message
    assert isinstance(request, AddOffsetsToTxnRequest)
    transactions = broker.services.transactions
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
    """Handle EndTxn (key 26), v0-5: commit or abort a transaction (KIP-98).

    v2: 90 in place of 47 (KIP-588). v5: every end raises the epoch, and the response contains
    the producer id and epoch to use next (KIP-890), or -1 and -1 with an error. Markers are
    written after the response; until then, requests for the transactional id get 51.
    """
    request = call.message
    assert isinstance(request, EndTxnRequest)
    answer = broker.services.transactions.end(
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
