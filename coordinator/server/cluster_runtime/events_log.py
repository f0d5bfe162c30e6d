"""Broker's copy of a partition of an internal topic, whose records stand for events: of groups
(__consumer_offsets), transactional ids (__transaction_state), or share partitions
(__share_group_state).

Connects events with the log: an event becomes a batch, so it has an offset and a leader epoch,
is replicated and truncated with the bytes, and is durable once the high watermark has passed it
(META-1). A new leader loads from its own copy, and thus from what it really has. Does not know
which broker leads.
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
    """Body of a batch that stands for an event. `seq`: the event's number in the event log; `lost`:
    a later leader did not have it.
    """

    stored: Any
    seq: int | None = None
    lost: bool = False


class Durable(Protocol):
    """Interface of the store from which a partition's events are loaded."""

    def take(self, stored: Any) -> None:
        """Store an event of the log."""

    def commit_up_to(self, high_watermark: int) -> None:
        """Mark the events before this offset as replicated."""

    def clear(self) -> None:
        """Remove all events."""


S = TypeVar("S")
_BODY = Struct(
    ">hiqqqhii"
    # attributes, last offset delta, base and maximum timestamp, producer id and epoch, base
    # sequence, record count
)
Written = Callable[[EventBody, int], None]


@lru_cache(maxsize=1024)
def _payload(key: str, kind: str) -> bytes:
    """Return the one record of a batch that stands for an event; its time is in the batch header."""
    return encode_record(Record(0, 0, key.encode("utf-8", "replace"), kind.encode()), 0, 0)


def _batch(at_ms: int, payload: bytes) -> tuple[BatchHeader, EventBody]:
    """Return the header and the checksummed body of a batch that stands for an event."""
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
    """Partition log with the events in it. `written` is called with each batch appended here and
    the offset after it. `dropped`: batches truncated here and not yet asked for.
    """

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
        """Append a batch that stands for the event that `stored` returns for an offset; return the
        offset.
        """
        header, body = _batch(at_ms, _payload(key, kind))
        offset = self.log_end_offset
        body.stored, body.seq = stored(offset), seq
        self._add(header, body, self.last_epoch)
        self._durable.take(body.stored)
        self._written(body, self.log_end_offset)
        return offset

    def bodies(self, from_offset: int) -> list[EventBody]:
        """Return the batches that stand for events, from an offset on."""
        first = bisect_left(self._last_offsets, from_offset)
        return [body for body in self._pieces[2 * first + 1 :: 2] if isinstance(body, EventBody)]

    def truncate(self, end: int) -> None:
        """Truncate the log and its events; store the remaining events again."""
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
    """Durable events of groups in one copy of a partition. A leader appends them to the log; a
    follower takes them from it.
    """

    def __init__(self, log: OffsetsLog) -> None:
        super().__init__(replicated=True)
        self._log = log

    def append(self, at_ms: int, group: str, event: group_events.Event) -> int:
        """Append an event as the partition's leader; return its offset."""
        return self._log.append_event(at_ms, group, event)

    def take(self, stored: StoredEvent) -> None:
        """Store an event that is in the log already."""
        self.end = stored.offset
        super().append(stored.at_ms, stored.group, stored.event)


class OffsetsLog(EventsLog):
    """A broker's copy of a partition of __consumer_offsets."""

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
    """A broker's copy of a partition of __transaction_state."""

    __slots__ = ("durable",)

    def __init__(self, written: Written) -> None:
        self.durable = DurableTransactions()
        super().__init__(self.durable, written)

    def append_event(self, at_ms: int, event: transaction_events.Event, seq: int | None) -> int:
        """Append an event of a transactional id; return its offset. `seq`: its number in the event
        log.
        """
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
    """Store that keeps no events: share states are read from the log's records when needed."""

    def take(self, stored: object) -> None:
        """Do nothing."""

    def commit_up_to(self, high_watermark: int) -> None:
        """Do nothing."""

    def clear(self) -> None:
        """Do nothing."""


class ShareStatesLog(EventsLog):
    """A broker's copy of a partition of __share_group_state. Its batches contain Kafka's own
    records, from which it is loaded.
    """

    __slots__ = ()

    def __init__(self, written: Written) -> None:
        super().__init__(_Nothing(), written)

    def number(self, seq: int | None) -> None:
        """Record the event log's number of the event that the last batch stands for."""
        body = self._pieces[-1]
        assert isinstance(body, EventBody)
        body.seq = seq

    def _keep(self, header: BatchHeader, head: bytes, body: bytes) -> None:
        if not isinstance(body, EventBody):  # appended here
            body = EventBody(body)
            body.stored = _Place(self.log_end_offset)
        super()._keep(header, head, body)
