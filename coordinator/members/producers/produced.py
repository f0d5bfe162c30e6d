"""Effects of a producer for its application: results of records, batches sent, ends of
transactions.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from assignors import TopicPartition
from coordinator.base.errors import ErrorCode

from ..effects import Effect
from ..faults import MemberFault

FENCED: Final = frozenset(
    {
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    }
)


class Delivered(NamedTuple):
    """Result of some records of one partition, in order of sending. `offset`: that of the first, -1
    with acks=0. `fault` None: they are written; otherwise they may or may not be, unless the
    fault is a refusal.
    """

    tickets: tuple[int, ...]
    partition: TopicPartition
    offset: int
    fault: MemberFault | None


class Sent(NamedTuple):
    """A batch that is sent for the first time: its records' tickets, and its producer id, epoch and
    sequence number.
    """

    tickets: tuple[int, ...]
    partition: TopicPartition
    producer_id: int
    producer_epoch: int
    sequence: int


class TransactionEnded(NamedTuple):
    """End of a transaction. `fault`: it could not be committed; abort it, or give up if the
    producer is `fatal`.
    """

    committed: bool
    fault: MemberFault | None


ProducerEffect = Effect | Delivered | Sent | TransactionEnded
