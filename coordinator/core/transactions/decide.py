"""Decisions about a transactional id: a request or a deadline becomes an event, or Kafka's error.
Order of checks as in Kafka 4.4.0.

The epoch behind `LAST_EPOCH` is for fencing only: no producer ever gets it. `transaction` None:
the transactional id is unused. The coordinator says PRODUCER_FENCED (90); handlers translate it
to INVALID_PRODUCER_EPOCH (47) for older versions. A `fresh` producer id is drawn only if needed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.events import transactions as ev

from .model import LAST_EPOCH, NO_EPOCH, NO_PRODUCER_ID, Transaction
from .states import COMPLETED, TransactionState

_S = TransactionState
Fresh = Callable[[], int]
Partition = tuple[str, int]


class Producer(NamedTuple):
    """Producer id and epoch, as in a request."""

    producer_id: int
    epoch: int


class Decision(NamedTuple):
    """An event to fold; without one, `error` is the refusal, or NONE if nothing needs to change."""

    event: ev.Event | None = None
    error: ErrorCode = ErrorCode.NONE


def decide_init(
    transaction: Transaction | None,
    transactional_id: str,
    timeout_ms: int,
    expected: Producer | None,
    fresh: Fresh,
    *,
    remembers: bool = True,
) -> Decision:
    """Decide an InitProducerId: a producer starts, or recovers as `expected` (KIP-360). An open
    transaction is aborted first, and the client must retry (51).

    `remembers`: the coordinator knows the epoch before the present one, as it does unless it
    loaded the id from another coordinator.
    """
    if transaction is None:
        return Decision(
            ev.ProducerInitialized(
                transactional_id, fresh(), 0, NO_EPOCH, NO_PRODUCER_ID, timeout_ms
            )
        )
    if expected is not None and not _may_recover(transaction, expected):
        return Decision(error=ErrorCode.PRODUCER_FENCED)
    if transaction.state is _S.ONGOING:
        return Decision(
            fence(transaction, "a producer was initialized"), ErrorCode.CONCURRENT_TRANSACTIONS
        )
    if transaction.state not in (_S.EMPTY, *COMPLETED):
        return Decision(error=ErrorCode.CONCURRENT_TRANSACTIONS)
    epoch = transaction.producer_epoch
    if transaction.exhausted and (expected is None or expected.epoch == epoch):
        last = NO_EPOCH if expected is None else epoch
        return Decision(
            ev.ProducerInitialized(
                transactional_id, fresh(), 0, last, transaction.producer_id, timeout_ms
            )
        )
    if expected is None:
        epochs = epoch + 1, NO_EPOCH
    elif expected.epoch == epoch:
        epochs = epoch + 1, epoch
    elif remembers and expected.epoch == transaction.last_producer_epoch:
        epochs = epoch, transaction.last_producer_epoch  # the answer got lost: the same again
    else:
        return Decision(error=ErrorCode.PRODUCER_FENCED)
    return Decision(
        ev.ProducerInitialized(
            transactional_id,
            transaction.producer_id,
            *epochs,
            transaction.previous_producer_id,
            timeout_ms,
        )
    )


def _may_recover(transaction: Transaction, expected: Producer) -> bool:
    return expected.producer_id == transaction.producer_id or (
        expected.producer_id == transaction.previous_producer_id and expected.epoch >= LAST_EPOCH
    )


def fence(transaction: Transaction, reason: str) -> ev.TransactionPrepared:
    """Return the event that aborts an open transaction without its producer, under the next epoch."""
    epoch, started_ms = transaction.producer_epoch, transaction.started_ms
    assert started_ms is not None, transaction
    return ev.TransactionPrepared(
        transaction.transactional_id,
        False,
        reason,
        transaction.producer_id,
        epoch + 1,
        epoch,
        NO_PRODUCER_ID,
        started_ms,
    )


def refuse_partitions(transaction: Transaction | None, producer: Producer) -> ErrorCode:
    """Return the error if this producer may not add partitions to the transaction (49, 90, 51), or
    NONE.
    """
    if transaction is None or transaction.producer_id != producer.producer_id:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    if transaction.producer_epoch != producer.epoch or producer.epoch > LAST_EPOCH:
        return ErrorCode.PRODUCER_FENCED
    if transaction.state in (_S.PREPARE_COMMIT, _S.PREPARE_ABORT):
        return ErrorCode.CONCURRENT_TRANSACTIONS
    return ErrorCode.NONE


def decide_add(
    transaction: Transaction | None, producer: Producer, partitions: Collection[Partition], now: int
) -> Decision:
    """Add partitions to the transaction; the first ones start it, even none at all."""
    error = refuse_partitions(transaction, producer)
    if error or transaction is None:
        return Decision(error=error)
    ongoing = transaction.state is _S.ONGOING
    if ongoing and all(partition in transaction.partitions for partition in partitions):
        return Decision()
    started_ms = transaction.started_ms if ongoing else now
    assert started_ms is not None, transaction
    return Decision(
        ev.PartitionsEnlisted(
            transaction.transactional_id, tuple(dict.fromkeys(partitions)), started_ms
        )
    )


def decide_end(
    transaction: Transaction | None, producer: Producer, commit: bool, now: int
) -> Decision:
    """Decide an EndTxn before version 5: the epoch stays; a repetition succeeds; without an open
    transaction 48.
    """
    if transaction is None or transaction.producer_id != producer.producer_id:
        return Decision(error=ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if transaction.producer_epoch != producer.epoch:
        return Decision(error=ErrorCode.PRODUCER_FENCED)
    state = transaction.state
    if state is _S.ONGOING:
        return Decision(
            _ended(
                transaction,
                commit,
                now,
                transaction.producer_epoch,
                transaction.last_producer_epoch,
            )
        )
    if state is (_S.COMPLETE_COMMIT if commit else _S.COMPLETE_ABORT):
        return Decision()
    if state is (_S.PREPARE_COMMIT if commit else _S.PREPARE_ABORT):
        return Decision(error=ErrorCode.CONCURRENT_TRANSACTIONS)
    return Decision(error=ErrorCode.INVALID_TXN_STATE)


def decide_end_v2(
    transaction: Transaction | None, producer: Producer, commit: bool, now: int, fresh: Fresh
) -> Decision:
    """Decide an EndTxn from version 5 on (KIP-890): the epoch rises with every end, so an old one
    is a repetition.

    An abort needs no transaction: a producer that does not know whether it has one may always
    abort. A producer that has used up its epochs gets a fresh id.
    """
    if transaction is None:
        return Decision(error=ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    was_exhausted = (
        transaction.previous_producer_id == producer.producer_id and producer.epoch == LAST_EPOCH
    )
    took_next_id = was_exhausted and not transaction.producer_epoch
    if transaction.producer_id != producer.producer_id and not took_next_id:
        return Decision(error=ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    again = took_next_id or transaction.producer_epoch == producer.epoch + 1
    state, current = transaction.state, transaction.producer_epoch == producer.epoch
    if producer.epoch > LAST_EPOCH or not (current or (again and state in COMPLETED)):
        return Decision(error=ErrorCode.PRODUCER_FENCED)
    if again:
        right = state is (_S.COMPLETE_COMMIT if commit else _S.COMPLETE_ABORT)
        return Decision(error=ErrorCode.NONE if right else ErrorCode.INVALID_TXN_STATE)
    if commit and state is not _S.ONGOING:
        return Decision(error=ErrorCode.INVALID_TXN_STATE)
    next_producer_id = fresh() if transaction.exhausted else NO_PRODUCER_ID
    return Decision(
        _ended(transaction, commit, now, producer.epoch + 1, producer.epoch, next_producer_id)
    )


def _ended(
    transaction: Transaction,
    commit: bool,
    now: int,
    epoch: int,
    last_epoch: int,
    next_producer_id: int = NO_PRODUCER_ID,
) -> ev.TransactionPrepared:
    started_ms = transaction.started_ms if transaction.state is _S.ONGOING else now
    assert started_ms is not None, transaction
    reason = "the producer committed" if commit else "the producer aborted"
    return ev.TransactionPrepared(
        transaction.transactional_id,
        commit,
        reason,
        transaction.producer_id,
        epoch,
        last_epoch,
        next_producer_id,
        started_ms,
    )


def decide_completion(transaction: Transaction) -> ev.TransactionCompleted:
    """Return the event that completes a transaction after its markers are written, with the
    producer id and epoch to use next.
    """
    producer_id, epoch, previous = (
        transaction.producer_id,
        transaction.producer_epoch,
        transaction.previous_producer_id,
    )
    if transaction.next_producer_id != NO_PRODUCER_ID:
        producer_id, epoch, previous = transaction.next_producer_id, 0, producer_id
    return ev.TransactionCompleted(
        transaction.transactional_id,
        transaction.state is _S.PREPARE_COMMIT,
        producer_id,
        epoch,
        previous,
    )
