"""Events of a transactional id: past-tense values, the only thing that changes one.

Instants are milliseconds of the driver. Events hold the outcome of every rule (the new epoch,
the next producer id), so that folding them needs no rule. All of them are durable: Kafka writes
each to __transaction_state.
"""

from __future__ import annotations

from typing import NamedTuple


class ProducerInitialized(NamedTuple):
    """A producer got its id and epoch; producers with an older epoch are fenced (KIP-98, KIP-360)."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    last_producer_epoch: int  # the epoch that may still ask for the same answer again; -1: none may
    previous_producer_id: int  # the id before this one, -1: none
    timeout_ms: int


class PartitionsEnlisted(NamedTuple):
    """Partitions were added to the transaction; the first of them began it."""

    transactional_id: str
    partitions: tuple[tuple[str, int], ...]
    started_ms: int


class TransactionPrepared(NamedTuple):
    """The outcome of the transaction is decided (PrepareCommit or PrepareAbort); markers with this
    producer id and epoch are to be written.
    """

    transactional_id: str
    committed: bool
    reason: str
    producer_id: int
    producer_epoch: int
    last_producer_epoch: int
    next_producer_id: int  # to go on with when the epochs are used up; -1: the same
    started_ms: int


class TransactionCompleted(NamedTuple):
    """All markers are written; the producer continues with this id and epoch (a new id when the
    epochs were exhausted).
    """

    transactional_id: str
    committed: bool
    producer_id: int
    producer_epoch: int
    previous_producer_id: int


class TransactionalIdExpired(NamedTuple):
    """The transactional id was not used for transactional.id.expiration.ms: it was removed."""

    transactional_id: str


class TransactionalIdDeleted(NamedTuple):
    """The topic __transaction_state was deleted, and the transactional id with it, whatever the
    state of its transaction.
    """

    transactional_id: str


Event = (
    ProducerInitialized
    | PartitionsEnlisted
    | TransactionPrepared
    | TransactionCompleted
    | TransactionalIdExpired
    | TransactionalIdDeleted
)
FORGETTING = (TransactionalIdExpired, TransactionalIdDeleted)
"""Events after which there is no such transactional id."""
