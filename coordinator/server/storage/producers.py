"""Idempotent and transactional producers of one partition, and the assignment of producer ids.

Owns sequence numbers and producer epochs (KIP-98, KIP-360), as in Kafka 4.x: the last five
batches of each producer are kept, a repeated batch is answered with its original offset, and an
unknown producer may start at any sequence. Keeps the first offset of an open transaction, the
epochs required of markers, and the verification of batches that begin a transaction (KIP-890).
Does not know logs, topics, clocks or coordinators.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from coordinator.base.errors import ErrorCode

from .records import NO_SEQUENCE, TRANSACTIONAL, BatchHeader, BatchRefused

BATCHES_REMEMBERED = 5
"""Batches remembered of each producer; also the most that a client may have in flight."""
EXPIRATION_CHECK_MS = 600_000
"""The interval at which a partition looks for expired producers
(producer.id.expiration.check.interval.ms)."""
NO_EPOCH = -1
BOUND_TO_RISE = 2
"""From this transaction version on every marker has a higher epoch than the batches before it
(KIP-890)."""
_SEQUENCES = 1 << 31


class RememberedBatch(NamedTuple):
    """A batch of a producer in the log."""

    first_sequence: int
    last_sequence: int
    base_offset: int
    timestamp: int


class Verification:
    """Verification of batches that ask to begin a producer's transaction here, until one does or a
    marker arrives (KIP-890).

    The lowest sequence is kept, because no batch may overtake the first that was sent. `adds`:
    the first batch was of a version that adds its partition to the transaction by itself; then a
    producer without batches must begin at sequence 0.
    """

    __slots__ = ("adds", "asked_ms", "epoch", "lowest_sequence")

    def __init__(self, sequence: int, epoch: int, adds: bool, asked_ms: int) -> None:
        self.lowest_sequence = sequence
        self.epoch = epoch
        self.adds = adds
        self.asked_ms = asked_ms

    def again(self, sequence: int, epoch: int) -> None:
        """Note another batch. A higher epoch starts anew, a lower one is ignored."""
        if epoch > self.epoch:
            self.epoch, self.lowest_sequence = epoch, sequence
        elif epoch == self.epoch:
            self.lowest_sequence = min(sequence, self.lowest_sequence)


class ProducerState:
    """State of one producer in one partition."""

    __slots__ = ("batches", "coordinator_epoch", "epoch", "first_offset", "last_timestamp")

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.coordinator_epoch = NO_EPOCH
        self.first_offset: int | None = None
        """The first offset of its open transaction in this partition; None if there is none."""
        self.batches: deque[RememberedBatch] = deque(maxlen=BATCHES_REMEMBERED)
        self.last_timestamp = 0

    @property
    def last_offset(self) -> int | None:
        """Offset of the newest record, or None if no batch of this epoch is kept."""
        if not self.batches:
            return None
        newest = self.batches[-1]
        return newest.base_offset + (newest.last_sequence - newest.first_sequence) % _SEQUENCES

    @property
    def last_sequence(self) -> int:
        """Sequence of the newest record, or -1."""
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE


class Producers:
    """Producers of one partition, by producer id."""

    __slots__ = ("_checked_at", "states", "verifications")

    def __init__(self) -> None:
        self.verifications: dict[int, Verification] = {}
        self.states: dict[int, ProducerState] = {}
        self._checked_at: int | None = None

    def duplicate(self, header: BatchHeader) -> RememberedBatch | None:
        """Return the kept batch that a batch repeats, or None."""
        state = self.states.get(header.producer_id)
        if state is None or state.epoch != header.producer_epoch:
            return None
        span = header.base_sequence, header.last_sequence
        return next(
            (
                batch
                for batch in state.batches
                if (batch.first_sequence, batch.last_sequence) == span
            ),
            None,
        )

    def in_transaction(self, producer_id: int, epoch: int) -> bool:
        """Return True if the producer has an open transaction here under this epoch."""
        state = self.states.get(producer_id)
        return state is not None and state.first_offset is not None and state.epoch == epoch

    def asks_to_begin(self, header: BatchHeader, *, adds: bool, now_ms: int) -> None:
        """Note a batch that will begin its producer's transaction here, if the coordinator agrees.
        `adds`, `now_ms`: see `Verification`. Raises BatchRefused 47 for an older epoch, without
        asking the coordinator.
        """
        state = self.states.get(header.producer_id)
        if state is not None and header.producer_epoch < state.epoch:
            raise _old(header, state.epoch)
        known = self.verifications.get(header.producer_id)
        if known is None:
            self.verifications[header.producer_id] = Verification(
                header.base_sequence, header.producer_epoch, adds, now_ms
            )
        else:
            known.again(header.base_sequence, header.producer_epoch)

    def check(self, header: BatchHeader) -> None:
        """Raise BatchRefused for a batch of an older epoch (47), out of sequence (45), or outside
        the producer's open transaction (48).
        """
        state = self.states.get(header.producer_id)
        current = NO_EPOCH if state is None else state.epoch
        if header.producer_epoch < current:
            raise _old(header, current)
        if self.verifications:
            asked = self.verifications.get(header.producer_id)
            if (
                asked is not None
                and asked.adds
                and header.base_sequence
                and (state is None or not state.batches)
            ):
                raise _out_of_order(header, 0)
            if asked is not None and header.base_sequence > asked.lowest_sequence:
                raise _out_of_order(header, asked.lowest_sequence)
        if state is None or current == NO_EPOCH:
            return
        expected = 0 if header.producer_epoch != current else (state.last_sequence + 1) % _SEQUENCES
        if header.base_sequence != expected:
            raise _out_of_order(header, expected)
        if state.first_offset is not None and not header.attributes & TRANSACTIONAL:
            raise BatchRefused(
                ErrorCode.INVALID_TXN_STATE,
                f"not in the open transaction of producer {header.producer_id}",
            )

    def check_marker(
        self, producer_id: int, epoch: int, coordinator_epoch: int, transaction_version: int
    ) -> None:
        """Raise BatchRefused for a marker of an older epoch (47) or an older coordinator (52).
        Unknown producers have -1 for both; a negative producer id is not checked.
        """
        if producer_id < 0:
            return
        state = self.states.get(producer_id) or ProducerState(NO_EPOCH)
        bound_to_rise = (
            transaction_version >= BOUND_TO_RISE and state.first_offset is not None
        )  # else a marker may come again
        if epoch < state.epoch or (bound_to_rise and epoch == state.epoch):
            raise BatchRefused(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"a marker of epoch {epoch} for producer {producer_id}, {state.epoch} was seen",
            )
        if coordinator_epoch < state.coordinator_epoch:
            raise BatchRefused(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"a marker of coordinator epoch {coordinator_epoch}, {state.coordinator_epoch} was seen",
            )

    def marked(
        self, producer_id: int, epoch: int, coordinator_epoch: int, timestamp: int
    ) -> int | None:
        """Apply an appended marker; return the first offset of the transaction that it ends, or
        None. For a negative producer id nothing is kept.
        """
        if producer_id < 0:
            return None
        state = self.states.get(producer_id)
        if state is None:
            state = self.states[producer_id] = ProducerState(epoch)
        if state.epoch != epoch:
            state.epoch = epoch
            state.batches.clear()
        first_offset, state.first_offset = state.first_offset, None
        asked = self.verifications.get(producer_id)
        if asked is not None and not (
            asked.adds and asked.epoch == epoch
        ):  # else it is about what comes behind this marker
            del self.verifications[producer_id]
        state.coordinator_epoch = coordinator_epoch
        state.last_timestamp = timestamp
        return first_offset

    def appended(self, header: BatchHeader, base_offset: int) -> None:
        """Record a batch that was checked and appended at `base_offset`."""
        state = self.states.get(header.producer_id)
        if state is None:
            state = self.states[header.producer_id] = ProducerState(header.producer_epoch)
        if state.epoch != header.producer_epoch:
            state.epoch = header.producer_epoch
            state.batches.clear()
        state.batches.append(
            RememberedBatch(
                header.base_sequence, header.last_sequence, base_offset, header.max_timestamp
            )
        )
        state.last_timestamp = header.max_timestamp
        if header.attributes & TRANSACTIONAL:
            self.verifications.pop(header.producer_id, None)
            if state.first_offset is None:
                state.first_offset = base_offset

    def as_written(self, now_ms: int, expiration_ms: int) -> Producers:
        """Return the producers as a restarted broker reads them from Kafka's snapshots: only the
        newest batch of each, without expired ones. `now_ms`: wall clock; `expiration_ms`:
        producer.id.expiration.ms.
        """
        read = Producers()
        for producer_id, state in self.states.items():
            if state.first_offset is None and now_ms - state.last_timestamp >= expiration_ms:
                continue
            one = read.states[producer_id] = ProducerState(state.epoch)
            one.coordinator_epoch, one.first_offset, one.last_timestamp = (
                state.coordinator_epoch,
                state.first_offset,
                state.last_timestamp,
            )
            if state.batches:
                one.batches.append(state.batches[-1])
        return read

    def expire(self, now_ms: int, expiration_ms: int, elapsed_ms: int) -> None:
        """Remove producers whose newest record is older than `expiration_ms`
        (producer.id.expiration.ms), unless they have an open transaction.

        Checks at most every ten minutes, as Kafka does. `now_ms`: wall clock, by which records
        are dated; `elapsed_ms`: a clock that never jumps, which Kafka's scheduler follows.
        """
        if self._checked_at is None:
            self._checked_at = elapsed_ms
        if elapsed_ms - self._checked_at < EXPIRATION_CHECK_MS:
            return
        self._checked_at = elapsed_ms
        self.states = {
            producer_id: state
            for producer_id, state in self.states.items()
            if state.first_offset is not None or now_ms - state.last_timestamp < expiration_ms
        }
        self.verifications = {
            producer_id: asked
            for producer_id, asked in self.verifications.items()
            if now_ms - asked.asked_ms < expiration_ms
        }


def _old(header: BatchHeader, current: int) -> BatchRefused:
    return BatchRefused(
        ErrorCode.INVALID_PRODUCER_EPOCH,
        f"producer {header.producer_id} has epoch {header.producer_epoch}, {current} was seen",
    )


def _out_of_order(header: BatchHeader, expected: int) -> BatchRefused:
    return BatchRefused(
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        f"producer {header.producer_id} sent sequence {header.base_sequence}, {expected} is next",
    )


class ProducerIds:
    """Source of a broker's producer ids, ascending and unique. `block` fetches the next block of
    ids (Kafka's brokers get blocks of 1,000 from the controller); without it all ids from
    `first` on are available.
    """

    __slots__ = ("_block", "_end", "_next")

    def __init__(self, first: int = 0, *, block: Callable[[], range] | None = None) -> None:
        self._next = first
        self._end: int | None = None if block is None else first
        self._block = block

    def next(self) -> int:
        """Return an unused producer id."""
        if self._block is not None and self._next == self._end:
            block = self._block()
            self._next, self._end = block.start, block.stop
        given = self._next
        self._next += 1
        return given

    def skip(self, highest: int) -> None:
        """Never return ids up to `highest`; -1 means none."""
        while self._block is not None and self._end is not None and self._end <= highest:
            block = self._block()
            self._next, self._end = block.start, block.stop
        self._next = max(self._next, highest + 1)
