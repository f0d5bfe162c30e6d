"""Conversion of a transaction into the fewest events that reproduce it, for writing a restored
state to the log.
"""

from __future__ import annotations

from collections.abc import Iterator

from coordinator.events import transactions as ev

from .model import Transaction
from .states import ENDING, TransactionState


def retold(one: Transaction, reason: str) -> Iterator[ev.Event]:
    """Yield the events. `reason`: why a decided end is logged again."""
    name, state, producer_id, epoch = (
        one.transactional_id,
        one.state,
        one.producer_id,
        one.producer_epoch,
    )
    yield ev.ProducerInitialized(
        name, producer_id, epoch, one.last_producer_epoch, one.previous_producer_id, one.timeout_ms
    )
    if one.started_ms is None:
        return
    yield ev.PartitionsEnlisted(name, tuple(one.partitions), one.started_ms)
    committed = state in (TransactionState.PREPARE_COMMIT, TransactionState.COMPLETE_COMMIT)
    if state in ENDING:
        yield ev.TransactionPrepared(
            name,
            committed,
            reason,
            producer_id,
            epoch,
            one.last_producer_epoch,
            one.next_producer_id,
            one.started_ms,
        )
    elif state is not TransactionState.ONGOING:
        yield ev.TransactionCompleted(name, committed, producer_id, epoch, one.previous_producer_id)
