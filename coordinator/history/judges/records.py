"""Judges records: the group loses none, reads none twice except those not committed, and
acknowledged records stay."""

from __future__ import annotations

from collections.abc import Iterable

from coordinator.events.cluster import PartitionChanged, PartitionsAdded, TopicCreated
from coordinator.events.data import MarkerWritten, RecordsAppended, RecordsServed
from coordinator.events.groups import GroupDeleted
from coordinator.events.groups.offsets import (
    OffsetsCommitted,
    OffsetsPending,
    OffsetsRemoved,
    PendingOffsetsEnded,
)
from coordinator.events.handlers import on
from coordinator.events.members import (
    MemberStarted,
    PartitionsAssigned,
    PositionReset,
    RecordsDelivered,
    RecordsPolled,
    Rewound,
)
from coordinator.events.wire import RequestAnswered, RequestRefused
from coordinator.verbs.brokers import JumpClock
from coordinator.verbs.members import JumpMemberClock

from .base import Judge, Line
from .batches import WRITTEN, Batches, JudgeOfRecords, TopicPartition, Written, place_of
from .elections import Elections
from .intervals import Offsets

_Key = tuple[str, str, int]
_EXPIRATION_MS = 86_400_000  # producer.id.expiration.ms, unless set
_LOOKS_EVERY_MS = 600_000  # producer.id.expiration.check.interval.ms


def _key(line: Line) -> _Key:
    return line.group or "", line.topic or "", line.partition or 0


def _keys(line: Line, places: Iterable[TopicPartition]) -> list[_Key]:
    return [(line.group or "", *place) for place in places]


class _Pending:
    def __init__(self) -> None:
        self._offsets: dict[tuple[str, int], dict[TopicPartition, int]] = {}

    def add(self, line: Line, event: OffsetsPending) -> None:
        of = self._offsets.setdefault((line.group or "", event.producer_id), {})
        of.update({(row.topic, row.partition): row.offset for row in event.offsets})

    def end(self, line: Line, event: PendingOffsetsEnded) -> list[tuple[_Key, int]]:
        """Return the offsets that a transaction commits with its end."""
        group = line.group or ""
        of = self._offsets.pop((group, event.producer_id), {})
        return [((group, *place), of[place]) for place in event.partitions if place in of]


class NoRecordLostToTheGroup(JudgeOfRecords):
    """Judges that a group commits only records that its applications were given."""

    name = "no_record_lost"
    promise = (
        "a group's committed offset passes a record only if one of the group's applications received it. Exceptions are records "
        "of aborted transactions, if the consumer is read_committed, and records that auto.offset.reset skips. Commits from "
        "outside the group, and those of members that fetch nothing, may skip any record"
    )
    needs = frozenset({"group", "member", "data"})

    def __init__(self) -> None:
        super().__init__()
        self._batches = Batches()
        self._given: dict[_Key, Offsets] = {}
        self._checked: dict[_Key, int] = {}
        self._pending = _Pending()
        self._committed_only: dict[str, bool] = {}
        self._groups: dict[str, str] = {}
        """Groups by their members' client ids."""
        self._clients: dict[tuple[str, str], str] = {}
        """Client ids by group and member id."""
        self._fetch: set[str] = set()
        """The clients that were served records."""

    @on(*WRITTEN)
    def _written(self, line: Line, event: Written) -> None:
        self._batches.see(line, event)

    @on(RecordsServed)
    def _served(self, _: Line, event: RecordsServed) -> None:
        self._fetch.add(event.client)
        if event.client in self._groups:  # all of it may be aborted: then nobody is given any
            group = self._groups[event.client]
            self._committed_only.setdefault(group, event.isolation == "read_committed")

    @on(MemberStarted)
    def _started(self, line: Line, event: MemberStarted) -> None:
        self._groups[event.client] = line.group or ""

    @on(PartitionsAssigned)
    def _assigned(self, line: Line, event: PartitionsAssigned) -> None:
        self._clients[line.group or "", line.member or ""] = event.client

    @on(RecordsPolled)
    def _polled(self, line: Line, event: RecordsPolled) -> None:
        self._fetch.add(event.client)
        key = _key(line)
        self._committed_only[key[0]] = event.isolation == "read_committed"
        given = self._given.setdefault(key, Offsets())
        self._checked.setdefault(key, event.ranges[0][0])
        for first, last in event.ranges:
            given.add(first, last)

    @on(PositionReset)
    def _reset(self, line: Line, event: PositionReset) -> None:
        key = _key(line)
        since = self._checked.setdefault(key, event.offset)
        if event.offset > since:
            self._given.setdefault(key, Offsets()).add(since, event.offset - 1)

    @on(OffsetsCommitted)
    def _committed(self, line: Line, event: OffsetsCommitted) -> None:
        group = line.group or ""
        by_member = self._is_of_who_fetches(group, event.member_id)
        for row in event.offsets:
            self._commit(line, (group, row.topic, row.partition), row.offset, by_member=by_member)

    @on(OffsetsPending)
    def _is_pending(self, line: Line, event: OffsetsPending) -> None:
        self._pending.add(line, event)

    @on(PendingOffsetsEnded)
    def _ended(self, line: Line, event: PendingOffsetsEnded) -> None:
        for key, offset in self._pending.end(line, event):
            self._commit(line, key, offset, by_member=True)

    def _is_of_who_fetches(self, group: str, member: str) -> bool:
        """Return True if this is a member, unless it is known to have fetched nothing from any
        partition."""
        client = self._clients.get((group, member))
        return bool(member) and (client is None or client in self._fetch)

    def _commit(self, line: Line, key: _Key, offset: int, *, by_member: bool) -> None:
        since, given = self._checked.get(key), self._given.get(key)
        if by_member and since is not None:
            for batch in self._batches.of(key[1], key[2]).between(since, offset - 1):
                if (
                    self._committed_only.get(key[0])
                    and batch.transactional
                    and batch.outcome is not True
                ):
                    continue
                first, last = max(batch.first, since), min(batch.last, offset - 1)
                missing = first if given is None else given.missing(first, last)
                if missing is not None:
                    self.blame(
                        line,
                        f"group {key[0]} has committed {key[1]}-{key[2]} up to {offset}, but none of its applications received {missing}",
                    )
                    break
        if since is not None:
            self._checked[key] = offset


