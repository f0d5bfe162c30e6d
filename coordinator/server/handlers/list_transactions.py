"""ListTransactions (key 66), v0-2: the transactional ids of this coordinator (KIP-664).

Filters: state names (unknown ones are returned as such and match nothing), producer ids, v1 the
minimal duration of an open transaction (KIP-994), v2 a pattern for the whole id (KIP-1152; an
invalid one is INVALID_REGULAR_EXPRESSION, 128).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import ITEMS_A_STEP
from coordinator.core.transactions.states import TransactionState as State
from coordinator.wire.messages.transaction_views import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from coordinator.wire.messages.transaction_views import (
    ListTransactionsTransactionState as TransactionState,
)

from ..patterns import PatternError, compile_pattern
from ..requests.call import Sliced

if TYPE_CHECKING:
    from coordinator.base.slices import Slices
    from coordinator.core.transactions.model import Transaction

    from ..broker import Broker
    from ..requests.call import Call, Result

MOST_STEPS = 16_000_000
"""Of the engine, for one id: what would take more is refused as too large (docs/divergences.md)."""
_STATES = {state.value: state for state in State}


def handle(broker: Broker, call: Call) -> ListTransactionsResponse | Sliced:
    """Handle a ListTransactions; it is never parked."""
    request = call.message
    assert isinstance(request, ListTransactionsRequest)
    unknown = [name for name in dict.fromkeys(request.state_filters) if name not in _STATES]
    response = ListTransactionsResponse(unknown_state_filters=unknown, transaction_states=[])
    refused = ListTransactionsResponse(error_code=ErrorCode.INVALID_REGULAR_EXPRESSION)
    producer_ids = frozenset(request.producer_id_filters)
    states = {_STATES[name] for name in request.state_filters if name in _STATES}
    pattern = None
    if request.transactional_id_pattern:
        try:
            pattern = compile_pattern(request.transactional_id_pattern)
        except PatternError:
            return refused
    if request.state_filters and not states:
        return response

    def wanted(transaction: Transaction) -> bool:
        started_ms = transaction.started_ms
        return (
            (not states or transaction.state in states)
            and (not producer_ids or transaction.producer_id in producer_ids)
            # An id whose producer was only initialized counts as open for ever: Kafka takes its -1
            # for an instant.
            and (
                request.duration_filter < 0
                or started_ms is None
                or call.now - started_ms > request.duration_filter
            )
            and (pattern is None or pattern.matches(transaction.transactional_id))
        )

    def look() -> Slices[Result]:
        """Match the transactional ids in slices, with a pattern one id a step."""
        for name in list(broker.services.transactions.coordinator.transactions):
            if pattern is not None and pattern.instructions * len(name) > MOST_STEPS:
                return refused
        for number, name in enumerate(list(broker.services.transactions.coordinator.transactions)):
            one = broker.services.transactions.shown(name, call.now)
            if (
                one is not None
                and wanted(one)
                and not broker.services.transactions.availability(name)
            ):
                response.transaction_states.append(
                    TransactionState(
                        transactional_id=name,
                        producer_id=one.producer_id,
                        transaction_state=str(one.state),
                    )
                )
            if pattern is not None or not number % ITEMS_A_STEP:
                yield
        return response

    return Sliced(look())
