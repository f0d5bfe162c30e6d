"""Transaction coordinator: all transactional ids of one broker, and their timeouts.

Folds what `decide` proposes and keeps deadlines as data: `next_deadline` is a minimum, `tick`
runs what is due. Kafka looks for timed-out transactions and unused ids at fixed intervals; here
the deadline of each is the first such look after its time is over, so an idle coordinator has no
timer. A transaction ends in two steps: `Ending` lists what must be written (markers, offsets of
groups), and the caller confirms with `complete`. Does not know logs, groups or clocks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple, Protocol

from coordinator.base.deadlines import Deadlines
from coordinator.base.errors import ErrorCode
from coordinator.events import transactions as ev

from . import decide
from .config import TransactionConfig
from .decide import Decision, Partition, Producer
from .evolve import evolve
from .model import NO_PRODUCER_ID, Transaction
from .states import ENDING, EXPIRING, TransactionState

_ABORT, _EXPIRE = range(2)


class Ending(NamedTuple):
    """A transaction that is being ended. `cause`: the event log's number of the decision."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    committed: bool
    partitions: tuple[Partition, ...]
    cause: int | None


class TransactionResult(NamedTuple):
    """Answer to a producer, and the transaction to end afterwards, if any."""

    error: ErrorCode = ErrorCode.NONE
    producer: Producer = Producer(NO_PRODUCER_ID, -1)
    ending: Ending | None = None


class EventSink(Protocol):
    """Receiver of events, which are logged before the replies to the requests that caused them are
    sent.
    """

    @property
    def writable(self) -> bool:
        """True if events can be logged now; if not, nothing may change."""
        ...

    def transaction_event(self, event: ev.Event, at_ms: int, cause: int | None) -> int | None:
        """Log one event; return its number in the log, or None without a log."""
        ...


class LoggedTransactionEvent(NamedTuple):
    """An event of a transactional id, as in a log."""

    at_ms: int
    event: ev.Event


