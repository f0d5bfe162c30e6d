"""AddOffsetsToTxn (key 25), v0-4: the partition with a group's offsets comes into a transaction
(KIP-98). v2: 90 in place of 47."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...transactions.decide import Producer
from ...wire.messages.transactions import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from ..transactions.outcomes import fenced

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker

_KNOWS_PRODUCER_FENCED = 2


def handle(broker: Broker, call: Call) -> AddOffsetsToTxnResponse:
    """Always answered at once."""
    request = call.message
    assert isinstance(request, AddOffsetsToTxnRequest)
    transactions = broker.transactions
    producer, partition = (
        Producer(request.producer_id, request.producer_epoch),
        transactions.offsets_partition(request.group_id),
    )
    error = transactions.add(request.transactional_id, producer, (partition,), call)
    return AddOffsetsToTxnResponse(error_code=fenced(error, call.version >= _KNOWS_PRODUCER_FENCED))
