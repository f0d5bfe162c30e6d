"""Judges transactions: a read_committed consumer gets records of committed transactions only,
and an application that works in transactions writes once for each record that it reads."""

from __future__ import annotations

from typing import Final

from coordinator.events.availability import LogTruncated
from coordinator.events.cluster import PartitionChanged, TopicDeleted
from coordinator.events.data import MarkerWritten, RecordsAppended
from coordinator.events.groups.offsets import OffsetsPending, PendingOffsetsEnded
from coordinator.events.handlers import on
from coordinator.events.members import PositionReset, RecordsPolled, RecordsSent
from coordinator.events.transactions import (
    PartitionsEnlisted,
    ProducerInitialized,
    TransactionalIdDeleted,
    TransactionalIdExpired,
    TransactionCompleted,
    TransactionPrepared,
)

from .base import NEVER, Judge, Line
from .batches import WRITTEN, Batch, Batches, JudgeOfRecords, TopicPartition, Written, place_of

_HEARS_MS: Final = 60_000
"""Longest time in ms in which a coordinator may not know of a new leader."""
_Source = tuple[str, str, int, int]
"""Group, topic, partition and offset of a record that an application in transactions has read."""


class OnlyCommittedIsRead(JudgeOfRecords):
    """Judges that a read_committed consumer gets no records of open or aborted transactions."""

    name = "read_committed"
    promise = (
        "an application with isolation.level=read_committed receives no record of an aborted or open transaction (KIP-98). Each "
        "partition gets the marker that was decided, commit or abort, and no further marker once the transaction is complete"
    )
    needs = frozenset({"member", "data"})

    def __init__(self) -> None:
        super().__init__()
        self._batches = Batches()
        self._decided: dict[int, bool] = {}
        self._complete: dict[int, Line] = {}
        """The lines that show which producers have no transaction that is being ended."""

    @on(TransactionPrepared)
    def _prepared(self, _: Line, event: TransactionPrepared) -> None:
        self._decided[event.producer_id] = event.committed
        self._complete.pop(event.producer_id, None)

    @on(TransactionCompleted)
    def _completed(self, line: Line, event: TransactionCompleted) -> None:
        renewed = event.previous_producer_id >= 0 and event.producer_epoch == 0
        self._complete[event.previous_producer_id if renewed else event.producer_id] = line

    @on(LogTruncated)
    def _truncated(self, _: Line, __: LogTruncated) -> None:
        """Forget completed transactions: the truncated log may no longer say that they are
        complete."""
        self._complete.clear()

    @on(PartitionChanged, RecordsAppended)
    def _written(self, line: Line, event: PartitionChanged | RecordsAppended) -> None:
        self._batches.see(line, event)

    @on(RecordsPolled)
    def _polled(self, line: Line, event: RecordsPolled) -> None:
        if event.isolation != "read_committed":
            return
        where = f"{line.topic}-{line.partition}"
        for first, last in event.ranges:
            for batch in self._batches.of(*place_of(line)).between(first, last):
                if batch.transactional and batch.outcome is not True:
                    state = "aborted" if batch.outcome is False else "still open"
                    self.blame(
                        line,
                        f"{event.client} received offset {max(first, batch.first)} of {where}, although its transaction is {state}",
                    )
                    break

    @on(MarkerWritten)
    def _marked(self, line: Line, event: MarkerWritten) -> None:
        self._batches.see(line, event)
        producer, where = event.producer_id, f"{line.topic}-{line.partition}"
        if event.committed != self._decided.get(producer, event.committed):
            what = "committed" if event.committed else "aborted"
            self.blame(
                line,
                f"{where}: the transaction of producer {producer} has the marker {what}, which was not decided",
            )
        complete = self._complete.get(producer)
        if complete is not None and (
            line.cause is None or line.cause < complete.seq
        ):  # by hand it may be marked at any time
            self.blame(
                line,
                f"{where}: producer {producer} gets another marker, although its transaction is complete by line {complete.seq}",
            )


