"""DurableTransactions: what one partition of __transaction_state keeps of its transactional ids,
whoever leads the partition.

Whoever leads the partition appends; whoever loads it folds what stands here. Events have offsets,
like records in Kafka. Below the high watermark they are compacted at once, as Kafka's cleaner does
in the end: by what makes earlier ones superfluous. Events above it are kept as they are, because
they may be truncated. Folding the events that are left gives the same transactional ids as folding
all of them. Does not depend on coordinators, requests and time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from coordinator.events import transactions as ev


class StoredTransactionEvent(NamedTuple):
    """An event of a transactional id, where it stands and when it was written."""

    offset: int
    at_ms: int
    event: ev.Event


class DurableTransactions:
    """The events of one partition of __transaction_state."""

    def __init__(self) -> None:
        self._ids: dict[str, list[StoredTransactionEvent]] = {}
        self._tail: list[StoredTransactionEvent] = []

    def take(self, stored: StoredTransactionEvent) -> None:
        """Keep an event that stands in the log."""
        self._tail.append(stored)

    def commit_up_to(self, high_watermark: int) -> None:
        """Every replica in sync has what stands before this offset: it is not truncated by a clean
        election."""
        reached = 0
        for stored in self._tail:
            if stored.offset >= high_watermark:
                break
            self._compact(stored)
            reached += 1
        del self._tail[:reached]

    def clear(self) -> None:
        """Forget everything: the log begins anew."""
        self._ids.clear()
        self._tail.clear()

    def events(self) -> Iterator[StoredTransactionEvent]:
        """The rest of the events; those of one transactional id are in order."""
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