class TransactionCoordinator:
    """All transactional ids of one broker. `fresh` draws an unused producer id."""

    def __init__(
        self, config: TransactionConfig, fresh: Callable[[], int], log: EventSink | None = None
    ) -> None:
        self.config = config
        self.transactions: dict[str, Transaction] = {}
        self.append_error: Callable[[str], ErrorCode] = _no_error
        """Returns the error for the producer if records of a transactional id cannot be written
        now."""
        self.is_pending: Callable[[str, int], bool] = _never
        """Returns whether the last record of a transactional id is not replicated yet; until it is,
        no further record is written for it."""
        self.changing: Callable[[ev.Event, int], None] = _not_told
        """Called with each event, and its instant, before it is folded."""
        self._fresh = fresh
        self._log = log
        self._deadlines: Deadlines[tuple[int, str]] = Deadlines()
        self._last: dict[str, int] = {}
        self._loaded: set[str] = set()
        """Ids whose epoch has not been raised here since they were loaded: of which epoch came
        before, Kafka writes nothing down."""

    # -- requests

    def init_producer(
        self,
        transactional_id: str,
        timeout_ms: int,
        expected: Producer | None,
        now: int,
        cause: int | None,
    ) -> TransactionResult:
        """Handle InitProducerId: errors 42, 50, 90, 51, or a producer id and epoch."""
        refused = self.refuse_timeout(transactional_id, timeout_ms)
        if refused:
            return TransactionResult(refused)
        known = self.transactions.get(transactional_id)
        remembers = transactional_id not in self._loaded
        decision = self._if_writable(
            decide.decide_init(
                known, transactional_id, timeout_ms, expected, self._fresh, remembers=remembers
            )
        )
        ending = self._carry_out(decision, now, cause)
        if decision.error:
            return TransactionResult(decision.error, ending=ending)
        return TransactionResult(producer=self._producer(transactional_id))

    def refuse_timeout(self, transactional_id: str, timeout_ms: int) -> ErrorCode:
        """Return the error of an InitProducerId that any broker refuses: no transactional id (42),
        or a timeout out of bounds (50). Kafka accepts 1 ms to transaction.max.timeout.ms.
        """
        if not transactional_id:
            return ErrorCode.INVALID_REQUEST
        return (
            ErrorCode.NONE
            if 0 < timeout_ms <= self.config.max_timeout_ms
            else ErrorCode.INVALID_TRANSACTION_TIMEOUT
        )

    def add(
        self,
        transactional_id: str,
        producer: Producer,
        partitions: Collection[Partition],
        now: int,
        cause: int | None,
    ) -> ErrorCode:
        """Add partitions, for AddPartitionsToTxn, AddOffsetsToTxn, Produce and TxnOffsetCommit: 42,
        49, 90, 51 or NONE.
        """
        if not transactional_id:
            return ErrorCode.INVALID_REQUEST
        decision = self._if_writable(
            decide.decide_add(self.transactions.get(transactional_id), producer, partitions, now)
        )
        self._carry_out(decision, now, cause)
        return decision.error

    def verify(self, transactional_id: str, producer: Producer, partition: Partition) -> ErrorCode:
        """Return NONE if a partition is in the producer's open transaction, else 42, 49, 90, 51 or
        120.
        """
        if not transactional_id:
            return ErrorCode.INVALID_REQUEST
        known = self.transactions.get(transactional_id)
        error = decide.refuse_partitions(known, producer)
        if error or known is None:
            return error
        return ErrorCode.NONE if partition in known.partitions else ErrorCode.TRANSACTION_ABORTABLE

    def end(
        self,
        transactional_id: str,
        producer: Producer,
        *,
        commit: bool,
        epoch_rises: bool,
        now: int,
        cause: int | None,
    ) -> TransactionResult:
        """Handle EndTxn. `epoch_rises`: from version 5 on (KIP-890); then the answer contains the
        producer id and epoch to use next.
        """
        if not transactional_id:
            return TransactionResult(ErrorCode.INVALID_REQUEST)
        known = self.transactions.get(transactional_id)
        if epoch_rises:
            decision = decide.decide_end_v2(known, producer, commit, now, self._fresh)
        else:
            decision = decide.decide_end(known, producer, commit, now)
        decision = self._if_writable(decision)
        ending = self._carry_out(decision, now, cause)
        if decision.error:
            return TransactionResult(decision.error)
        next_producer_id = self.transactions[transactional_id].next_producer_id
        if next_producer_id != NO_PRODUCER_ID:
            return TransactionResult(producer=Producer(next_producer_id, 0), ending=ending)
        return TransactionResult(producer=self._producer(transactional_id), ending=ending)

    def complete(self, ending: Ending, now: int) -> None:
        """Complete a transaction, whose markers and offsets are written."""
        self._fold(
            decide.decide_completion(self.transactions[ending.transactional_id]), now, ending.cause
        )

    def unfinished(self) -> list[Ending]:
        """Return the transactions that are being ended; after a replay their markers must be
        written again.
        """
        return [
            self._ending(one, None) for one in self.transactions.values() if one.state in ENDING
        ]

    def _ending(self, one: Transaction, cause: int | None) -> Ending:
        committed = one.state is TransactionState.PREPARE_COMMIT
        return Ending(
            one.transactional_id,
            one.producer_id,
            one.producer_epoch,
            committed,
            tuple(one.partitions),
            cause,
        )

    def _producer(self, transactional_id: str) -> Producer:
        transaction = self.transactions[transactional_id]
        return Producer(transaction.producer_id, transaction.producer_epoch)

    # -- several coordinators

    def load(self, events: Iterable[tuple[int, ev.Event]]) -> list[Ending]:
        """Load transactional ids from these events (instant, event); return the transactions among
        them that are being ended.
        """
        names: dict[str, None] = {}
        for at_ms, event in events:
            self._apply(event, at_ms)
            names[event.transactional_id] = None
        loaded = [self.transactions[name] for name in names if name in self.transactions]
        self._loaded.update(one.transactional_id for one in loaded)
        for transaction in loaded:
            self._arm(transaction)
        return [self._ending(one, None) for one in loaded if one.state in ENDING]

    def unload(self, transactional_ids: Collection[str]) -> None:
        """Stop serving these ids, which another coordinator serves now."""
        for name in transactional_ids:
            del self.transactions[name]
            self._loaded.discard(name)
            self._last.pop(name, None)
            self._deadlines.cancel((_ABORT, name))
            self._deadlines.cancel((_EXPIRE, name))

    def delete_all(self, now: int, cause: int | None) -> None:
        """Delete all transactional ids, with open transactions, because their topic was deleted."""
        for name in list(self.transactions):
            self._fold(ev.TransactionalIdDeleted(name), now, cause)
            self._deadlines.cancel((_ABORT, name))
            self._deadlines.cancel((_EXPIRE, name))

    def put_back(
        self, transactional_id: str, events: Iterable[ev.Event], now: int, cause: int | None
    ) -> list[Ending]:
        """Restore a transactional id from these events; return its transaction if that is being
        ended.
        """
        for event in events:
            self._fold(event, now, cause)
        one = self.transactions[transactional_id]
        return [self._ending(one, cause)] if one.state in ENDING else []

    # -- time

    def next_deadline(self) -> int | None:
        """Return the instant at which `tick` is due, or None."""
        return self._deadlines.next()

    def tick(self, now: int) -> Iterator[Ending]:
        """Remove expired transactional ids, and yield each timed-out transaction to be ended."""
        for kind, transactional_id in self._deadlines.due(now):
            transaction = self.transactions[transactional_id]
            if self.append_error(transactional_id) or self.is_pending(transactional_id, now):
                interval_ms = (
                    self.config.abort_interval_ms
                    if kind == _ABORT
                    else self.config.expiration_interval_ms
                )
                self._deadlines.arm((kind, transactional_id), _first_look(now + 1, interval_ms))
                continue
            if kind == _EXPIRE:
                self._fold(
                    ev.TransactionalIdExpired(transactional_id),
                    now,
                    self._last.get(transactional_id),
                )
                continue
            reason = f"not ended within {transaction.timeout_ms} ms"
            ending = self._carry_out(
                Decision(decide.fence(transaction, reason)), now, self._last.get(transactional_id)
            )
            assert ending is not None
            yield ending

    def _arm(self, transaction: Transaction) -> None:
        """Set both deadlines of a transactional id by its state. Looks are at whole multiples of
        their interval.
        """
        config, name = self.config, transaction.transactional_id
        if transaction.state is TransactionState.ONGOING:
            assert transaction.started_ms is not None, transaction
            over = (
                transaction.started_ms + transaction.timeout_ms + 1
            )  # longer than the timeout, not as long
            self._deadlines.arm((_ABORT, name), _first_look(over, config.abort_interval_ms))
        else:
            self._deadlines.cancel((_ABORT, name))
        if transaction.state in EXPIRING:
            over = transaction.updated_ms + config.id_expiration_ms
            self._deadlines.arm((_EXPIRE, name), _first_look(over, config.expiration_interval_ms))
        else:
            self._deadlines.cancel((_EXPIRE, name))

    # -- folding

    def _if_writable(self, decision: Decision) -> Decision:
        """Return the decision, or Kafka's error for a failed write if its event cannot be logged
        (ERR-1, ERR-2).
        """
        if decision.event is None:
            return decision
        if not self.writable:
            return Decision(error=ErrorCode.NOT_COORDINATOR)
        error = self.append_error(decision.event.transactional_id)
        return Decision(error=error) if error else decision

    @property
    def writable(self) -> bool:
        """True if events can be logged now."""
        return self._log is None or self._log.writable

    def _carry_out(self, decision: Decision, now: int, cause: int | None) -> Ending | None:
        event = decision.event
        if event is None:
            return None
        seq = self._fold(event, now, cause)
        if not isinstance(event, ev.TransactionPrepared):
            return None
        return self._ending(self.transactions[event.transactional_id], seq)

    def _fold(self, event: ev.Event, now: int, cause: int | None) -> int | None:
        name = event.transactional_id
        self.changing(event, now)
        known = self.transactions.get(name)
        epoch = None if known is None else known.producer_epoch
        self._apply(event, now)
        if (
            isinstance(event, ev.ProducerInitialized)
            or known is None
            or known.producer_epoch != epoch
            or name not in self.transactions
        ):
            self._loaded.discard(name)
        if name in self.transactions:
            self._arm(self.transactions[name])
        if self._log is None:
            return None
        seq = self._log.transaction_event(event, now, cause)
        if seq is not None and name in self.transactions:
            self._last[name] = seq
        else:
            self._last.pop(name, None)
        return seq

    def _apply(self, event: ev.Event, at: int) -> None:
        name = event.transactional_id
        transaction = self.transactions.get(name)
        if transaction is None:
            transaction = self.transactions[name] = Transaction(name)
        evolve(transaction, event, at)
        if isinstance(event, ev.FORGETTING):
            del self.transactions[name]

    @classmethod
    def replay(
        cls,
        config: TransactionConfig,
        fresh: Callable[[], int],
        events: Iterable[LoggedTransactionEvent],
        log: EventSink | None = None,
    ) -> TransactionCoordinator:
        """Return the coordinator that results from these events. Transactions that were being ended
        are `unfinished`.
        """
        coordinator = cls(config, fresh)
        for at_ms, event in events:
            coordinator._apply(event, at_ms)
        for transaction in coordinator.transactions.values():
            coordinator._arm(transaction)
        coordinator._log = log
        return coordinator


def _no_error(transactional_id: str) -> ErrorCode:
    return ErrorCode.NONE


def _never(transactional_id: str, now: int) -> bool:
    return False


def _not_told(event: ev.Event, now: int) -> None:
    """Do nothing: the default observer of events."""


def _first_look(instant: int, interval_ms: int) -> int:
    """Return the first whole multiple of the interval that is not before an instant."""
    return -(-instant // interval_ms) * interval_ms
