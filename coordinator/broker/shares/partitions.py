"""The share partitions that a broker serves as the leader of their partitions.

Owns which are open, when their locks end, and the order of a change: what has to outlive the leader
is written to the share coordinator first; then the event is logged and folded, and whoever waits
for records is woken. A share partition opens at its first fetch, from what is stored of it
(SH-OFF-2), and closes when its broker leads no longer. Does not depend on requests and sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...common.deadlines import Deadlines
from ...errors import ErrorCode
from ...share_partitions import acknowledge as acknowledging
from ...share_partitions import events as ev
from ...share_partitions import release as releasing
from ...share_partitions.acquire import Read, Wanted, acquire
from ...share_partitions.evolve import evolve
from ...share_partitions.model import SharePartition, SharePartitionKey
from ...share_partitions.runs import Condition, Run, Runs
from ...share_partitions.start import start_after
from ...share_partitions.states import STATES, RecordState
from ...share_states.decide import Written
from ...share_states.model import NO_OFFSET, ShareState, ShareStateKey, StateBatch

if TYPE_CHECKING:
    from ...cluster import Partition
    from ...share_partitions.acknowledge import Acknowledged, Refused
    from .host import ShareHost
    from .settings import ShareSettings
    from .states import ShareStates

_PERSISTED_AS = {
    ErrorCode.NOT_COORDINATOR: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.GROUP_ID_NOT_FOUND: ErrorCode.GROUP_ID_NOT_FOUND,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.FENCED_LEADER_EPOCH: ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.FENCED_STATE_EPOCH: ErrorCode.NOT_LEADER_OR_FOLLOWER,
}
"""What a leader tells its clients of an error that the share coordinator answered; any other is
UNKNOWN_SERVER_ERROR."""


_TELL_OF_RECORDS = (ev.RecordsAcknowledged, ev.RecordsReleased, ev.RecordsArchived)
MOST = (1 << 63) - 1


class Opening(NamedTuple):
    """A share partition that is open, or why it is not."""

    partition: SharePartition | None
    error: ErrorCode = ErrorCode.NONE


class SharePartitions:
    """The open share partitions of one broker. `settings`: those in force for a group."""

    def __init__(
        self, broker: ShareHost, states: ShareStates, settings: Callable[[str], ShareSettings]
    ) -> None:
        self.open_ones: dict[SharePartitionKey, SharePartition] = {}
        self.settings = settings
        self._done: dict[SharePartitionKey, Runs] = {}
        """What became of records that are done with, whether or not their share partition is open:
        for those who look."""
        self._broker = broker
        self._states = states
        self._locks: Deadlines[SharePartitionKey] = Deadlines()

    # -- opening and closing

    def open(self, group_id: str, found: Partition, now: int, cause: int | None = None) -> Opening:
        """The share partition of a partition that this broker leads."""
        key = SharePartitionKey(group_id, found.topic, found.index)
        topic_id = self._broker.cluster.topics[found.topic].id
        known = self.open_ones.get(key)
        if known is not None and (known.topic_id, known.leader_epoch) == (
            topic_id,
            found.leader_epoch,
        ):
            return Opening(known)
        if known is not None:
            self.close(key, "its partition changed", now, cause)
        if not group_id:
            return Opening(None, ErrorCode.UNKNOWN_SERVER_ERROR)
        at = ShareStateKey(group_id, topic_id, found.index)
        decision, state = self._states.read(at, found.leader_epoch, now, cause)
        if state is None:
            return Opening(None, _PERSISTED_AS.get(decision.error, ErrorCode.UNKNOWN_SERVER_ERROR))
        start = state.start_offset if state.start_offset != NO_OFFSET else None
        if start is None:
            start = self._first_start(group_id, found, now)
        if start is None:
            return Opening(None, ErrorCode.OFFSET_NOT_AVAILABLE)
        partition = SharePartition(key, topic_id)
        self._fold(partition, _opened(partition, state, start, found.leader_epoch), now, cause)
        self.open_ones[key] = partition
        return Opening(partition)

    def _first_start(self, group_id: str, found: Partition, now: int) -> int | None:
        """share.auto.offset.reset: where a group begins of which no offset is stored."""
        log, reset = found.log, self.settings(group_id).auto_offset_reset.lower()
        if reset == "earliest":
            return log.log_start_offset
        if reset == "latest":
            return log.high_watermark
        since = self._broker.epoch_ms + now - duration_ms(reset)
        offset = log.first_at_or_after(since).offset
        return None if offset < 0 else offset

    def close(self, key: SharePartitionKey, reason: str, now: int, cause: int | None) -> None:
        """Serve a share partition no longer."""
        partition = self.open_ones.pop(key, None)
        if partition is not None:
            self._locks.cancel(key)
            self._fold(partition, ev.SharePartitionClosed(reason), now, cause)

    def forget(self, chosen: Callable[[SharePartitionKey], bool]) -> None:
        """Nothing is known of records any more that were done with."""
        for key in [key for key in self._done if chosen(key)]:
            del self._done[key]

    def close_where(
        self, chosen: Callable[[SharePartition], bool], reason: str, now: int, cause: int | None
    ) -> None:
        """Serve those no longer that are chosen."""
        for partition in list(self.open_ones.values()):
            if chosen(partition):
                self.close(partition.key, reason, now, cause)

    def known(
        self, group_id: str, topic: str, index: int, first: int = 0, last: int = MOST
    ) -> Iterator[Run]:
        """Records of a partition that a group has come to, those that are done with first."""
        key = SharePartitionKey(group_id, topic, index)
        partition = self.open_ones.get(key)
        done = self._done.get(key)
        start = last + 1 if partition is None else partition.start_offset
        if done is not None and first < start:
            yield from done.between(first, min(last, start - 1))
        if partition is not None:
            yield from partition.runs.between(max(first, start), last)

    # -- what members do

    def acquire(
        self,
        partition: SharePartition,
        member_id: str,
        read: Read,
        wanted: Wanted,
        now: int,
        cause: int | None,
    ) -> tuple[ev.RecordRange, ...]:
        """What a member is given of records that were read."""
        given: tuple[ev.RecordRange, ...] = ()
        for event in acquire(partition, member_id, read, wanted):
            self._fold(partition, event, now, cause)
            if isinstance(event, ev.RecordsAcquired):
                given = event.records
                self._lock(partition.key, event.deadline_ms)
        return given

    def acknowledge(
        self,
        partition: SharePartition,
        member_id: str,
        ranges: Sequence[Acknowledged],
        now: int,
        cause: int | None,
    ) -> Refused | None:
        """Take a member's word for records; None: taken."""
        settings = self.settings(partition.key.group_id)
        event = acknowledging.acknowledge(
            partition,
            member_id,
            ranges,
            delivery_limit=settings.delivery_limit,
            renewed_until_ms=now + settings.lock_duration_ms,
        )
        if event is None or isinstance(event, acknowledging.Refused):
            return event
        stored = [of for of in event.records if of.state != str(RecordState.ACQUIRED)]
        error = self._store(partition, stored, now, cause) if stored else None
        if error:
            return error
        self._fold(partition, event, now, cause)
        if event.deadline_ms is not None:
            self._lock(partition.key, event.deadline_ms)
        self._wake(partition, now)
        return None

    def release(
        self,
        partition: SharePartition,
        member_id: str,
        reason: str,
        now: int,
        cause: int | None = None,
    ) -> int:
        """Take back all that a member holds; how many records that were."""
        limit = self.settings(partition.key.group_id).delivery_limit
        event = releasing.release(partition, member_id, reason, limit)
        events = () if event is None else (event,)
        self._released(partition, events, now, cause)
        return _count(events)

    def give_back(
        self,
        partition: SharePartition,
        first: int,
        last: int,
        reason: str,
        now: int,
        cause: int | None = None,
    ) -> int:
        """Take back records, whoever holds them; how many they were."""
        limit = self.settings(partition.key.group_id).delivery_limit
        events = releasing.give_back(partition, first, last, reason, limit)
        self._released(partition, events, now, cause)
        return _count(events)

    def log_start_moved(self, partition: SharePartition, log_start: int, now: int) -> None:
        """The log does not reach as far back as the share partition: it starts later now."""
        if log_start <= partition.start_offset:
            return
        self._fold(partition, ev.RecordsArchived("the log starts behind them", (), log_start), now)

    # -- time

    def next_deadline(self) -> int | None:
        """When the next lock ends."""
        return self._locks.next()

    def tick(self, now: int) -> None:
        """End the locks whose time is over."""
        for key in self._locks.due(now):
            partition = self.open_ones[key]
            limit = self.settings(key.group_id).delivery_limit
            self._released(partition, releasing.expire(partition, now, limit), now, None)
            later = releasing.next_deadline(partition)
            if later is not None:
                self._locks.arm(key, later)

    def _lock(self, key: SharePartitionKey, deadline_ms: int) -> None:
        earlier = self._locks.get(key)
        if earlier is None or deadline_ms < earlier:
            self._locks.arm(key, deadline_ms)

    # -- changing

    def _released(
        self,
        partition: SharePartition,
        events: Iterable[ev.RecordsReleased],
        now: int,
        cause: int | None,
    ) -> None:
        """As in Kafka, records are given back although the share coordinator does not take it."""
        told = False
        for event in events:
            self._store(partition, event.records, now, cause)
            self._fold(partition, event, now, cause)
            told = True
        if told:
            self._wake(partition, now)

    def _store(
        self,
        partition: SharePartition,
        records: Sequence[ev.RecordRange | ev.AcknowledgedRange],
        now: int,
        cause: int | None,
    ) -> Refused | None:
        """Write what changes to the share coordinator. The start offset that goes with it is the
        one before the change (SH-OFF-1)."""
        key = partition.key
        complete = partition.complete_count + sum(
            of.last_offset - of.first_offset + 1 for of in records if RecordState(of.state).final
        )
        written = Written(
            partition.state_epoch,
            partition.leader_epoch,
            partition.start_offset,
            complete,
            tuple(
                StateBatch(
                    of.first_offset,
                    of.last_offset,
                    RecordState(of.state).number,
                    of.delivery_count,
                )
                for of in records
            ),
        )
        at = ShareStateKey(key.group_id, partition.topic_id, key.partition)
        decision = self._states.write(at, written, now, cause)
        if not decision.error:
            return None
        error = _PERSISTED_AS.get(decision.error, ErrorCode.UNKNOWN_SERVER_ERROR)
        if error is ErrorCode.NOT_LEADER_OR_FOLLOWER:  # somebody else leads, or the state is anew
            self.close(key, "its state is fenced", now, cause)
        return acknowledging.Refused(error, f"Error in write state RPC. {decision.message}")

    def _fold(
        self, partition: SharePartition, event: ev.Event, now: int, cause: int | None = None
    ) -> None:
        log = self._broker.log
        if log is not None:
            of = None if self._broker.replication is None else self._broker.node_id
            log.share_event(*partition.key, event, now, cause, of)
        evolve(partition, event)
        if isinstance(event, _TELL_OF_RECORDS):
            done = [
                (of.first_offset, of.last_offset, Condition(state, of.delivery_count))
                for of in event.records
                if (state := RecordState(of.state)).final
            ]
            if done:
                self._done.setdefault(partition.key, Runs()).change(done)

    def _wake(self, partition: SharePartition, now: int) -> None:
        key = partition.key
        self._broker.parked_fetches.wake(key.topic, key.partition, now)


