"""Judges records that a share group archives without having delivered them: the log must show that
they left their partition, or that their transaction was aborted.

Records that a member held are judged by `sharing`.
"""

from __future__ import annotations

from typing import Final

from coordinator.events.cluster import (
    LogCompacted,
    PartitionChange,
    PartitionChanged,
    SegmentsDeleted,
    TopicDeleted,
)
from coordinator.events.handlers import on
from coordinator.events.share_partitions import LOG_STARTS_BEHIND, RecordRange, RecordsArchived
from coordinator.events.wire import RequestSeen

from .base import Line
from .batches import WRITTEN, Batches, TopicPartition, Written, place_of
from .of_shares import JudgeOfShares, told

_ABORTED: Final = "their transaction was aborted"
_LEFT: Final = frozenset({LOG_STARTS_BEHIND, "they left the log"})


class ArchivedForAReason(JudgeOfShares):
    """Judges that no record is archived while it exists and may be delivered. `by_hand`: True if
    records may have been deleted without a line in the log."""

    name = "archived_for_a_reason"
    promise = (
        "a share group archives a record as part of an aborted transaction only if that transaction was aborted, and as no longer "
        "in the log only if records of the partition were deleted, compacted or lost with a leader"
    )

    def __init__(self, *, by_hand: bool = True) -> None:
        super().__init__()
        self._by_hand = by_hand
        self._batches = Batches()
        self._shortened: set[TopicPartition] = set()
        """Partitions whose log has lost records."""

    @on(*WRITTEN)
    def _written(self, line: Line, event: Written) -> None:
        if isinstance(event, PartitionChanged):
            if event.what is PartitionChange.LEADER_ELECTED:
                self._shortened.add((event.topic, event.partition))
        self._batches.see(line, event)

    @on(SegmentsDeleted, LogCompacted)
    def _cleaned(self, line: Line, _: SegmentsDeleted | LogCompacted) -> None:
        self._shortened.add(place_of(line))

    @on(RequestSeen)
    def _seen(self, _: Line, event: RequestSeen) -> None:
        self._by_hand |= event.api == "delete_records"

    @on(TopicDeleted)
    def _topic_deleted(self, _: Line, event: TopicDeleted) -> None:
        """Forget the topic's batches: a new topic may have the same name."""
        self._batches = Batches()
        self._shortened.update((event.topic, number) for number in range(event.partitions))

    @on(RecordsArchived)
    def _archived(self, line: Line, event: RecordsArchived) -> None:
        for of in event.records:
            if event.reason == _ABORTED:
                self._were_aborted(line, of)
            elif event.reason in _LEFT and not (self._by_hand or place_of(line) in self._shortened):
                text = f'offset {of.first_offset} of {told(line)} is archived with the reason "{event.reason}"'
                self.blame(line, f"{text}, but no record of the partition was deleted")
                return

    def _were_aborted(self, line: Line, of: RecordRange) -> None:
        for batch in self._batches.of(*place_of(line)).between(of.first_offset, of.last_offset):
            if batch.transactional and batch.outcome is False:
                continue
            was = "there was no transaction"
            if batch.transactional:
                was = "it was committed" if batch.outcome else "it is open"
            offset = max(batch.first, of.first_offset)
            text = f'offset {offset} of {told(line)} is archived with the reason "{_ABORTED}"'
            self.blame(line, f"{text}, but {was}")
            return
