"""The events of a transactional id: past-tense values, the only thing that changes one.

Instants are milliseconds of the driver. Events hold the outcome of every rule (which epoch, which
id next), so that folding them needs no rule. All of them are durable: Kafka writes each to
__transaction_state.
"""

from __future__ import annotations

from typing import NamedTuple


class ProducerInitialized(NamedTuple):
    """A producer got its id and epoch; whoever had an older epoch is fenced (KIP-98, KIP-360)."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    last_producer_epoch: int  # the epoch that may still ask for the same answer again; -1: none may
    previous_producer_id: int  # the id before this one, -1: none
    timeout_ms: int


class PartitionsEnlisted(NamedTuple):
    """Partitions came into the transaction; the first of them began it."""

    transactional_id: str
    partitions: tuple[tuple[str, int], ...]
    started_ms: int


class TransactionPrepared(NamedTuple):
    """It is decided how the transaction ends; markers under this id and epoch are to be written."""

    transactional_id: str
    committed: bool
    reason: str
    producer_id: int
    producer_epoch: int
    last_producer_epoch: int
    next_producer_id: int  # to go on with when the epochs are used up; -1: the same
    started_ms: int


class TransactionCompleted(NamedTuple):
    """All markers are written; this is the id and epoch to go on with (another id when the epochs
    were used up)."""

    transactional_id: str
    committed: bool
    producer_id: int
    producer_epoch: int
    previous_producer_id: int


class TransactionalIdExpired(NamedTuple):
    """Nobody used the transactional id for transactional.id.expiration.ms: it is forgotten."""

    transactional_id: str


class TransactionalIdDeleted(NamedTuple):
    """The topic __transaction_state was deleted, and the transactional id with it, whatever its
    transaction was about to do."""

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
