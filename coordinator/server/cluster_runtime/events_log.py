"""A broker's copy of a partition whose records are events: of groups (__consumer_offsets), of
transactional ids (__transaction_state), or of the states of share partitions (__share_group_state).

Owns the tie between events and the log: an event that a coordinator writes becomes a batch, so it
has an offset and a leader epoch, is copied with the bytes, is truncated with them, and counts for
good once the high watermark has passed it (META-1). A broker that comes to lead the partition loads
from its own copy, and thus from what it really has. Does not depend on who leads.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache
from struct import Struct
from typing import Any, NamedTuple, Protocol, TypeVar

from coordinator.core.shards.durable import DurableEvents, StoredEvent
from coordinator.core.transactions.durable import DurableTransactions, StoredTransactionEvent
from coordinator.events import groups as group_events
from coordinator.events import transactions as transaction_events

from ..storage.record_codec import Record, encode_record
from ..storage.records import HEADER_SIZE, MAGIC, NO_PRODUCER_ID, NO_SEQUENCE, BatchHeader, crc32c
from ..storage.replica_log import ReplicaLog


class EventBody(bytes):
    """The body of a batch that stands for an event. `seq`: the event's number in the event log;
    `lost`: a later leader had it not."""

    stored: Any
    seq: int | None = None
    lost: bool = False


class Durable(Protocol):
    """Where the events of a log are kept for a load."""

    def take(self, stored: Any) -> None:
        """Keep an event that stands in the log."""

    def commit_up_to(self, high_watermark: int) -> None:
        """Records before this offset are replicated."""

    def clear(self) -> None:
        """The log begins anew."""


S = TypeVar("S")
_BODY = Struct(
    ">hiqqqhii"
    # attributes, last offset delta, base and maximum timestamp, producer id and epoch, base
    # sequence, record count
)
Written = Callable[[EventBody, int], None]


@lru_cache(maxsize=1024)
def _payload(key: str, kind: str) -> bytes:
    """The one record of a batch that stands for an event; the time stands in the batch's header."""
    return encode_record(Record(0, 0, key.encode("utf-8", "replace"), kind.encode()), 0, 0)


def _batch(at_ms: int, payload: bytes) -> tuple[BatchHeader, EventBody]:
    """The header of a batch that stands for an event, and its checksummed part."""
    body = EventBody(_BODY.pack(0, 0, at_ms, at_ms, NO_PRODUCER_ID, -1, NO_SEQUENCE, 1) + payload)
    return BatchHeader(
        0,
        HEADER_SIZE - 12 + len(payload),
        -1,
        MAGIC,
        crc32c(body),
        0,
        0,
        at_ms,
        at_ms,
        NO_PRODUCER_ID,
        -1,
        NO_SEQUENCE,
        1,
    ), body


class EventsLog(ReplicaLog):
    """The log, with the events in it. `written` hears of each batch that was appended here, and of
    the offset behind it. `dropped`: batches that were truncated here, until somebody asks."""

    __slots__ = ("_committed", "_durable", "_written", "dropped")

    def __init__(self, durable: Durable, written: Written) -> None:
        self._durable = durable
        self._written = written
        self.dropped: list[EventBody] = []
        super().__init__()

    @property
    def committed(self) -> int:
        """The high watermark, as far as this broker knows."""
        return self._committed

    @committed.setter
    def committed(self, offset: int) -> None:
        self._committed = offset
        self._durable.commit_up_to(offset)

    def _append(
        self, at_ms: int, key: str, kind: str, stored: Callable[[int], S], seq: int | None = None
    ) -> int:
        """Append a batch that stands for an event, told by its offset; returns the offset."""
        header, body = _batch(at_ms, _payload(key, kind))
        offset = self.log_end_offset
        body.stored, body.seq = stored(offset), seq
        self._add(header, body, self.last_epoch)
        self._durable.take(body.stored)
        self._written(body, self.log_end_offset)
        return offset

    def bodies(self, from_offset: int) -> list[EventBody]:
        """The batches that stand for events, from an offset on."""
        first = bisect_left(self._last_offsets, from_offset)
        return [body for body in self._pieces[2 * first + 1 :: 2] if isinstance(body, EventBody)]

    def truncate(self, end: int) -> None:
        """Events go with their batches; those that are left are told again."""
        if end >= self.log_end_offset:
            super().truncate(end)
            return
        committed = min(self._committed, end)
        self.dropped += self.bodies(end)
        super().truncate(end)
        self.committed = committed

    def _begin_at(self, offset: int) -> None:
        super()._begin_at(offset)
        self._durable.clear()

    def _take(self, head: bytes, body: bytes) -> None:
        super()._take(head, body)
        if isinstance(body, EventBody):
            self._durable.take(body.stored)


class LoggedEvents(DurableEvents):
    """The durable events of groups in one copy. What its coordinator appends goes into the log;
    what it follows comes from there."""

    def __init__(self, log: OffsetsLog) -> None:
        super().__init__(replicated=True)
        self._log = log

    def append(self, at_ms: int, group: str, event: group_events.Event) -> int:
        """Write an event down, as the partition's leader; returns its offset."""
        return self._log.append_event(at_ms, group, event)

    def take(self, stored: StoredEvent) -> None:
        """Keep an event that stands in the log already."""
        self.end = stored.offset
        super().append(stored.at_ms, stored.group, stored.event)


class OffsetsLog(EventsLog):
    """A copy of a partition of __consumer_offsets."""

    __slots__ = ("durable",)

    def __init__(self, written: Written) -> None:
        self.durable = LoggedEvents(self)
        super().__init__(self.durable, written)

    def append_event(self, at_ms: int, group: str, event: group_events.Event) -> int:
        """Append a durable event of a group; returns its offset."""
        return self._append(
            at_ms,
            group,
            type(event).__name__,
            lambda offset: StoredEvent(offset, at_ms, group, event),
        )


class TransactionsLog(EventsLog):
    """A copy of a partition of __transaction_state."""

    __slots__ = ("durable",)

    def __init__(self, written: Written) -> None:
        self.durable = DurableTransactions()
        super().__init__(self.durable, written)

    def append_event(self, at_ms: int, event: transaction_events.Event, seq: int | None) -> int:
        """Append an event of a transactional id, `seq` being its number in the event log; returns
        its offset."""
        return self._append(
            at_ms,
            event.transactional_id,
            type(event).__name__,
            lambda offset: StoredTransactionEvent(offset, at_ms, event),
            seq,
        )


class _Place(NamedTuple):
    offset: int


class _Nothing:
    """The records of a log are read when they are needed."""

    def take(self, stored: object) -> None:
        """Nothing is kept beside the log."""

    def commit_up_to(self, high_watermark: int) -> None:
        """Nothing depends on it."""

    def clear(self) -> None:
        """There is nothing."""


class ShareStatesLog(EventsLog):
    """A copy of a partition of __share_group_state. Its batches hold Kafka's own records, from which
    it is loaded."""

    __slots__ = ()

    def __init__(self, written: Written) -> None:
        super().__init__(_Nothing(), written)

    def number(self, seq: int | None) -> None:
        """The last batch is that of an event with this number in the event log."""
        body = self._pieces[-1]
        assert isinstance(body, EventBody)
        body.seq = seq

    def _keep(self, header: BatchHeader, head: bytes, body: bytes) -> None:
        if not isinstance(body, EventBody):  # appended here
            body = EventBody(body)
            body.stored = _Place(self.log_end_offset)
        super()._keep(header, head, body)
