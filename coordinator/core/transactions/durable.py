"""Durable events of the transactional ids of one partition of __transaction_state. They belong to
the partition, not to its leader.

The leader appends; a broker that loads the partition folds them. Events have offsets, like
records in Kafka. Below the high watermark obsolete ones are compacted at once, as Kafka's
cleaner does in the end. Events above it are kept, for they may be truncated. Folding the
remaining events gives the same transactional ids as folding all. Does not know coordinators,
requests or time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from coordinator.events import transactions as ev


class StoredTransactionEvent(NamedTuple):
    """An event of a transactional id, with its offset and time."""

    offset: int
    at_ms: int
    event: ev.Event


class DurableTransactions:
    """Durable events of one partition of __transaction_state."""

    def __init__(self) -> None:
        self._ids: dict[str, list[StoredTransactionEvent]] = {}
        self._tail: list[StoredTransactionEvent] = []

    def take(self, stored: StoredTransactionEvent) -> None:
        """Store an event of the log."""
        self._tail.append(stored)

    def commit_up_to(self, high_watermark: int) -> None:
        """Raise the high watermark: every in-sync replica has the events before it, so a clean
        election does not truncate them.
        """
        reached = 0
        for stored in self._tail:
            if stored.offset >= high_watermark:
                break
            self._compact(stored)
            reached += 1
        del self._tail[:reached]

    def clear(self) -> None:
        """Remove all events."""
        self._ids.clear()
        self._tail.clear()

    def events(self) -> Iterator[StoredTransactionEvent]:
        """Yield the remaining events; those of one transactional id are in order."""
        for rows in self._ids.values():
            yield from rows
        yield from self._tail

    def _compact(self, stored: StoredTransactionEvent) -> None:
        name, event = stored.event.transactional_id, stored.event
        rows = self._ids.setdefault(name, [])
        if isinstance(event, ev.FORGETTING):
            del self._ids[name]
            return
        if isinstance(event, ev.ProducerInitialized):  # it says everything that there is to know
            rows.clear()
        elif isinstance(event, ev.TransactionCompleted):  # what was enlisted is over
            rows[:] = (
                rows[:1]
                + [row for row in rows[1:] if isinstance(row.event, ev.TransactionPrepared)][-1:]
            )
        rows.append(stored)
