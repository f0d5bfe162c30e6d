"""EndTxn (key 26), v0-5: commit or abort (KIP-98).

v2: 90 in place of 47 (KIP-588). v5: the epoch rises with every end, and the answer holds the id and
epoch to go on with (KIP-890); an error holds -1 and -1. Markers follow the answer, and until they
are written the transactional id is told 51.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...transactions.decide import Producer
from ...wire.messages.transactions import EndTxnRequest, EndTxnResponse
from ..transactions.outcomes import fenced

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker

_KNOWS_PRODUCER_FENCED = 2
_EPOCH_RISES = 5


def handle(broker: Broker, call: Call) -> EndTxnResponse:
    """Always answered at once."""
    request = call.message
    assert isinstance(request, EndTxnRequest)
    answer = broker.transactions.end(
        request.transactional_id,
        Producer(request.producer_id, request.producer_epoch),
        commit=request.committed,
        epoch_rises=call.version >= _EPOCH_RISES,
        call=call,
    )
    error = fenced(answer.error, call.version >= _KNOWS_PRODUCER_FENCED)
    return EndTxnResponse(
        error_code=error,
        producer_id=answer.producer.producer_id,
        producer_epoch=answer.producer.epoch,
    )