class TransactionsAreMarked(Judge):
    """Judges that every partition of an ended transaction is marked, even if another coordinator
    completes it."""

    name = "every_partition_is_marked"
    promise = (
        "when a transaction is complete, each partition in it has its marker (KIP-98), whichever broker was its coordinator when "
        "the end was decided. Exceptions, as in Kafka, are partitions of deleted topics and partitions that had no leader "
        "meanwhile"
    )
    needs = frozenset({"data", "transaction"})
    unasked = True

    def __init__(self) -> None:
        super().__init__()
        self._enlisted: dict[str, set[TopicPartition]] = {}
        self._unmarked: dict[int, tuple[int, set[TopicPartition]]] = {}
        """For each producer the instant at which its transaction was decided, and the partitions
        without a marker since."""
        self._leaderless: dict[TopicPartition, int] = {}
        """For each partition, the instant at which it last had no leader; NEVER if it has none
        now."""

    @on(ProducerInitialized)
    def _initialized(self, _: Line, event: ProducerInitialized) -> None:
        self._enlisted[event.transactional_id] = set()

    @on(PartitionsEnlisted)
    def _came(self, _: Line, event: PartitionsEnlisted) -> None:
        known = self._enlisted.get(event.transactional_id)
        if known is not None:
            known.update(event.partitions)

    @on(TransactionPrepared)
    def _prepared(self, line: Line, event: TransactionPrepared) -> None:
        known = self._enlisted.get(event.transactional_id)
        if known is not None:
            self._unmarked.setdefault(event.producer_id, (line.at_ms, set(known)))

    @on(MarkerWritten)
    def _marked(self, line: Line, event: MarkerWritten) -> None:
        if event.producer_id in self._unmarked:
            self._unmarked[event.producer_id][1].discard(place_of(line))

    @on(TransactionCompleted)
    def _completed(self, line: Line, event: TransactionCompleted) -> None:
        self._enlisted[event.transactional_id] = set()
        renewed = event.previous_producer_id >= 0 and event.producer_epoch == 0
        producer = event.previous_producer_id if renewed else event.producer_id
        since_ms, places = self._unmarked.pop(producer, (0, set()))
        for place in sorted(places):
            if self._leaderless.get(place, -_HEARS_MS) < since_ms - _HEARS_MS:
                text = f"the transaction of {event.transactional_id} is complete"
                self.blame(line, f"{text}, but {place[0]}-{place[1]} has no marker of it")
                return

    @on(LogTruncated)
    def _truncated(self, _: Line, event: LogTruncated) -> None:
        """The next coordinator may know less about transactions."""
        if event.topic == "__transaction_state" and event.lost:
            self._enlisted.clear()
            self._unmarked.clear()

    @on(TransactionalIdDeleted, TransactionalIdExpired)
    def _forgotten(self, _: Line, event: TransactionalIdDeleted | TransactionalIdExpired) -> None:
        self._enlisted.pop(event.transactional_id, None)

    @on(TopicDeleted)
    def _topic_deleted(self, _: Line, event: TopicDeleted) -> None:
        for places in (*self._enlisted.values(), *(of for _, of in self._unmarked.values())):
            places.difference_update([each for each in places if each[0] == event.topic])

    @on(PartitionChanged)
    def _changed(self, line: Line, event: PartitionChanged) -> None:
        place = event.topic, event.partition
        if event.leader < 0:
            self._leaderless[place] = NEVER
        elif self._leaderless.get(place) == NEVER:
            self._leaderless[place] = line.at_ms


