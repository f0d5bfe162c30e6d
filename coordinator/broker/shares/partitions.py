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
from ...configs.group_configs import duration_ms
from ...errors import ErrorCode
from ...share_partitions import acknowledge as acknowledging
from ...share_partitions import events as ev
from ...share_partitions import release as releasing
from ...share_partitions.acquire import Read, Wanted, acquire
from ...share_partitions.evolve import evolve
from ...share_partitions.model import SharePartition, SharePartitionKey
from ...share_partitions.runs import Run, Runs, unheld
from ...share_partitions.start import start_after
from ...share_partitions.states import STATES, RecordState
from ...share_states.decide import Written
from ...share_states.model import NO_OFFSET, ShareStateKey, StateBatch
from .dead_letters import DeadLetters
from .letters import DELIVERED_TOO_OFTEN, REJECTED
from .opening import opened
from .openings import Openings
from .writes import RETRIED, Write, Writes

if TYPE_CHECKING:
    from ...cluster import Partition
    from ...share_partitions.acknowledge import Acknowledged, Refused
    from ...share_states.decide import Decision
    from .host import ShareHost
    from .persister import Persister
    from .settings import SettingsOfGroups

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


class Decided(NamedTuple):
    """Acknowledgements of records that their member holds, not taken yet. `written`: what is stored
    of them; None: nothing. `revision`: of the share partition when that was decided."""

    event: ev.RecordsAcknowledged
    written: Written | None
    revision: int


class Pending:
    """Acknowledgements that are taken when they are stored for good. `then` hears of that; `answer`:
    why they were refused, None: they were not."""

    __slots__ = ("answer", "decided", "is_settled", "partition", "then")

    def __init__(self, partition: SharePartition, decided: Decided) -> None:
        self.partition = partition
        self.decided = decided
        self.answer: Refused | None = None
        self.is_settled = False
        self.then: Callable[[int], None] = lambda _now: None


class Opening(NamedTuple):
    """A share partition that is open, or why it is not; without an error: it is being read."""

    partition: SharePartition | None
    error: ErrorCode = ErrorCode.NONE


