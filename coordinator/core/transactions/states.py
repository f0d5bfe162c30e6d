"""States of a transactional id, spelled as in Kafka's DescribeTransactions and ListTransactions.

Prepare* last from the decision to end a transaction until its markers are written. Dead and
PrepareEpochFence are states of Kafka without duration, used here as filters only.
"""

from __future__ import annotations

from enum import Enum


class TransactionState(Enum):
    """State of a transactional id."""

    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"
    DEAD = "Dead"
    PREPARE_EPOCH_FENCE = "PrepareEpochFence"

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return self.value


COMPLETED = frozenset({TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT})
"""The last transaction ended, and no new one began."""
ENDING = frozenset({TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT})
"""It is decided how the transaction ends; its markers are not all written yet."""
EXPIRING = COMPLETED | {TransactionState.EMPTY}
"""States in which an unused transactional id expires."""
