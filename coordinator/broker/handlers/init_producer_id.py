"""InitProducerId (key 22), v0-5: a producer id for an idempotent producer (KIP-98, KIP-360).

Without a transactional id Kafka gives a new id at epoch 0 every time, also to a producer that names its old id and epoch
(both or neither, else 42). Transactions are not served: a transactional id is refused as one not authorised (53), which
every client takes as final; an empty one is 42 as in Kafka.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

if TYPE_CHECKING:
    from ..core import Broker, Call


def handle(broker: Broker, call: Call) -> InitProducerIdResponse:
    """Always answered at once."""
    request = call.message
    assert isinstance(request, InitProducerIdRequest)
    if request.transactional_id == "" or (request.producer_id == -1) != (request.producer_epoch == -1):
        return InitProducerIdResponse(error_code=ErrorCode.INVALID_REQUEST, producer_epoch=-1)
    if request.transactional_id is not None:
        return InitProducerIdResponse(error_code=ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, producer_epoch=-1)
    return InitProducerIdResponse(producer_id=broker.producer_ids.next(), producer_epoch=0)
