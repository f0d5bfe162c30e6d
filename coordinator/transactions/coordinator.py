"""The transaction coordinator: all transactional ids of one broker, and when their time is over.

It folds what `decide` proposes and keeps deadlines as data: `next_deadline` is a minimum, `tick` lets happen what is due.
Kafka looks for overdue transactions and unused ids at fixed intervals; here the deadline of each is the first such look after
its time is over, so an idle coordinator has nothing to wake up for. Ending a transaction takes two steps: `Ending` says what
is to be written where (markers, offsets of groups); whoever wrote it says so with `complete`. Refuses to know logs, groups, clocks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple, Protocol

from ..deadlines import Deadlines
from ..errors import ErrorCode
from . import decide
from . import events as ev
from .config import TransactionConfig
from .decide import Decision, Partition, Producer
from .evolve import evolve
from .model import NO_PRODUCER_ID, Transaction
from .states import EXPIRING, TransactionState

_ABORT, _EXPIRE = range(2)


class Ending(NamedTuple):
    """A transaction that is being ended. `cause`: the log's number of the decision."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    committed: bool
    partitions: tuple[Partition, ...]
    cause: int | None


class Answer(NamedTuple):
    """What a producer is told, and the transaction to be ended before that."""

    error: ErrorCode = ErrorCode.NONE
    producer: Producer = Producer(NO_PRODUCER_ID, -1)
    ending: Ending | None = None


class EventSink(Protocol):
    """Where events are written down before their replies go out."""

    def transaction_event(self, event: ev.Event, at_ms: int, cause: int | None) -> int:
        """Append one event; returns its number in the log."""
        ...


class LoggedEvent(NamedTuple):
    """An event of a transactional id as a log holds it."""

    at_ms: int
    event: ev.Event


