"""A consuming application as a pure state machine: it polls, processes and commits as configured.

Owns the application's loop: poll, process, commit, and for a pipeline the transaction around its
output. While it processes or waits for a commit it does not poll, so a slow one exceeds
max.poll.interval.ms (CLI-14); it polls only when all earlier records are processed. It reports
each step (`tell`, see `reports`). Does not know clocks or connections.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from enum import Enum
from typing import Final, NoReturn, Protocol

from assignors import TopicPartition

from ..consuming.consumer import Consumer
from ..consuming.fetching import Polled
from ..effects import Committed, Position
from ..faults import CommitFailed, MemberFault
from ..producers.produced import Delivered, Sent, TransactionEnded
from ..producers.producer import Producer
from ..producers.transactions import TransactionState
from ..record_batches import ReadRecord
from ..states import NO_GENERATION, Generation
from .reports import (
    CommitReport,
    DeliveredBatch,
    PolledBatch,
    Processed,
    Ranges,
    Reset,
    SentBatch,
    Tell,
    TransactionReport,
    WentBack,
)

_MOST_TURNS: Final = 10_000


class CommitPolicy(Enum):
    """When positions are committed. `AUTO`: by the consumer (enable.auto.commit); `TRANSACTION`:
    together with a pipeline's output.
    """

    AUTO = "auto"
    BATCH = "batch"
    RECORD = "record"
    NONE = "none"
    TRANSACTION = "transaction"

    __hash__ = object.__hash__


class Fate(Enum):
    """Outcome of processing a record."""

    NONE = "none"
    FAILS = "fails"
    CRASHES = "crashes"
    HANGS = "hangs"

    __hash__ = object.__hash__


class Takes(Protocol):
    """Interface of processing times and outcomes of records."""

    def takes_ms(self, partition: TopicPartition, record: ReadRecord) -> int:
        """Return how long the application processes a record."""

    def fate(self, partition: TopicPartition, record: ReadRecord) -> Fate:
        """Return the outcome after that."""


class PoisonRecord(MemberFault):
    """Fault: the application cannot process a record; it ends with an error, or its process dies."""

    def __init__(self, partition: TopicPartition, offset: int, fate: Fate) -> None:
        super().__init__(
            f"the application {fate.value} at {partition.topic}-{partition.partition}, offset {offset}"
        )
        self.fate = fate


def ranges(offsets: Iterable[int]) -> Ranges:
    """Return ascending offsets as pairs of first and last."""
    found: list[tuple[int, int]] = []
    for offset in offsets:
        if found and offset == found[-1][1] + 1:
            found[-1] = (found[-1][0], offset)
        else:
            found.append((offset, offset))
    return tuple(found)


class Application:
    """One consuming application. `processing_ms`: processing time of a record, unless `work` gives
    it for each. `output`: the partitions that a pipeline writes to.
    """

    def __init__(
        self,
        consumer: Consumer,
        tell: Tell,
        *,
        policy: CommitPolicy = CommitPolicy.AUTO,
        processing_ms: int = 0,
        work: Takes | None = None,
        producer: Producer | None = None,
        output: tuple[TopicPartition, ...] = (),
    ) -> None:
        self.consumer = consumer
        self.producer = producer
        self.stalled = False
        """The application does nothing, as if it hung."""
        self.processed = 0
        """The number of records that it has finished."""
        self._tell = tell
        self._policy = policy
        self._processing_ms = processing_ms
        self._takes = work
        self._poisoned: int | None = None  # the place in `_work` of a record that it cannot stand
        self._output = output
        self._work: deque[tuple[TopicPartition, ReadRecord]] = deque()
        self._batch: list[Polled] = []
        self._last_known: Generation = NO_GENERATION
        self._busy_until: int | None = None
        self._commit: int | None = None
        self._in_transaction = False
        self._sources: dict[int, tuple[str, int, int]] = {}

    @property
    def idle(self) -> bool:
        """True if nothing is being processed or committed."""
        return not self._work and self._commit is None and not self._in_transaction

    # -- the loop

    def turn(self, now: int) -> None:
        """Continue as far as possible. Raises MemberFault if the application ends."""
        for _ in range(_MOST_TURNS):
            if self.stalled or not self._step(now):
                return

    def _step(self, now: int) -> bool:
        """Do one step; return False if the application has to wait."""
        if self._commit is not None:
            self.consumer.member.pump(now)
            return False
        if self._in_transaction:
            return False
        if self.producer is not None and self.producer.fatal is not None:
            raise self.producer.fatal
        if self._work:
            return self._process(now)
        if self.producer is not None and not self._may_poll():
            return False
        return self._poll(now)

    def _may_poll(self) -> bool:
        """Return True if the application may poll: a pipeline must be able to begin a transaction."""
        transactions = None if self.producer is None else self.producer.transactions
        return transactions is None or transactions.state is TransactionState.READY

    def _poll(self, now: int) -> bool:
        if self.producer is None:
            polled = self.consumer.poll(now)
        else:
            self._see_generation()
            polled = self.consumer.poll(now)
            self._see_generation()
        for reset in self.consumer.resets():
            self._tell(Reset(reset.partition, reset.offset, reset.why))
        if not polled:
            return False
        isolation = self.consumer.member.config.isolation_level
        for partition, records in polled:
            found = ranges([record.offset for record in records])
            self._tell(PolledBatch(partition, found, isolation))
        self._batch = polled
        self._work.extend(
            (partition, record) for partition, records in polled for record in records
        )
        self._begin_work(now)
        return True

    def _see_generation(self) -> None:
        """Remember the last known generation, as KafkaConsumer.groupMetadata() does even after the
        member has lost it.
        """
        generation = self.consumer.member.generation
        if generation.generation_id >= 0:
            self._last_known = generation

    def _begin_work(self, now: int) -> None:
        at_once = 1 if self._policy is CommitPolicy.RECORD else len(self._work)
        self._poisoned = None
        if self._takes is None:
            self._busy_until = now + self._processing_ms * at_once
            return
        self._busy_until = now
        for place in range(at_once):
            self._busy_until += self._takes.takes_ms(*self._work[place])
            if self._takes.fate(*self._work[place]) in (Fate.FAILS, Fate.CRASHES):
                self._poisoned = place
                return

    def _meet_poison(self, place: int) -> NoReturn:
        """Finish the records before a record that cannot be processed, then raise PoisonRecord."""
        done: dict[TopicPartition, list[ReadRecord]] = {}
        for _ in range(place):
            partition, record = self._work.popleft()
            done.setdefault(partition, []).append(record)
        for partition, records in done.items():
            self._finished(partition, records)
        assert self._takes is not None
        partition, record = self._work[0]
        raise PoisonRecord(partition, record.offset, self._takes.fate(partition, record))

    def _process(self, now: int) -> bool:
        assert self._busy_until is not None
        if now < self._busy_until:
            return False
        self._busy_until = None
        if self._poisoned is not None:
            self._meet_poison(self._poisoned)
        if self._policy is CommitPolicy.RECORD:
            partition, record = self._work.popleft()
            self._finished(partition, [record])
            if self._work:
                self._begin_work(now)
            self._commit = self.consumer.commit(now, {partition: Position(record.offset + 1)})
            return True
        self._work.clear()
        for partition, records in self._batch:
            self._finished(partition, records)
        if self._policy is CommitPolicy.BATCH:
            self._commit = self.consumer.commit(now)
        elif self._policy is CommitPolicy.TRANSACTION:
            self._write(now)
        return True

    def _finished(self, partition: TopicPartition, records: Iterable[ReadRecord]) -> None:
        offsets = [record.offset for record in records]
        self.processed += len(offsets)
        self._tell(Processed(partition, ranges(offsets)))

    # -- a pipeline

    def _write(self, now: int) -> None:
        """Write one record for each record read, and commit both or neither (KIP-447)."""
        producer, member = self.producer, self.consumer.member
        assert producer is not None and producer.transactions is not None
        producer.transactions.begin()
        self._in_transaction = True
        offsets: dict[TopicPartition, Position] = {}
        for partition, records in self._batch:
            for record in records:
                target = self._output[partition.partition % len(self._output)]
                ticket = producer.send(
                    target, f"{partition.topic}-{partition.partition}@{record.offset}".encode(), now
                )
                self._sources[ticket] = (partition.topic, partition.partition, record.offset)
            offsets[partition] = Position(records[-1].offset + 1)
        self._see_generation()
        producer.transactions.send_offsets(
            member.config.group_id, self._last_known, member.config.group_instance_id, offsets
        )
        producer.transactions.end(commit=True)
        producer.tick(now)

    def _transaction_ended(self, ended: TransactionEnded) -> None:
        assert self.producer is not None and self.producer.transactions is not None
        self._tell(TransactionReport(ended.committed, _name(ended.fault)))
        if ended.fault is not None and self.producer.fatal is None:
            self.producer.transactions.end(commit=False)
            return
        self._in_transaction = False
        self._sources.clear()
        if not ended.committed:
            self._rewind()

    def _rewind(self) -> None:
        """Seek back to the records of an aborted transaction, as far as the member still owns them."""
        for partition, records in self._batch:
            if partition in self.consumer.member.owned:
                self._tell(WentBack(partition, records[0].offset))
                self.consumer.seek(partition, records[0].offset)

    # -- what its driver tells

    def told(self, effect: object) -> None:
        """Take an effect of a client's machine that is for the application."""
        match effect:
            case Committed(number, offsets, fault):
                rows = [(topic, number_, at.offset) for (topic, number_), at in offsets.items()]
                self._tell(CommitReport(tuple(rows), _name(fault)))
                if number == self._commit:
                    self._commit = None
                    if isinstance(
                        fault, CommitFailed
                    ):  # the partitions are others' by now, and so is the work
                        self._work.clear()
            case Sent(tickets, partition, producer_id, epoch, sequence):
                sources = [self._sources[ticket] for ticket in tickets if ticket in self._sources]
                self._tell(
                    SentBatch(partition, producer_id, epoch, sequence, len(tickets), tuple(sources))
                )
            case Delivered(tickets, partition, offset, fault):
                self._tell(DeliveredBatch(partition, offset, len(tickets), "all", _name(fault)))
            case TransactionEnded():
                self._transaction_ended(effect)

    def next_turn(self) -> int | None:
        """Return the instant of the next step, or None if it waits for something else."""
        if self.stalled or self._in_transaction:
            return None
        if self._commit is not None:
            return self.consumer.member.commit_due
        if self._work:
            return self._busy_until
        if self.producer is not None and not self._may_poll():
            return None
        return self.consumer.next_poll()


def _name(fault: MemberFault | None) -> str | None:
    return None if fault is None else fault.name
