"""The contents of partitions' logs, from the stream `data`: batches of records, and the outcomes of
their transactions.

Knows truncation: a batch or marker that is written below the end of the log replaces what was
there. But what a broker writes after another one was elected leader is truncated soon, so it
replaces nothing. Judges of records share this module. They do not judge a topic whose name was
used by a deleted topic: clients keep data of the old one for a while.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from typing import Any, Final

from coordinator.events.cluster import PartitionChange, PartitionChanged, TopicDeleted
from coordinator.events.data import MarkerWritten, RecordsAppended
from coordinator.events.groups.offsets import OffsetsCommitted, OffsetsPending, PendingOffsetsEnded
from coordinator.events.handlers import on
from coordinator.events.members import PartitionsAssigned

from .base import Judge, Line

TopicPartition = tuple[str, int]
Written = PartitionChanged | RecordsAppended | MarkerWritten
"""The events that change partitions' contents, except the deletion of a topic."""
WRITTEN: Final = (PartitionChanged, RecordsAppended, MarkerWritten)


class Batch:
    """One batch. `outcome`: True if its transaction was committed, False if it was aborted, None
    while it is open."""

    __slots__ = ("event", "first", "last", "outcome", "transactional")

    def __init__(self, event: RecordsAppended) -> None:
        self.first = event.offset
        self.last = event.last_offset
        self.transactional = event.transactional
        self.outcome: bool | None = None
        self.event = event


class PartitionBatches:
    """The batches of one partition, in the order of their offsets."""

    def __init__(self) -> None:
        self._firsts: list[int] = []
        self._batches: list[Batch] = []
        self._open: dict[int, list[Batch]] = {}
        self._marked_to = 0  # the offset behind the last marker

    def append(self, event: RecordsAppended) -> list[Batch]:
        """Add a batch; return the batches that it replaced."""
        batch = Batch(event)
        replaced = self.cut(batch.first)
        self._batches.append(batch)
        self._firsts.append(batch.first)
        if batch.transactional:
            self._open.setdefault(event.producer_id, []).append(batch)
        return replaced

    def cut(self, end: int) -> list[Batch]:
        """Remove everything from this offset on; return what was removed."""
        self._marked_to = min(self._marked_to, end)
        if not self._batches or self._batches[-1].last < end:
            return []
        keep = next(
            (at for at in range(len(self._batches), 0, -1) if self._batches[at - 1].last < end), 0
        )
        replaced = self._batches[keep:]
        del self._batches[keep:], self._firsts[keep:]
        for lost in replaced:
            if lost.transactional and lost.outcome is None:
                self._open[lost.event.producer_id].remove(lost)
        return replaced

    @property
    def end(self) -> int:
        """Offset behind the last batch or marker."""
        return max(self._batches[-1].last + 1 if self._batches else 0, self._marked_to)

    def mark(self, event: MarkerWritten) -> list[Batch]:
        """Note the end of a transaction; return its batches."""
        self._marked_to = max(self._marked_to, event.offset + 1)
        ended = self._open.pop(event.producer_id, [])
        for batch in ended:
            batch.outcome = event.committed
        return ended

    def between(self, first: int, last: int) -> Iterator[Batch]:
        """Yield the batches with records from `first` to `last`, both included."""
        at = max(bisect_right(self._firsts, first) - 1, 0)
        for batch in self._batches[at : bisect_left(self._firsts, last + 1)]:
            if batch.last >= first:
                yield batch


class Batches:
    """The batches of all partitions."""

    def __init__(self) -> None:
        self.replaced: list[Batch] = []
        """The batches that the last line replaced."""
        self._leaders: dict[TopicPartition, int] = {}
        self._partitions: dict[TopicPartition, PartitionBatches] = {}

    def of(self, topic: str, partition: int) -> PartitionBatches:
        """Return the batches of one partition."""
        found = self._partitions.get((topic, partition))
        if found is None:
            found = self._partitions[topic, partition] = PartitionBatches()
        return found

    def in_vain(self, line: Line, event: RecordsAppended | MarkerWritten) -> bool:
        """Return True if a former leader wrote this after its successor had written already."""
        key, broker = place_of(line), line.broker
        if broker is None or self._leaders.get(key, broker) == broker:
            return False
        return event.offset < self.of(*key).end

    def see(self, line: Line, event: Written) -> list[Batch]:
        """Handle a line; return the batches whose transaction a MarkerWritten ended."""
        self.replaced = []
        match event:
            case PartitionChanged():
                if event.what is PartitionChange.LEADER_ELECTED:
                    self._leaders[event.topic, event.partition] = event.leader
            case RecordsAppended():
                if not self.in_vain(line, event):
                    self.replaced = self.of(*place_of(line)).append(event)
            case MarkerWritten():
                partition = self.of(*place_of(line))
                self.replaced = [] if self.in_vain(line, event) else partition.cut(event.offset)
                return partition.mark(event)
        return []


def place_of(line: Line) -> TopicPartition:
    """Return the partition of a line."""
    return line.topic or "", line.partition or 0


class JudgeOfRecords(Judge):
    """A judge of records. Once a topic was deleted, it gets no more lines about a topic of that
    name."""

    def __init__(self) -> None:
        super().__init__()
        self._deleted: set[str] = set()

    def looking_at(self, kind: type[Any]) -> Callable[[Line, Any], None] | None:
        """See `Judge.looking_at`."""
        handler = super().looking_at(kind)
        if handler is None or kind is TopicDeleted:
            return handler
        deleted = self._deleted

        def look(line: Line, event: Any) -> None:
            if not deleted:
                handler(line, event)
            elif line.topic in deleted:
                self.too_late(line, event)
            else:
                handler(line, self._of_topics_that_are_there(event))

        return look

    @on(TopicDeleted)
    def _topic_deleted(self, _: Line, event: TopicDeleted) -> None:
        self._deleted.add(event.topic)
        self.deleted(event.topic)

    def deleted(self, topic: str) -> None:
        """Note that a topic was deleted."""

    def too_late(self, line: Line, event: object) -> None:
        """Handle a line about a topic whose name belonged to a deleted topic."""

    def _of_topics_that_are_there(self, event: Any) -> Any:
        match event:
            case OffsetsCommitted(offsets=offsets) | OffsetsPending(offsets=offsets):
                there = tuple(row for row in offsets if row.topic not in self._deleted)
                return event if len(there) == len(offsets) else event._replace(offsets=there)
            case PartitionsAssigned(partitions=places) | PendingOffsetsEnded(partitions=places):
                left = tuple(place for place in places if place[0] not in self._deleted)
                return event if len(left) == len(places) else event._replace(partitions=left)
        return event