class DuplicatesAreUncommitted(Judge):
    """Judges that a record is given twice only if it was not committed before."""

    name = "duplicates_are_uncommitted"
    promise = (
        "an application that is assigned a partition starts at the offset that was committed when the partition was assigned, or "
        "later, and receives each record once, unless it goes back itself. auto.offset.reset takes effect only if there was no "
        "committed offset when the partition was assigned, or if the offset is out of range"
    )
    needs = frozenset({"group", "member", "wire"})

    def __init__(self) -> None:
        super().__init__()
        self._committed: dict[_Key, int] = {}
        self._unanswered: dict[int, dict[_Key, int]] = {}
        self._pending = _Pending()
        self._next: dict[tuple[str, _Key], int] = {}
        self._to_be_found: set[tuple[str, _Key]] = set()
        """Committed offsets, by client and partition, that were in force when the client was
        assigned the partition. OffsetFetch must return this offset or a later one."""

    @on(OffsetsCommitted)
    def _stored(self, line: Line, event: OffsetsCommitted) -> None:
        if line.cause is not None:
            group = line.group or ""
            self._unanswered[line.cause] = {
                (group, row.topic, row.partition): row.offset for row in event.offsets
            }

    @on(RequestAnswered)
    def _answered(self, line: Line, _: RequestAnswered) -> None:
        self._committed.update(self._unanswered.pop(line.cause or -1, {}))

    @on(RequestRefused)
    def _refused(self, line: Line, _: RequestRefused) -> None:
        """The records of a refused Produce were not replicated in time; they may be committed
        later."""
        self._unanswered.pop(line.cause or -1, None)

    @on(OffsetsPending)
    def _is_pending(self, line: Line, event: OffsetsPending) -> None:
        self._pending.add(line, event)

    @on(PendingOffsetsEnded)
    def _ended(self, line: Line, event: PendingOffsetsEnded) -> None:
        self._committed.update(self._pending.end(line, event))

    @on(OffsetsRemoved)
    def _removed(self, line: Line, event: OffsetsRemoved) -> None:
        for key in _keys(line, event.partitions):
            self._committed.pop(key, None)

    @on(GroupDeleted)
    def _group_deleted(self, line: Line, _: GroupDeleted) -> None:
        self._committed = {
            key: offset for key, offset in self._committed.items() if key[0] != line.group
        }

    @on(PartitionsAssigned)
    def _assigned(self, line: Line, event: PartitionsAssigned) -> None:
        client = event.client
        for key in _keys(line, event.partitions):
            self._next[client, key] = self._committed.get(key, 0)
            self._to_be_found.discard((client, key))
            if key in self._committed:
                self._to_be_found.add((client, key))

    @on(PositionReset, Rewound)
    def _moved(self, line: Line, event: PositionReset | Rewound) -> None:
        client, key = event.client, _key(line)
        told_none = isinstance(event, PositionReset) and event.why == "no offset is committed"
        if told_none and key in self._committed and (client, key) in self._to_be_found:
            self.blame(
                line,
                f"{client} found no committed offset of {key[1]}-{key[2]}, although it is {self._committed[key]}",
            )
        self._next[client, key] = event.offset

    @on(RecordsPolled)
    def _polled(self, line: Line, event: RecordsPolled) -> None:
        client, key = event.client, _key(line)
        for first, last in event.ranges:
            least = self._next.get((client, key), 0)
            if first < least:
                self.blame(
                    line,
                    f"{client} received {key[1]}-{key[2]} from {first} on, although it should start at {least} or later",
                )
            self._next[client, key] = last + 1