class TransactionCoordinator:
    """All transactional ids. `fresh` draws a producer id never given before."""

    def __init__(self, config: TransactionConfig, fresh: Callable[[], int], log: EventSink | None = None) -> None:
        self.config = config
        self.transactions: dict[str, Transaction] = {}
        self._fresh = fresh
        self._log = log
        self._deadlines: Deadlines[tuple[int, str]] = Deadlines()
        self._prepared: dict[str, ev.TransactionPrepared] = {}
        self._last: dict[str, int] = {}

    # -- requests

    def init_producer(self, transactional_id: str, timeout_ms: int, expected: Producer | None, now: int, cause: int | None) -> Answer:
        """InitProducerId: 42, 50, 90, 51, or an id and an epoch. Kafka takes timeouts from 1 ms to transaction.max.timeout.ms."""
        if not transactional_id:
            return Answer(ErrorCode.INVALID_REQUEST)
        if not 0 < timeout_ms <= self.config.max_timeout_ms:
            return Answer(ErrorCode.INVALID_TRANSACTION_TIMEOUT)
        known = self.transactions.get(transactional_id)
        decision = decide.decide_init(known, transactional_id, timeout_ms, expected, self._fresh)
        ending = self._carry_out(decision, now, cause)
        if decision.error:
            return Answer(decision.error, ending=ending)
        return Answer(producer=self._producer(transactional_id))

    def add(self, transactional_id: str, producer: Producer, partitions: Collection[Partition], now: int, cause: int | None) -> ErrorCode:
        """AddPartitionsToTxn, AddOffsetsToTxn, and what Produce and TxnOffsetCommit add by themselves: 42, 49, 90, 51 or NONE."""
        if not transactional_id:
            return ErrorCode.INVALID_REQUEST
        decision = decide.decide_add(self.transactions.get(transactional_id), producer, partitions, now)
        self._carry_out(decision, now, cause)
        return decision.error

    def verify(self, transactional_id: str, producer: Producer, partition: Partition) -> ErrorCode:
        """Whether a partition is in the producer's open transaction: 42, 49, 90, 51, 120 or NONE."""
        if not transactional_id:
            return ErrorCode.INVALID_REQUEST
        known = self.transactions.get(transactional_id)
        error = decide.refuse_partitions(known, producer)
        if error or known is None:
            return error
        return ErrorCode.NONE if partition in known.partitions else ErrorCode.TRANSACTION_ABORTABLE

    def end(self, transactional_id: str, producer: Producer, *, commit: bool, epoch_rises: bool, now: int, cause: int | None) -> Answer:
        """EndTxn; `epoch_rises` from version 5 on (KIP-890): then the answer holds what the producer goes on with."""
        if not transactional_id:
            return Answer(ErrorCode.INVALID_REQUEST)
        known = self.transactions.get(transactional_id)
        if epoch_rises:
            decision = decide.decide_end_v2(known, producer, commit, now, self._fresh)
        else:
            decision = decide.decide_end(known, producer, commit, now)
        ending = self._carry_out(decision, now, cause)
        if decision.error:
            return Answer(decision.error)
        prepared = self._prepared.get(transactional_id)
        if prepared is not None and prepared.next_producer_id != NO_PRODUCER_ID:
            return Answer(producer=Producer(prepared.next_producer_id, 0), ending=ending)
        return Answer(producer=self._producer(transactional_id), ending=ending)

    def complete(self, ending: Ending, now: int) -> None:
        """Everything that `ending` asked for is written."""
        prepared = self._prepared.pop(ending.transactional_id)
        self._fold(decide.decide_completion(self.transactions[ending.transactional_id], prepared), now, ending.cause)

    def _producer(self, transactional_id: str) -> Producer:
        transaction = self.transactions[transactional_id]
        return Producer(transaction.producer_id, transaction.producer_epoch)

    # -- time

    def next_deadline(self) -> int | None:
        """The instant at which `tick` has something to do."""
        return self._deadlines.next()

    def tick(self, now: int) -> Iterator[Ending]:
        """Let happen what is due: unused ids are forgotten, and each overdue transaction is given to be ended."""
        for kind, transactional_id in self._deadlines.due(now):
            transaction = self.transactions[transactional_id]
            if kind == _EXPIRE:
                self._fold(ev.TransactionalIdExpired(transactional_id), now, self._last.get(transactional_id))
                continue
            reason = f"not ended within {transaction.timeout_ms} ms"
            ending = self._carry_out(Decision(decide.fence(transaction, reason)), now, self._last.get(transactional_id))
            assert ending is not None
            yield ending

    def _arm(self, transaction: Transaction) -> None:
        """Bring both deadlines of a transactional id in line with its state. Looks happen at whole multiples of their interval."""
        config, name = self.config, transaction.transactional_id
        if transaction.state is TransactionState.ONGOING:
            assert transaction.started_ms is not None, transaction
            over = transaction.started_ms + transaction.timeout_ms + 1  # longer than the timeout, not as long
            self._deadlines.arm((_ABORT, name), _first_look(over, config.abort_interval_ms))
        else:
            self._deadlines.cancel((_ABORT, name))
        if transaction.state in EXPIRING:
            over = transaction.updated_ms + config.id_expiration_ms
            self._deadlines.arm((_EXPIRE, name), _first_look(over, config.expiration_interval_ms))
        else:
            self._deadlines.cancel((_EXPIRE, name))

    # -- folding

    def _carry_out(self, decision: Decision, now: int, cause: int | None) -> Ending | None:
        event = decision.event
        if event is None:
            return None
        seq = self._fold(event, now, cause)
        if not isinstance(event, ev.TransactionPrepared):
            return None
        self._prepared[event.transactional_id] = event
        partitions = tuple(self.transactions[event.transactional_id].partitions)
        return Ending(event.transactional_id, event.producer_id, event.producer_epoch, event.committed, partitions, seq)

    def _fold(self, event: ev.Event, now: int, cause: int | None) -> int | None:
        name = event.transactional_id
        self._apply(event, now)
        if name in self.transactions:
            self._arm(self.transactions[name])
        if self._log is None:
            return None
        seq = self._log.transaction_event(event, now, cause)
        self._last[name] = seq
        if name not in self.transactions:
            del self._last[name]
        return seq

    def _apply(self, event: ev.Event, at: int) -> None:
        name = event.transactional_id
        transaction = self.transactions.get(name)
        if transaction is None:
            transaction = self.transactions[name] = Transaction(name)
        evolve(transaction, event, at)
        if isinstance(event, ev.TransactionalIdExpired):
            del self.transactions[name]

    @classmethod
    def replay(
        cls, config: TransactionConfig, fresh: Callable[[], int], events: Iterable[LoggedEvent], log: EventSink | None = None,
    ) -> TransactionCoordinator:
        """The coordinator that these events lead to, a log ending where no transaction was in the middle of its end."""
        coordinator = cls(config, fresh)
        for at_ms, event in events:
            coordinator._apply(event, at_ms)
        for transaction in coordinator.transactions.values():
            coordinator._arm(transaction)
        coordinator._log = log
        return coordinator


def _first_look(instant: int, interval_ms: int) -> int:
    """The first look, at a whole multiple of the interval, that is not before an instant."""
    return -(-instant // interval_ms) * interval_ms