def _count(events: Iterable[ev.RecordsReleased]) -> int:
    return sum(of.last_offset - of.first_offset + 1 for event in events for of in event.records)


def _opened(
    partition: SharePartition, state: ShareState, start: int, leader_epoch: int
) -> ev.SharePartitionOpened:
    """What is stored, as the share partition begins with it: behind what is done with."""
    records = tuple(
        ev.RecordRange(
            of.first_offset, of.last_offset, str(STATES[of.delivery_state]), of.delivery_count
        )
        for of in state.batches
        if of.last_offset >= max(start, of.first_offset)
    )
    event = ev.SharePartitionOpened(
        partition.topic_id, start, state.state_epoch, leader_epoch, records
    )
    tried = SharePartition(partition.key, partition.topic_id)
    evolve(tried, event)
    start = start_after(tried, ())
    return event._replace(start_offset=start, records=tuple(_from(records, start)))


def _from(records: Iterable[ev.RecordRange], start: int) -> Iterator[ev.RecordRange]:
    for of in records:
        if of.last_offset >= start:
            yield of._replace(first_offset=max(start, of.first_offset))


def duration_ms(reset: str) -> int:
    """The duration of `by_duration:`, as java.time.Duration reads it, in milliseconds."""
    amount, total, units = "", 0.0, {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
    for letter in reset.partition(":")[2]:
        if letter in units:
            total += float(amount.replace(",", ".")) * units[letter]
            amount = ""
        elif letter not in "+pt":
            amount += letter
    return round(total * 1000)
