"""Judges share groups: one holder of a record at a time, counted deliveries, and no delivery of
records that are done.

Follows each record by the lines of the stream `share` alone: its holder, its delivery count,
whether it is done, and the start of the share partition. What is in flight is lost with a
leader; then the state with which the next leader opens the partition counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from coordinator.events.availability import LogTruncated
from coordinator.events.cluster import ConfigChanged
from coordinator.events.handlers import on
from coordinator.events.run import RunStarted
from coordinator.events.share_partitions import (
    LOG_STARTS_BEHIND,
    RecordsAcknowledged,
    RecordsAcquired,
    RecordsArchived,
    RecordsReleased,
    SharePartitionClosed,
    SharePartitionOpened,
)
from coordinator.events.share_states import (
    ShareStateDeleted,
    ShareStateSnapshotted,
    ShareStateUpdated,
)

from .archived_records import ArchivedForAReason
from .base import NEVER, Judge, Line
from .dead_letters import DeadLettersComplete
from .intervals import Offsets
from .of_shares import (
    Ending,
    JudgeOfShares,
    Key,
    LostStates,
    Spans,
    StateEpochs,
    key_of,
    put_highest,
    told,
)
from .share_locks import LocksLast
from .share_members import AcknowledgementsAreStored, SessionEpochsCount

_BROKERS: Final = "group.share.delivery.count.limit"
_GROUPS: Final = "share.delivery.count.limit"
_LIMIT: Final = 5


class DoneStaysDone(JudgeOfShares):
    """Judges that accepted and archived records are not delivered again. `by_hand`: see
    `StateEpochs`."""

    name = "done_stays_done"
    promise = (
        "a record that a member of a share group accepted or rejected, or that was archived, is never delivered again, unless the "
        "group's offsets are altered or deleted, or the broker with the only copy of the state was not the one elected"
    )

    def __init__(self, *, by_hand: bool = True) -> None:
        super().__init__()
        self._done: dict[Key, Offsets] = {}
        self._topics: dict[Key, bytes] = {}
        self._epochs = StateEpochs(by_hand=by_hand)
        self._lost = LostStates()

    @on(LogTruncated)
    def _truncated(self, _: Line, event: LogTruncated) -> None:
        for lost in self._lost.by(event):
            self._done.pop(lost, None)
            self._epochs.forget(lost)

    def _is_of_topic(self, line: Line, topic_id: bytes) -> None:
        """Forget what was done with records of a former topic of this name."""
        key = key_of(line)
        if self._topics.setdefault(key, topic_id) != topic_id:
            self._done.pop(key, None)
            self._epochs.forget(key)
            self._topics[key] = topic_id

    @on(ShareStateUpdated)
    def _updated(self, line: Line, _: ShareStateUpdated) -> None:
        self._lost.see(line)

    @on(ShareStateDeleted)
    def _deleted(self, line: Line, event: ShareStateDeleted) -> None:
        self._lost.see(line)
        self._is_of_topic(line, event.topic_id)
        self._done.pop(key_of(line), None)
        self._epochs.forget(key_of(line))

    @on(ShareStateSnapshotted)
    def _snapshotted(self, line: Line, event: ShareStateSnapshotted) -> None:
        self._lost.see(line)
        self._is_of_topic(line, event.topic_id)
        anew = self._epochs.begins_anew(key_of(line), event)
        done = self._done.get(key_of(line))
        if done is not None and anew:
            done.cut(max(event.start_offset, 0))  # as the state stands when it begins anew

    @on(RecordsAcquired)
    def _delivered(self, line: Line, event: RecordsAcquired) -> None:
        done = self._done.setdefault(key_of(line), Offsets())
        for of in event.records:
            again = done.overlaps(of.first_offset, of.last_offset)
            if again is not None:
                self.blame(
                    line,
                    f"offset {again} of {told(line)} was already acknowledged or archived, but is delivered again, to {event.member_id}",
                )

    @on(SharePartitionOpened)
    def _opened(self, line: Line, event: SharePartitionOpened) -> None:
        self._is_of_topic(line, event.topic_id)
        self._are_done(line, event)

    @on(RecordsAcknowledged, RecordsReleased, RecordsArchived)
    def _ended(self, line: Line, event: Ending) -> None:
        self._are_done(line, event)

    def _are_done(self, line: Line, event: Ending | SharePartitionOpened) -> None:
        key = key_of(line)
        for of in event.records:
            if of.state in ("Acknowledged", "Archiving", "Archived"):
                self._done.setdefault(key, Offsets()).add(of.first_offset, of.last_offset)


class OneHolder(JudgeOfShares):
    """Judges that one member at a time holds a record, and that only its holder acknowledges it."""

    name = "one_holder"
    promise = (
        "a record of a share group is acquired by one member at a time: by another one only after its holder has acknowledged it, "
        "its lock has ended or the session of its holder has ended. Only the holder acknowledges it"
    )

    def __init__(self) -> None:
        super().__init__()
        self._held: dict[Key, Spans[str]] = {}

    @on(SharePartitionOpened, SharePartitionClosed)
    def _begins_anew(self, line: Line, _: SharePartitionOpened | SharePartitionClosed) -> None:
        self._held.pop(key_of(line), None)

    @on(RecordsAcquired)
    def _given(self, line: Line, event: RecordsAcquired) -> None:
        held = self._held.setdefault(key_of(line), Spans())
        for of in event.records:
            first, last = of.first_offset, of.last_offset
            for at, _, holder in held.within(first, last):
                self.blame(
                    line,
                    f"offset {at} of {told(line)} is delivered to {event.member_id} while {holder} holds it",
                )
                break
            held.put(first, last, event.member_id)

    @on(RecordsAcknowledged, RecordsReleased, RecordsArchived)
    def _ended(self, line: Line, event: Ending) -> None:
        held = self._held.setdefault(key_of(line), Spans())
        for of in event.records:
            first, last = of.first_offset, of.last_offset
            if isinstance(event, RecordsAcknowledged):
                self._is_its_own(line, event.member_id, held, first, last)
            if of.state != "Acquired":
                held.put(first, last, None)

    def _is_its_own(self, line: Line, member: str, held: Spans[str], first: int, last: int) -> None:
        expected = first
        for at, end, holder in held.within(first, last):
            if at > expected:
                break
            if holder != member:
                text = f"{member} acknowledges offset {at} of {told(line)}, which {holder} holds"
                self.blame(line, text)
                return
            expected = end + 1
        if expected <= last:
            self.blame(
                line,
                f"{member} acknowledges offset {expected} of {told(line)}, which no member holds",
            )


class DeliveriesAreCounted(JudgeOfShares):
    """Judges that each delivery counts one more, up to the limit. `limit`: the brokers' setting,
    if the log's first line does not have it. `by_hand`: see `StateEpochs`."""

    name = "deliveries_are_counted"
    promise = (
        "each delivery of a record to a share group has a delivery count one higher than the delivery before, apart from "
        "deliveries by a former leader, and no count exceeds the highest limit that the group has had"
    )

    def __init__(self, limit: int = _LIMIT, *, by_hand: bool = True) -> None:
        super().__init__()
        self._counts: dict[Key, Spans[int]] = {}
        self._epochs = StateEpochs(by_hand=by_hand)
        self._stored: dict[Key, Spans[int]] = {}
        """Delivery counts that outlive a leader, because share coordinators have stored them."""
        self._lost = LostStates()
        self._of_brokers = limit
        self._of_groups: dict[str, int] = {}

    @on(LogTruncated)
    def _truncated(self, _: Line, event: LogTruncated) -> None:
        for lost in self._lost.by(event):
            self._stored.pop(lost, None)
            self._epochs.forget(lost)

    @on(RunStarted)
    def _began(self, _: Line, event: RunStarted) -> None:
        self._limit(event.config.get(_BROKERS), None)

    @on(ConfigChanged)
    def _configured(self, _: Line, event: ConfigChanged) -> None:
        changes = {name: value for name, _, value in event.changes}
        if event.resource == "group":
            self._limit(changes.get(_GROUPS), event.name)
        else:
            self._limit(changes.get(_BROKERS), None)

    def _limit(self, value: object, group: str | None) -> None:
        limit = str(value)
        if not limit.isdecimal():
            return
        if group is None:
            self._of_brokers = max(self._of_brokers, int(limit))
        else:
            self._of_groups[group] = max(self._of_groups.get(group, self._of_brokers), int(limit))

    @on(ShareStateDeleted)
    def _deleted(self, line: Line, _: ShareStateDeleted) -> None:
        self._lost.see(line)
        self._counts.pop(key_of(line), None)
        self._stored.pop(key_of(line), None)
        self._epochs.forget(key_of(line))

    @on(ShareStateSnapshotted)
    def _snapshotted(self, line: Line, event: ShareStateSnapshotted) -> None:
        self._lost.see(line)
        if self._epochs.begins_anew(key_of(line), event):
            stored = self._stored.setdefault(key_of(line), Spans())
            stored.put(max(event.start_offset, 0), NEVER, None)

    @on(ShareStateUpdated)
    def _updated(self, line: Line, event: ShareStateUpdated) -> None:
        self._lost.see(line)
        stored = self._stored.setdefault(key_of(line), Spans())
        for of in event.batches:
            put_highest(stored, of.first_offset, of.last_offset, of.delivery_count)

    @on(SharePartitionOpened)
    def _opened(self, line: Line, event: SharePartitionOpened) -> None:
        key = key_of(line)
        counts = self._counts[key] = Spans()
        for of in event.records:
            counts.put(of.first_offset, of.last_offset, of.delivery_count)
        for first, last, count in self._stored.setdefault(key, Spans()).within(0, NEVER):
            counts.put(first, last, count)

    @on(RecordsAcquired)
    def _delivered(self, line: Line, event: RecordsAcquired) -> None:
        counts = self._counts.setdefault(key_of(line), Spans())
        limit = max(self._of_groups.get(line.group or "", 0), self._of_brokers)
        for of in event.records:
            first, last, count = of.first_offset, of.last_offset, of.delivery_count
            if count > limit:
                self.blame(
                    line,
                    f"offset {first} of {told(line)} is delivered {count} times, but the limit is {limit}",
                )
            self._one_more(line, counts, first, last, count)
            counts.put(first, last, count)

    def _one_more(self, line: Line, counts: Spans[int], first: int, last: int, count: int) -> None:
        for at, before in _before(counts, first, last):
            if count != before + 1:
                text = f"offset {at} of {told(line)} was delivered {before} times, but then has delivery count {count}"
                self.blame(line, text)
                return