class PipelinesWriteOnce(JudgeOfRecords):
    """Judges exactly-once: for each record that an application in transactions has committed, it
    has written once for readers of committed records."""

    name = "exactly_once"
    promise = (
        "for each record below the offset that a pipeline's group has committed in a transaction, exactly one record is written "
        "by a committed transaction (KIP-447). Transactions whose end is decided but not yet written to every partition are not "
        "judged, nor are records of deleted topics"
    )
    needs = frozenset({"group", "member", "data", "transaction"})

    def __init__(self) -> None:
        super().__init__()
        self._batches = Batches()
        self._sources: dict[tuple[int, int, str, int, int], tuple[_Source, ...]] = {}
        self._counts: dict[_Source, int] = {}
        self._begun: dict[tuple[str, str, int], int] = {}
        self._pipelines: set[str] = set()
        self._pending: dict[tuple[str, int], dict[TopicPartition, int]] = {}
        self._committed: dict[tuple[str, str, int], tuple[int, Line, int]] = {}
        """Offset, the line that committed it, and the producer id."""
        self._ending: set[int] = set()
        self._gone: set[_Source] = set()
        """Sources of records whose output topic was deleted."""

    @on(RecordsSent)
    def _sent(self, line: Line, event: RecordsSent) -> None:
        if event.sources:
            group = line.group or ""
            self._pipelines.add(group)
            key = event.producer_id, event.producer_epoch, *place_of(line), event.sequence
            self._sources[key] = tuple((group, *source) for source in event.sources)

    @on(PositionReset)
    def _reset(self, line: Line, event: PositionReset) -> None:
        self._begun.setdefault((line.group or "", *place_of(line)), event.offset)

    @on(RecordsPolled)
    def _polled(self, line: Line, event: RecordsPolled) -> None:
        self._begun.setdefault((line.group or "", *place_of(line)), event.ranges[0][0])

    @on(TransactionPrepared)
    def _prepared(self, _: Line, event: TransactionPrepared) -> None:
        self._ending.add(event.producer_id)

    @on(TransactionCompleted)
    def _completed(self, _: Line, event: TransactionCompleted) -> None:
        self._ending -= {event.previous_producer_id, event.producer_id}

    @on(OffsetsPending)
    def _is_pending(self, line: Line, event: OffsetsPending) -> None:
        self._pending.setdefault((line.group or "", event.producer_id), {}).update(
            {(row.topic, row.partition): row.offset for row in event.offsets}
        )

    @on(PendingOffsetsEnded)
    def _ended(self, line: Line, event: PendingOffsetsEnded) -> None:
        group, producer = line.group or "", event.producer_id
        pending = self._pending.pop((group, producer), {})
        for place in event.partitions:
            if place in pending:
                self._committed[group, *place] = pending[place], line, producer

    @on(*WRITTEN)
    def _written(self, line: Line, event: Written) -> None:
        ended = self._batches.see(line, event)
        if isinstance(event, MarkerWritten) and event.committed:
            for batch in ended:
                self._count(line, batch)

    def deleted(self, topic: str) -> None:
        for key, sources in self._sources.items():
            if key[2] == topic:
                self._gone.update(sources)

    def too_late(self, line: Line, event: object) -> None:
        if isinstance(event, RecordsSent):
            # it goes with what the same transaction writes elsewhere
            self._gone.update((line.group or "", *source) for source in event.sources)

    def _count(self, line: Line, batch: Batch) -> None:
        sent = batch.event
        key = sent.producer_id, sent.producer_epoch, *place_of(line), sent.sequence
        for source in self._sources.get(key, ()):
            count = self._counts[source] = self._counts.get(source, 0) + 1
            if count == 2:
                group, topic, partition, offset = source
                self.blame(
                    line,
                    f"group {group} has written two records for {topic}-{partition} at {offset}, in committed transactions",
                )

    def finish(self) -> None:
        for (group, topic, partition), (committed, line, producer) in self._committed.items():
            if group not in self._pipelines or producer in self._ending:
                continue
            begun = self._begun.get((group, topic, partition), committed)
            for batch in self._batches.of(topic, partition).between(begun, committed - 1):
                if batch.transactional and batch.outcome is not True:
                    continue
                offsets = range(max(batch.first, begun), min(batch.last, committed - 1) + 1)
                sources = ((offset, (group, topic, partition, offset)) for offset in offsets)
                missing = next(
                    (
                        offset
                        for offset, source in sources
                        if not self._counts.get(source) and source not in self._gone
                    ),
                    None,
                )
                if missing is not None:
                    text = f"group {group} has committed {topic}-{partition} up to {committed}, but written no record for {missing}"
                    self.blame(line, text)
                    break
