"""A producer's answers to its application, and the refusals that end it."""

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
    """Result for some records of one partition, in the order in which they were sent. `offset`: of
    the first one, -1 with acks=0.

    `fault` None: they are written. Otherwise they may or may not be, unless the fault is a refusal.
    """

    tickets: tuple[int, ...]
    partition: TopicPartition
    offset: int
    fault: MemberFault | None


class Sent(NamedTuple):
    """A batch goes out for the first time: whose records it has, and under which producer id, epoch
    and sequence number."""

    tickets: tuple[int, ...]
    partition: TopicPartition
    producer_id: int
    producer_epoch: int
    sequence: int


class TransactionEnded(NamedTuple):
    """The transaction is over. `fault`: it could not be committed; abort it, or give up if the
    producer is `fatal`."""

    committed: bool
    fault: MemberFault | None


ProducerEffect = Effect | Delivered | Sent | TransactionEnded
