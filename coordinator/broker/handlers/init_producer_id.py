"""InitProducerId (key 22), v0-5: a producer id for an idempotent or a transactional producer
(KIP-98, KIP-360).

Without a transactional id Kafka gives a new id at epoch 0 every time, also to a producer that names
its old id and epoch (both or neither, else 42). With one the transaction coordinator decides; up to
v3 a fenced producer is told 47 for 90.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...transactions.decide import Producer
from ...wire.messages.transactions import InitProducerIdRequest, InitProducerIdResponse
from ..transactions.outcomes import fenced

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker

_KNOWS_PRODUCER_FENCED = 4


def handle(broker: Broker, call: Call) -> InitProducerIdResponse:
    """Always answered at once."""
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
    error = fenced(answer.error, call.version >= _KNOWS_PRODUCER_FENCED)
    return InitProducerIdResponse(
        error_code=error,
        producer_id=answer.producer.producer_id,
        producer_epoch=answer.producer.epoch,
    )