def _before(counts: Spans[int], first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield the first offset of each range with its delivery count; ranges without one were
    never delivered."""
    unknown = first
    for at, end, count in counts.within(first, last):
        if at > unknown:
            yield unknown, 0
        yield at, count
        unknown = end + 1
    if unknown <= last:
        yield unknown, 0


class NothingBeforeStart(JudgeOfShares):
    """Judges that the start offset of a share partition goes back no further than acknowledgements
    had moved it, and no record before it is delivered.

    Behind records that the log start offset passed it goes back in Kafka, too (SH-SPSO-2).
    """

    name = "nothing_before_start"
    promise = (
        "no record before the start offset of a share partition is delivered, and the start offset does not go back to records that "
        "were acknowledged or archived, unless the group's offsets are altered or deleted"
    )

    def __init__(self) -> None:
        super().__init__()
        self._starts: dict[Key, int] = {}
        self._moved_by_log: dict[Key, int] = {}
        """The start offset before the log start offset passed it."""

    @on(SharePartitionClosed)
    def _closed(self, line: Line, _: SharePartitionClosed) -> None:
        self._starts.pop(key_of(line), None)
        self._moved_by_log.pop(key_of(line), None)

    @on(SharePartitionOpened)
    def _opened(self, line: Line, event: SharePartitionOpened) -> None:
        self._starts[key_of(line)] = event.start_offset

    @on(RecordsAcknowledged, RecordsReleased, RecordsArchived)
    def _ended(self, line: Line, event: Ending) -> None:
        key, start = key_of(line), event.start_offset
        before = self._starts.get(key, start)
        if isinstance(event, RecordsArchived) and event.reason == LOG_STARTS_BEHIND:
            self._moved_by_log.setdefault(key, before)
        elif start > before:
            self._moved_by_log.pop(key, None)
        self._starts_at(line, start)

    def _starts_at(self, line: Line, start: int) -> None:
        key = key_of(line)
        before = self._starts.get(key, start)
        if start < self._moved_by_log.get(key, before):
            self.blame(line, f"{told(line)} started at {before}, but goes back to {start}")
        if start < before:
            self._moved_by_log.pop(key, None)
        self._starts[key] = start

    @on(RecordsAcquired)
    def _delivered(self, line: Line, event: RecordsAcquired) -> None:
        before = self._starts.get(key_of(line), event.start_offset)
        self._starts_at(line, event.start_offset)
        for of in event.records:
            if of.first_offset < before:
                self.blame(
                    line,
                    f"offset {of.first_offset} of {told(line)} is delivered to {event.member_id}, although the start offset is {before}",
                )


OF_SHARE_GROUPS: tuple[type[Judge], ...] = (
    DoneStaysDone,
    OneHolder,
    DeliveriesAreCounted,
    NothingBeforeStart,
    LocksLast,
    ArchivedForAReason,
    DeadLettersComplete,
    AcknowledgementsAreStored,
    SessionEpochsCount,
)
"""Every judge of share groups. They have no verdict on a log without share groups."""
