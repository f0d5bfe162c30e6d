"""Judges dead letters of share groups (KIP-1191): each record that is given up is written to the
dead letter queue, or a reason why not is logged.

Follows the records that are to become dead letters at the leader that gave them up. If a leader
ends, the next one may write a letter again, as Kafka does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from coordinator.events.cluster import TopicCreated, TopicDeleted
from coordinator.events.handlers import on
from coordinator.events.share_partitions import (
    AcknowledgedRange,
    DeadLettersWritten,
    RecordRange,
    RecordsAcknowledged,
    RecordsArchived,
    RecordsReleased,
    SharePartitionClosed,
    SharePartitionOpened,
)

from .base import Line
from .disturbances import DONE_TO_BROKERS, DoneToBrokers
from .intervals import Offsets
from .of_shares import JudgeOfShares, Key, key_of, told

_WRITTEN: Final = "their dead letters are in "
_NO_TOPIC: Final = "there is no topic "
_NO_LEADER: Final = "has no leader that can be asked"
LONGEST_MS: Final = 20_000
"""Longer than five attempts with 1, 2, 4 and 8 seconds between them."""


class DeadLettersComplete(JudgeOfShares):
    """Judges that each record that is to become a dead letter does."""

    name = "dead_letters_complete"
    promise = (
        "if a share group has a dead letter topic, each record that was rejected or delivered too often has one dead letter "
        "there, written before the record is archived, unless the log states a reason why there is none (no topic, no leader) and "
        "confirms it. No other record has a dead letter. A new leader may write a letter again"
    )

    def __init__(self) -> None:
        super().__init__()
        self._under_way: dict[Key, Offsets] = {}
        self._written: dict[Key, Offsets] = {}
        self._since: dict[Key, Line] = {}
        self._last_ms = 0
        self._topics: set[str] = set()
        self._brokers = DoneToBrokers()

    @on(TopicCreated)
    def _created(self, _: Line, event: TopicCreated) -> None:
        self._topics.add(event.topic)

    @on(TopicDeleted)
    def _topic_deleted(self, _: Line, event: TopicDeleted) -> None:
        self._topics.discard(event.topic)

    @on(*DONE_TO_BROKERS)
    def _done_to_brokers(self, line: Line, _: object) -> None:
        self._brokers.see(line)

    def _of(self, line: Line) -> Key:
        self._last_ms = line.at_ms
        return key_of(line)

    @on(SharePartitionClosed)
    def _closed(self, line: Line, _: SharePartitionClosed) -> None:
        self._forget(self._of(line))

    @on(SharePartitionOpened)
    def _opened(self, line: Line, event: SharePartitionOpened) -> None:
        self._forget(key_of(line))
        self._are_under_way(line, event.records)

    @on(RecordsAcknowledged, RecordsReleased)
    def _given_up(self, line: Line, event: RecordsAcknowledged | RecordsReleased) -> None:
        self._are_under_way(line, event.records)

    def _are_under_way(
        self, line: Line, records: Iterable[RecordRange | AcknowledgedRange]
    ) -> None:
        key = self._of(line)
        for of in records:
            if of.state == "Archiving":
                self._under_way.setdefault(key, Offsets()).add(of.first_offset, of.last_offset)
                self._since.setdefault(key, line)

    @on(DeadLettersWritten)
    def _letter(self, line: Line, event: DeadLettersWritten) -> None:
        key, span = self._of(line), (event.first_offset, event.last_offset)
        written = self._written.setdefault(key, Offsets())
        again = written.overlaps(*span)
        if again is not None:
            self.blame(line, f"offset {again} of {told(line)} has a second dead letter")
        other = self._under_way.setdefault(key, Offsets()).missing(*span)
        if other is not None:
            self.blame(
                line,
                f"offset {other} of {told(line)} has a dead letter, but was neither rejected nor delivered too often",
            )
        written.add(*span)

    @on(RecordsArchived)
    def _archived(self, line: Line, event: RecordsArchived) -> None:
        key = self._of(line)
        under_way = self._under_way.get(key)
        if under_way is None:
            return
        written = self._written.setdefault(key, Offsets())
        for of in event.records:
            span = of.first_offset, of.last_offset
            if under_way.overlaps(*span) is None:
                continue
            missing = written.missing(*span)
            if missing is not None and (unfounded := self._unfounded(line, event.reason)):
                text = f"offset {missing} of {told(line)} was archived without its dead letter"
                self.blame(line, f'{text}, with the reason "{event.reason}", but {unfounded}')
            if event.reason.startswith(_WRITTEN) and missing is not None:
                self.blame(
                    line, f"offset {missing} of {told(line)} was archived without its dead letter"
                )
            under_way.remove(*span)
            written.remove(*span)
        if under_way.empty:
            self._since.pop(key, None)

    def _unfounded(self, line: Line, reason: str) -> str:
        """Return what in the log contradicts the reason for a missing letter, or "" if nothing
        does."""
        _, no_topic, name = reason.partition(_NO_TOPIC)
        if no_topic and name in self._topics:
            return "the topic exists"
        calm = not self._brokers.lasts and self._brokers.last_ms + LONGEST_MS < line.at_ms
        return "no broker was disturbed" if reason.endswith(_NO_LEADER) and calm else ""

    def _forget(self, key: Key) -> None:
        for known in (self._under_way, self._written, self._since):
            known.pop(key, None)

    def finish(self) -> None:
        for line in self._since.values():
            if self._last_ms - line.at_ms > LONGEST_MS:
                self.blame(line, f"records of {told(line)} never got their dead letters")
