"""Fold of events into a transaction: its only writer. Contains no rule: every event says the new
state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coordinator.events import transactions as ev

from .model import NO_PRODUCER_ID, Transaction
from .states import TransactionState


def evolve(transaction: Transaction, event: ev.Event, at: int) -> None:
    """Fold `event`, which happened at the instant `at`. After one of `events.FORGETTING` the caller
    drops the transaction.
    """
    _FOLDS[type(event)](transaction, event)
    transaction.updated_ms = at


def _initialized(transaction: Transaction, event: ev.ProducerInitialized) -> None:
    transaction.state = TransactionState.EMPTY
    transaction.producer_id = event.producer_id
    transaction.producer_epoch = event.producer_epoch
    transaction.last_producer_epoch = event.last_producer_epoch
    transaction.previous_producer_id = event.previous_producer_id
    transaction.timeout_ms = event.timeout_ms
    transaction.partitions.clear()
    transaction.started_ms = None


def _added(transaction: Transaction, event: ev.PartitionsEnlisted) -> None:
    transaction.state = TransactionState.ONGOING
    transaction.partitions.update(dict.fromkeys(event.partitions))
    transaction.started_ms = event.started_ms


def _prepared(transaction: Transaction, event: ev.TransactionPrepared) -> None:
    transaction.state = (
        TransactionState.PREPARE_COMMIT if event.committed else TransactionState.PREPARE_ABORT
    )
    transaction.producer_epoch = event.producer_epoch
    transaction.last_producer_epoch = event.last_producer_epoch
    transaction.next_producer_id = event.next_producer_id
    transaction.started_ms = event.started_ms


def _completed(transaction: Transaction, event: ev.TransactionCompleted) -> None:
    transaction.state = (
        TransactionState.COMPLETE_COMMIT if event.committed else TransactionState.COMPLETE_ABORT
    )
    transaction.producer_id = event.producer_id
    transaction.producer_epoch = event.producer_epoch
    transaction.previous_producer_id = event.previous_producer_id
    transaction.next_producer_id = NO_PRODUCER_ID
    transaction.partitions.clear()


def _forgotten(
    transaction: Transaction, event: ev.TransactionalIdExpired | ev.TransactionalIdDeleted
) -> None:
    transaction.state = TransactionState.DEAD


_FOLDS: dict[type, Callable[[Transaction, Any], None]] = {
    ev.ProducerInitialized: _initialized,
    ev.PartitionsEnlisted: _added,
    ev.TransactionPrepared: _prepared,
    ev.TransactionCompleted: _completed,
    ev.TransactionalIdExpired: _forgotten,
    ev.TransactionalIdDeleted: _forgotten,
}