class AcknowledgedRecordsStay(JudgeOfRecords):
    """Judges that records which were acknowledged to a producer, or returned to a consumer, stay
    in the log."""

    name = "acknowledged_records_stay"
    promise = (
        "a batch that was acknowledged with acks=all, or received by a consumer, keeps its offsets. Exceptions: an unclean "
        "leader, which was not in sync, may once start without acknowledged records that it lacks, and keeps those that it has; "
        "or min.insync.replicas allowed a single replica in sync, and that one was lost"
    )
    needs = frozenset({"member", "data"})

    def __init__(self) -> None:
        super().__init__()
        self._batches = Batches()
        self._acknowledged: dict[tuple[str, int], Offsets] = {}
        self._elections = Elections()
        self._unclean: set[tuple[str, int]] = set()
        """Partitions whose leader was elected uncleanly and has not appended since: its first
        batch shows what is lost."""

    @on(RecordsDelivered)
    def _delivered(self, line: Line, event: RecordsDelivered) -> None:
        if event.failed is None and event.acks in ("all", "-1") and event.offset >= 0:
            offsets = self._acknowledged.setdefault(place_of(line), Offsets())
            offsets.add(event.offset, event.offset + event.count - 1)

    @on(RecordsPolled)
    def _polled(self, line: Line, event: RecordsPolled) -> None:
        offsets = self._acknowledged.setdefault(place_of(line), Offsets())
        for first, last in event.ranges:
            offsets.add(first, last)

    @on(TopicCreated, PartitionsAdded)
    def _made(self, line: Line, _: TopicCreated | PartitionsAdded) -> None:
        self._elections.see(line)

    @on(PartitionChanged)
    def _changed(self, line: Line, event: PartitionChanged) -> None:
        if self._elections.is_unclean(event):
            self._unclean.add((event.topic, event.partition))
        self._elections.see(line)
        self._batches.see(line, event)

    @on(RecordsAppended, MarkerWritten)
    def _written(self, line: Line, event: RecordsAppended | MarkerWritten) -> None:
        in_vain = self._batches.in_vain(line, event)
        self._batches.see(line, event)
        key = place_of(line)
        acknowledged = self._acknowledged.get(key)
        if in_vain or acknowledged is None:
            return
        if key in self._unclean:
            self._unclean.discard(key)
            acknowledged.cut(event.offset)
            return
        lost = acknowledged.overlaps(event.offset, 1 << 62)
        if lost is not None:
            self.blame(
                line,
                f"{line.topic}-{line.partition}: offset {lost} is written again, although it was acknowledged or received by a consumer",
            )
            acknowledged.cut(event.offset)


class IdempotentWritesOnce(JudgeOfRecords):
    """Judges that a batch of an idempotent producer is in a partition's log once."""

    name = "idempotent_writes_once"
    promise = (
        "a producer's batch, identified by producer id, epoch and sequence number, is appended to a partition once, however often "
        "it is sent. It is appended again only after a truncation removed it (KIP-98), or after the broker has dropped the "
        "producer as expired: its wall clock is ahead of the producer's by producer.id.expiration.ms (a day), and its check, "
        "every ten minutes, has run"
    )
    needs = frozenset({"data"})

    def __init__(self) -> None:
        super().__init__()
        self._batches = Batches()
        self._ends: dict[tuple[str, int], dict[tuple[int, int, int], int]] = {}
        self._began_at: dict[tuple[str, int], int] = {}
        self._clocks: dict[int | str, int] = {}
        """By how many ms the wall clock of each broker and client has jumped ahead."""

    def _may_be_forgotten(self, line: Line, client: str) -> bool:
        broker = 1 if line.broker is None else line.broker
        ahead = self._clocks.get(broker, 0) - self._clocks.get(client, 0)
        return (
            ahead >= _EXPIRATION_MS
            and line.at_ms >= self._began_at[place_of(line)] + _LOOKS_EVERY_MS
        )

    @on(JumpClock, JumpMemberClock)
    def _jumped(self, _: Line, event: JumpClock | JumpMemberClock) -> None:
        host = event.broker if isinstance(event, JumpClock) else event.member
        self._clocks[host] = self._clocks.get(host, 0) + event.by_ms

    @on(PartitionChanged, MarkerWritten)
    def _written(self, line: Line, event: PartitionChanged | MarkerWritten) -> None:
        self._batches.see(line, event)
        self._forget_replaced(line)

    def _forget_replaced(self, line: Line) -> None:
        for lost in self._batches.replaced:
            self._ends.get(place_of(line), {}).pop(_of_producer(lost.event), None)

    @on(RecordsAppended)
    def _appended(self, line: Line, event: RecordsAppended) -> None:
        in_vain = self._batches.in_vain(line, event)
        self._batches.see(line, event)
        self._forget_replaced(line)
        if in_vain or event.producer_id < 0:
            return
        key, place = _of_producer(event), place_of(line)
        known = self._ends.setdefault(place, {})
        before = known.get(key)
        self._began_at.setdefault(place, line.at_ms)
        if (
            before is not None
            and before < event.offset
            and not self._may_be_forgotten(line, event.client)
        ):
            where = f"{line.topic}-{line.partition}"
            self.blame(
                line,
                f"{where}: the batch of producer {key[0]} with sequence {key[2]} is at {before} and at {event.offset}",
            )
        known[key] = event.last_offset


def _of_producer(event: RecordsAppended) -> tuple[int, int, int]:
    return event.producer_id, event.producer_epoch, event.sequence