class SharePartitions:
    """The open share partitions of one broker. `settings`: those in force for a group."""

    def __init__(self, broker: ShareHost, states: Persister, settings: SettingsOfGroups) -> None:
        self.open_ones: dict[SharePartitionKey, SharePartition] = {}
        self.settings = settings
        self._done: dict[SharePartitionKey, Runs] = {}
        """What became of records that are done with, whether or not their share partition is open:
        for those who look."""
        self._settling: dict[SharePartitionKey, int] = {}
        """How many acknowledgements of each are being stored."""
        self._revisions: dict[SharePartitionKey, int] = {}
        """How often something became of records of an open one, but that a member was given them."""
        self._broker = broker
        self._states = states
        self._locks: Deadlines[SharePartitionKey] = Deadlines()
        self._letters = DeadLetters(broker, settings, self)
        self.writes = Writes(broker, states)
        self._openings = Openings()

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
        waits = self._openings.error(key, found.leader_epoch)
        if waits is not None:
            return Opening(None, waits)
        return self._read(key, at, found, now, cause)

    def _read(
        self,
        key: SharePartitionKey,
        at: ShareStateKey,
        found: Partition,
        now: int,
        cause: int | None,
    ) -> Opening:
        group_id, topic_id = at.group_id, at.topic_id
        decision, state = self._states.read(at, found.leader_epoch, now, cause)
        if decision.error in RETRIED and self._openings.failed(key, at, found, now):
            return Opening(None)
        self._openings.forget(key)
        if state is None:
            return Opening(None, _PERSISTED_AS.get(decision.error, ErrorCode.UNKNOWN_SERVER_ERROR))
        if any(of.delivery_state not in STATES for of in state.batches):
            return Opening(None, ErrorCode.UNKNOWN_SERVER_ERROR)  # nobody but a client wrote that
        start = state.start_offset if state.start_offset != NO_OFFSET else None
        if start is None:
            start = self._first_start(group_id, found, now)
        if start is None:
            return Opening(None, ErrorCode.OFFSET_NOT_AVAILABLE)
        partition = SharePartition(key, topic_id)
        self._fold(partition, opened(partition, state, start, found.leader_epoch), now, cause)
        self.open_ones[key] = partition
        self._resume_letters(partition, now, cause)
        return Opening(partition)

    def _resume_letters(self, partition: SharePartition, now: int, cause: int | None) -> None:
        """Records that were on their way to the dead letters when the leader before this one
        ended: the letters are written (again) (SH-DLQ-5)."""
        limit = self.settings.deliveries(partition.key.group_id).limit
        for run in partition.runs:
            if run.condition.state is RecordState.ARCHIVING:
                count = run.condition.delivery_count
                of = ev.RecordRange(run.first, run.last, str(RecordState.ARCHIVING), count)
                why = DELIVERED_TOO_OFTEN if count >= limit else REJECTED
                self._letters.send(partition, [of], why, now, cause)

    def _first_start(self, group_id: str, found: Partition, now: int) -> int | None:
        """share.auto.offset.reset: where a group begins of which no offset is stored."""
        log, reset = found.log, self.settings(group_id).auto_offset_reset.lower()
        if reset == "earliest":
            return log.log_start_offset
        if reset == "latest":
            return log.high_watermark
        since = self._broker.epoch_ms + now - (duration_ms(reset) or 0)
        offset = log.first_at_or_after(since).offset
        return None if offset < 0 else offset

    def close(self, key: SharePartitionKey, reason: str, now: int, cause: int | None) -> None:
        """Serve a share partition no longer."""
        partition = self.open_ones.pop(key, None)
        if partition is not None:
            self._locks.cancel(key)
            self._letters.forget(partition)
            self._fold(partition, ev.SharePartitionClosed(reason), now, cause)
            self._revisions.pop(key, None)

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
    ) -> Refused | Pending | None:
        """Take a member's word for records; None: taken."""
        decided = self.decide(partition, member_id, ranges, now)
        if not isinstance(decided, Decided):
            return decided
        return self.take(partition, decided, ranges, now, cause)

    def decide(
        self,
        partition: SharePartition,
        member_id: str,
        ranges: Sequence[Acknowledged],
        now: int,
    ) -> Decided | Refused | None:
        """What a member's word for records means; None: all of them are long done with."""
        event = self._meaning(partition, member_id, ranges, now)
        if event is None or isinstance(event, acknowledging.Refused):
            return event
        stored = [of for of in event.records if of.state != str(RecordState.ACQUIRED)]
        written = self._written(partition, stored) if stored else None
        return Decided(event, written, self._revisions.get(partition.key, 0))

    def take(
        self,
        partition: SharePartition,
        decided: Decided,
        ranges: Sequence[Acknowledged],
        now: int,
        cause: int | None,
    ) -> Refused | Pending | None:
        """Take what was decided; None: taken."""
        if decided.written is None:
            return self._taken(partition, decided, ranges, now, cause)
        if not self._is_as_decided(partition, decided):
            if not _still_holds(partition, decided.event):  # a lock ended between two slices
                return self.acknowledge(partition, decided.event.member_id, ranges, now, cause)
        stored = [of for of in decided.event.records if of.state != str(RecordState.ACQUIRED)]
        outcome = self.writes.write(
            _state_key(partition),
            decided.written,
            lambda: self._written(partition, stored),
            now,
            cause,
        )
        if isinstance(outcome, Write):
            return self._wait_for(outcome, Pending(partition, decided), ranges, cause)
        refused = self._refusal(partition, outcome, now, cause)
        return refused or self._taken(partition, decided, ranges, now, cause)

    def _wait_for(
        self, write: Write, pending: Pending, ranges: Sequence[Acknowledged], cause: int | None
    ) -> Pending:
        partition, key = pending.partition, pending.partition.key
        self._settling[key] = self._settling.get(key, 0) + 1

        def settled(decision: Decision, now: int) -> None:
            self._settling[key] -= 1
            pending.answer = self._refusal(partition, decision, now, cause)
            if self.open_ones.get(key) is partition:
                if pending.answer is None:
                    pending.answer = self._taken(partition, pending.decided, ranges, now, cause)
                self._arm_locks(partition)
            pending.is_settled = True
            pending.then(now)

        write.settled = settled
        return pending

    def _is_as_decided(self, partition: SharePartition, decided: Decided) -> bool:
        return self._revisions.get(partition.key, 0) == decided.revision

    def _taken(
        self,
        partition: SharePartition,
        decided: Decided,
        ranges: Sequence[Acknowledged],
        now: int,
        cause: int | None,
    ) -> Refused | None:
        """What is decided, and stored if it has to be, counts from now on."""
        event = decided.event
        if not self._is_as_decided(partition, decided):
            if not _still_holds(partition, event):
                if decided.written is not None:  # they were given back while it was stored
                    return acknowledging.Refused(
                        ErrorCode.INVALID_RECORD_STATE, acknowledging.BATCH_NOT_ACQUIRED
                    )
                taken = self.acknowledge(partition, event.member_id, ranges, now, cause)
                assert not isinstance(taken, Pending), "nothing is stored"
                return taken
            stored = decided.written is not None
            start = start_after(partition, event.records) if stored else partition.start_offset
            event = event._replace(start_offset=start)
        self._fold(partition, event, now, cause)
        if event.deadline_ms is not None:
            self._lock(partition.key, event.deadline_ms)
        for of in event.records:
            why = REJECTED if of.acknowledgement == "reject" else DELIVERED_TOO_OFTEN
            self._letters.send(partition, [of], why, now, cause)
        self._wake(partition, now)
        return None

    def _meaning(
        self,
        partition: SharePartition,
        member_id: str,
        ranges: Sequence[Acknowledged],
        now: int,
    ) -> ev.RecordsAcknowledged | Refused | None:
        group_id = partition.key.group_id
        settings = self.settings(group_id)
        return acknowledging.acknowledge(
            partition,
            member_id,
            ranges,
            deliveries=self.settings.deliveries(group_id),
            renewed_until_ms=now + settings.lock_duration_ms if settings.may_renew else None,
        )

    def release(
        self,
        partition: SharePartition,
        member_id: str,
        reason: str,
        now: int,
        cause: int | None = None,
    ) -> int:
        """Take back all that a member holds; how many records that were."""
        deliveries = self.settings.deliveries(partition.key.group_id)
        event = releasing.release(partition, member_id, reason, deliveries)
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
        deliveries = self.settings.deliveries(partition.key.group_id)
        events = releasing.give_back(partition, first, last, reason, deliveries)
        self._released(partition, events, now, cause)
        return _count(events)

    def log_start_moved(self, partition: SharePartition, log_start: int, now: int) -> None:
        """The log does not reach as far back as the share partition: it starts later now."""
        if log_start <= partition.start_offset:
            return
        gone = tuple(
            ev.RecordRange(
                run.first, run.last, str(RecordState.ARCHIVED), run.condition.delivery_count
            )
            for run in partition.runs.between(partition.start_offset, log_start - 1)
            if run.condition.state is RecordState.AVAILABLE
        )
        self._fold(partition, ev.RecordsArchived(ev.LOG_STARTS_BEHIND, gone, log_start), now)

    # -- dead letters

    def told(self, partition: SharePartition, event: ev.Event, now: int, cause: int | None) -> None:
        """Letters were written."""
        self._fold(partition, event, now, cause)

    def archive(
        self,
        partition: SharePartition,
        records: ev.RecordRange,
        reason: str,
        now: int,
        cause: int | None,
    ) -> None:
        """Records have their dead letters, or will have none: they are done with, though the share
        coordinator may not take it."""
        self._store(partition, (records,), now, cause)
        if self.open_ones.get(partition.key) is not partition:
            return  # another leader has it
        start = start_after(partition, (records,))
        self._fold(partition, ev.RecordsArchived(reason, (records,), start), now, cause)
        self._wake(partition, now)

    # -- time

    def next_deadline(self) -> int | None:
        """When the next lock ends, a dead letter is due, or the share coordinator is asked again."""
        instants = (
            self._locks.next(),
            self._letters.next_deadline(),
            self.writes.next_deadline(),
            self._openings.next_deadline(),
        )
        return min((at for at in instants if at is not None), default=None)

    def tick(self, now: int) -> None:
        """End the locks whose time is over, ask share coordinators again, and write dead letters. No
        lock of a partition ends while an acknowledgement of its records is being stored."""
        self.writes.tick(now)
        self._open_again(now)
        for key in self._locks.due(now):
            if self._settling.get(key):
                continue
            partition = self.open_ones[key]
            deliveries = self.settings.deliveries(key.group_id)
            self._released(partition, releasing.expire(partition, now, deliveries), now, None)
            self._arm_locks(partition)
        self._letters.tick(now)

    def _open_again(self, now: int) -> None:
        """Read states again that could not be had; who waits for their records is told when they
        are, or will not be, there."""
        for key, at, leader_epoch in self._openings.due(now):
            found = self._broker.cluster.partition(key.topic, key.partition)
            if found is None or (found.leader, found.leader_epoch) != (
                self._broker.node_id,
                leader_epoch,
            ):
                self._openings.forget(key)
                continue
            opening = self._read(key, at, found, now, None)
            if opening.partition is not None:
                self._wake(opening.partition, now)
            elif opening.error:
                with self._openings.given_up(key, leader_epoch, opening.error):
                    self._broker.parked_fetches.wake(key.topic, key.partition, now)

    def is_given_up(self, group_id: str, found: Partition) -> bool:
        """Whether a fetch that waits for the state of a share partition is to be told why it cannot
        be had."""
        key = SharePartitionKey(group_id, found.topic, found.index)
        return bool(self._openings.error(key, found.leader_epoch))

    def _arm_locks(self, partition: SharePartition) -> None:
        later = releasing.next_deadline(partition)
        if later is not None:
            self._locks.arm(partition.key, later)

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
            self._letters.send(partition, event.records, DELIVERED_TOO_OFTEN, now, cause)
            told = True
        if told:
            self._wake(partition, now)

    def _store(
        self,
        partition: SharePartition,
        records: Sequence[ev.RecordRange | ev.AcknowledgedRange],
        now: int,
        cause: int | None,
    ) -> None:
        """Write what changes to the share coordinator; nobody waits for it."""
        written = self._written(partition, records)

        def settled(decision: Decision, at: int) -> None:
            self._refusal(partition, decision, at, cause)

        outcome = self.writes.write(_state_key(partition), written, lambda: written, now, cause)
        if isinstance(outcome, Write):
            outcome.settled = settled
        else:
            settled(outcome, now)

    @staticmethod
    def _written(
        partition: SharePartition, records: Sequence[ev.RecordRange | ev.AcknowledgedRange]
    ) -> Written:
        """What is written of a change. The start offset that goes with it is the one before the
        change (SH-OFF-1)."""
        start = partition.start_offset
        complete = partition.complete_count + sum(
            max(of.last_offset - max(of.first_offset, start) + 1, 0)
            for of in records
            if RecordState(of.state).final
        )
        return Written(
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

    def _refusal(
        self, partition: SharePartition, decision: Decision, now: int, cause: int | None
    ) -> Refused | None:
        """Why the share coordinator did not store something."""
        if not decision.error:
            return None
        error = _PERSISTED_AS.get(decision.error, ErrorCode.UNKNOWN_SERVER_ERROR)
        if error is ErrorCode.NOT_LEADER_OR_FOLLOWER and (
            self.open_ones.get(partition.key) is partition
        ):  # somebody else leads, or the state is anew
            self.close(partition.key, "its state is fenced", now, cause)
        return acknowledging.Refused(error, f"Error in write state RPC. {decision.message}")

    def _fold(
        self, partition: SharePartition, event: ev.Event, now: int, cause: int | None = None
    ) -> None:
        log = self._broker.log
        if log is not None:
            of = None if self._broker.replication is None else self._broker.node_id
            log.share_event(*partition.key, event, now, cause, of)
        evolve(partition, event)
        if not isinstance(event, ev.RecordsAcquired):
            key = partition.key
            self._revisions[key] = self._revisions.get(key, 0) + 1
        if isinstance(event, _TELL_OF_RECORDS):
            done = [
                (of.first_offset, of.last_offset, condition)
                for of in event.records
                if (condition := unheld(of.state, of.delivery_count)).state.final
            ]
            if done:
                self._done.setdefault(partition.key, Runs()).change(done)

    def _wake(self, partition: SharePartition, now: int) -> None:
        key = partition.key
        self._broker.parked_fetches.wake(key.topic, key.partition, now)


def _state_key(partition: SharePartition) -> ShareStateKey:
    return ShareStateKey(partition.key.group_id, partition.topic_id, partition.key.partition)


def _count(events: Iterable[ev.RecordsReleased]) -> int:
    return sum(of.last_offset - of.first_offset + 1 for event in events for of in event.records)


def _still_holds(partition: SharePartition, event: ev.RecordsAcknowledged) -> bool:
    """Whether a member holds all records that it acknowledges."""
    return all(
        run.condition.state is RecordState.ACQUIRED and run.condition.member_id == event.member_id
        for of in event.records
        for run in partition.runs.between(of.first_offset, of.last_offset)
    )
