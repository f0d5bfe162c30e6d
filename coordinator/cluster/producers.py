"""Idempotent producers: what one partition remembers of them, and the ids handed out to new ones.

Owns sequence numbers and producer epochs (KIP-98, KIP-360), as Kafka 4.x keeps them: the last five batches of each
producer are remembered, a batch sent again is answered with its first offset, and a producer without state may start at
any sequence. Transactions are not served, so no state of theirs is here. Refuses to know logs, topics and clocks.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from ..errors import ErrorCode
from .records import NO_SEQUENCE, BatchHeader, BatchRefused

BATCHES_REMEMBERED = 5
"""Batches remembered of each producer; also the most that a client may have in flight."""
EXPIRATION_CHECK_MS = 600_000
"""How often a partition looks for expired producers (producer.id.expiration.check.interval.ms)."""
NO_EPOCH = -1
_SEQUENCES = 1 << 31


class RememberedBatch(NamedTuple):
    """A batch of a producer in the log."""

    first_sequence: int
    last_sequence: int
    base_offset: int
    timestamp: int


class ProducerState:
    """One producer in one partition."""

    __slots__ = ("batches", "epoch", "last_timestamp")

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.batches: deque[RememberedBatch] = deque(maxlen=BATCHES_REMEMBERED)
        self.last_timestamp = 0

    @property
    def last_sequence(self) -> int:
        """Sequence of the newest record, or -1."""
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE


class Producers:
    """The producers of one partition, by producer id."""

    __slots__ = ("_checked_at", "states")

    def __init__(self) -> None:
        self.states: dict[int, ProducerState] = {}
        self._checked_at: int | None = None

    def duplicate(self, header: BatchHeader) -> RememberedBatch | None:
        """The remembered batch that `header` is a repetition of."""
        state = self.states.get(header.producer_id)
        if state is None or state.epoch != header.producer_epoch:
            return None
        span = header.base_sequence, header.last_sequence
        return next((batch for batch in state.batches if (batch.first_sequence, batch.last_sequence) == span), None)

    def check(self, header: BatchHeader) -> None:
        """Refuse a batch of an older epoch (47) or out of sequence (45)."""
        state = self.states.get(header.producer_id)
        current = NO_EPOCH if state is None else state.epoch
        if header.producer_epoch < current:
            raise BatchRefused(
                ErrorCode.INVALID_PRODUCER_EPOCH, f"producer {header.producer_id} has epoch {header.producer_epoch}, {current} was seen")
        if state is None or current == NO_EPOCH:
            return
        expected = 0 if header.producer_epoch != current else (state.last_sequence + 1) % _SEQUENCES
        if header.base_sequence != expected:
            raise BatchRefused(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"producer {header.producer_id} sent sequence {header.base_sequence}, {expected} is next")

    def appended(self, header: BatchHeader, base_offset: int) -> None:
        """Remember a batch that was checked and appended at `base_offset`."""
        state = self.states.get(header.producer_id)
        if state is None:
            state = self.states[header.producer_id] = ProducerState(header.producer_epoch)
        if state.epoch != header.producer_epoch:
            state.epoch = header.producer_epoch
            state.batches.clear()
        state.batches.append(RememberedBatch(header.base_sequence, header.last_sequence, base_offset, header.max_timestamp))
        state.last_timestamp = header.max_timestamp

    def expire(self, now_ms: int, expiration_ms: int) -> None:
        """Forget producers whose newest record is older than `expiration_ms` (producer.id.expiration.ms).

        Looks at most every ten minutes, as Kafka does: until then a silent producer is still known. `now_ms`: wall clock.
        """
        if self._checked_at is None:
            self._checked_at = now_ms
        if now_ms - self._checked_at < EXPIRATION_CHECK_MS:
            return
        self._checked_at = now_ms
        self.states = {
            producer_id: state for producer_id, state in self.states.items() if now_ms - state.last_timestamp < expiration_ms}


class ProducerIds:
    """The ids of a cluster's producers: each given once, ascending."""

    __slots__ = ("_next",)

    def __init__(self, first: int = 0) -> None:
        self._next = first

    def next(self) -> int:
        """A producer id never given before."""
        given = self._next
        self._next += 1
        return given

