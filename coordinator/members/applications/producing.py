"""A producing application as a pure state machine: it produces at a steady rate, with or without
transactions.

Owns when each record is sent, and to which partition. Each record's value contains its sender
and number. Results are reported one by one (`reports`). Does not know clocks or connections.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assignors import TopicPartition

from ..faults import MemberFault
from ..producers.produced import Delivered, Sent, TransactionEnded
from ..producers.producer import Producer
from ..producers.transactions import TransactionState
from .reports import DeliveredBatch, SentBatch, Tell, TransactionReport

Pick = Callable[[int], "tuple[TopicPartition, bytes]"]


class Producing:
    """One producing application. `rate`: records per second. `transaction_ms`: how long each
    transaction stays open. `abort_every`: every so many transactions, one is aborted; 0: none.
    `until`: when it stops; None: never. `batch`: number of records sent at once, to one
    partition. `pick`: returns partition and key of a record by its number; default: partitions
    in turn.
    """

    def __init__(
        self,
        producer: Producer,
        partitions: Sequence[TopicPartition],
        tell: Tell,
        *,
        name: str,
        now: int,
        rate: int,
        transaction_ms: int = 1000,
        abort_every: int = 0,
        until: int | None = None,
        batch: int = 1,
        pick: Pick | None = None,
    ) -> None:
        self.producer = producer
        self.sent = 0
        """The number of records that it has sent."""
        self._partitions = tuple(partitions)
        self._tell = tell
        self._name = name
        self._started = now
        self._rate = rate
        self._transaction_ms = transaction_ms
        self._abort_every = abort_every
        self._until = until
        self._batch = batch
        self._pick = pick
        self._transactions = 0
        self._opened_at = 0

    @property
    def done(self) -> bool:
        """True if all records are sent and their results known."""
        open_ = self.producer.transactions is not None and self.producer.transactions.state not in (
            TransactionState.READY,
            TransactionState.NEW,
        )
        return self.producer.idle and not open_

    def turn(self, now: int) -> None:
        """Send the records that are due. Raises MemberFault if the application ends."""
        producer = self.producer
        if producer.fatal is not None:
            raise producer.fatal
        transactions = producer.transactions
        if transactions is not None:
            if transactions.state is TransactionState.READY and self._due(now):
                transactions.begin()
                self._opened_at = now
                self._transactions += 1
            if transactions.state is not TransactionState.OPEN or transactions.fault is not None:
                if transactions.state is TransactionState.OPEN:
                    transactions.end(commit=False)
                return
        while self._due(now):
            partition = self._partitions[self.sent // self._batch % len(self._partitions)]
            for _ in range(self._batch):
                key = None
                if self._pick is not None:
                    partition, key = self._pick(self.sent)
                producer.send(partition, f"{self._name}#{self.sent}".encode(), now, key)
                self.sent += 1
        if transactions is not None and (
            now >= self._opened_at + self._transaction_ms or self._is_over(now)
        ):
            transactions.end(
                commit=not (self._abort_every and self._transactions % self._abort_every == 0)
            )

    def _due(self, now: int) -> bool:
        at = self._next_at()
        return at is not None and at <= now

    def _next_at(self) -> int | None:
        at = self._started + self.sent * 1000 // self._rate
        return at if self._until is None or at < self._until else None

    def _is_over(self, now: int) -> bool:
        return self._until is not None and now >= self._until

    def next_turn(self) -> int | None:
        """Return the instant at which a record is to be sent or a transaction ended, or None."""
        transactions = self.producer.transactions
        if self.producer.fatal is not None:
            return None
        at = self._next_at()
        if transactions is None or transactions.state is TransactionState.READY:
            return at
        if transactions.state is not TransactionState.OPEN:
            return None
        end = self._opened_at + self._transaction_ms
        return end if at is None else min(at, end)

    def told(self, effect: object) -> None:
        """Take an effect of the producer that is for the application."""
        match effect:
            case Sent(tickets, partition, producer_id, epoch, sequence):
                self._tell(SentBatch(partition, producer_id, epoch, sequence, len(tickets)))
            case Delivered(tickets, partition, offset, fault):
                acks = self.producer.config.acks
                self._tell(DeliveredBatch(partition, offset, len(tickets), acks, _name(fault)))
            case TransactionEnded(committed, fault):
                self._tell(TransactionReport(committed, _name(fault)))
                transactions = self.producer.transactions
                if fault is None or self.producer.fatal is not None or transactions is None:
                    return
                if (
                    transactions.state is TransactionState.OPEN
                ):  # else `turn` saw the fault before this was told, and aborts already
                    transactions.end(commit=False)


def _name(fault: MemberFault | None) -> str | None:
    return None if fault is None else fault.name
