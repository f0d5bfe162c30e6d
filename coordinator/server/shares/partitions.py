"""Share partitions that a broker serves as the leader of their partitions.

Owns which are open, when their locks end, and every change of their records: state that must
survive the leader is written to the share coordinator, the event is logged and applied, and
waiting fetches are woken. `opening` opens them; acknowledgements are in `acknowledgements`,
releases in `releases`. Does not know requests or sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from coordinator.base.deadlines import Deadlines
from coordinator.base.errors import ErrorCode
from coordinator.core.share_partitions.acquire import Read, Wanted, acquire
from coordinator.core.share_partitions.evolve import evolve
from coordinator.core.share_partitions.model import SharePartition, SharePartitionKey
from coordinator.core.share_partitions.release import next_deadline as next_lock
from coordinator.core.share_partitions.runs import Run, Runs, unheld
from coordinator.core.share_partitions.start import start_after
from coordinator.core.share_partitions.states import RecordState
from coordinator.events import share_partitions as ev

from .dead_letters import DeadLetters
from .writes import Write, Writes
from .written import refused_write, state_key, written

if TYPE_CHECKING:
    from coordinator.core.share_partitions.acknowledge import Refused
    from coordinator.core.share_states.decide import Decision
    from coordinator.core.share_states.model import ShareStateKey

    from .host import ShareHost
    from .persister import Persister
    from .settings import SettingsOfGroups

_TELL_OF_RECORDS = (ev.RecordsAcknowledged, ev.RecordsReleased, ev.RecordsArchived)
MOST: Final = (1 << 63) - 1


class SharePartitions:
    """Open share partitions of one broker. `settings`: returns the settings in force for a group."""

    def __init__(self, broker: ShareHost, states: Persister, settings: SettingsOfGroups) -> None:
        self.open_ones: dict[SharePartitionKey, SharePartition] = {}
        self._of_group: dict[str, dict[SharePartitionKey, SharePartition]] = {}
        self._unloaded: dict[str, dict[SharePartitionKey, int]] = {}
        self.settings = settings
        self._done: dict[SharePartitionKey, Runs] = {}
        """The outcome of records that are done with, whether or not their share partition is open:
        for those who look."""
        self._revisions: dict[SharePartitionKey, int] = {}
        self._broker = broker
        self._locks: Deadlines[SharePartitionKey] = Deadlines()
        self.letters = DeadLetters(broker, settings, self)
        self.writes = Writes(broker, states)

    # -- opening and closing, and who looks

    def opened(self, partition: SharePartition) -> None:
        """Add an open share partition."""
        key = partition.key
        self.open_ones[key] = partition
        self._of_group.setdefault(key.group_id, {})[key] = partition
        self._unloaded.get(key.group_id, {}).pop(key, None)

    def close(self, key: SharePartitionKey, reason: str, now: int, cause: int | None) -> None:
        """Close a share partition."""
        partition = self.open_ones.pop(key, None)
        if partition is not None:
            of_group = self._of_group[key.group_id]
            del of_group[key]
            if not of_group:
                del self._of_group[key.group_id]
            self._locks.cancel(key)
            self.letters.forget(partition)
            self.fold(partition, ev.SharePartitionClosed(reason), now, cause)
            self._revisions.pop(key, None)

    def forget(self, chosen: Callable[[SharePartitionKey], bool]) -> None:
        """Forget the records, finished before its start, that are kept for the matching share
        partitions.
        """
        for key in [key for key in self._done if chosen(key)]:
            del self._done[key]
        for unloaded in self._unloaded.values():
            for key in [key for key in unloaded if chosen(key)]:
                del unloaded[key]

    def close_where(
        self, chosen: Callable[[SharePartition], bool], reason: str, now: int, cause: int | None
    ) -> None:
        """Close the matching share partitions."""
        for partition in list(self.open_ones.values()):
            if chosen(partition):
                self.close(partition.key, reason, now, cause)

    def unload(self, group_id: str, but: Collection[ShareStateKey], now: int) -> bool:
        """Close a group's share partitions except those with these states; the next fetch reads the
        stored state (SH-SES-6). Return True if any is left open.
        """
        for partition in self.of_group(group_id):
            if state_key(partition) not in but:
                self.close(partition.key, ev.UNLOADED, now, None)
                self._unloaded.setdefault(group_id, {})[partition.key] = partition.start_offset
        return group_id in self._of_group

    def of_group(self, group_id: str) -> list[SharePartition]:
        """Return a group's open share partitions."""
        return list(self._of_group.get(group_id, {}).values())

    def unloaded_of(self, group_id: str) -> Mapping[SharePartitionKey, int]:
        """Return the group's share partitions that were unloaded and not opened since, with their
        start offset at that time.
        """
        return self._unloaded.get(group_id, {})

    def being_stored(self) -> set[ShareStateKey]:
        """Return the keys of share partitions with a write or a dead letter in progress."""
        return {*self.writes.under_way(), *map(state_key, self.letters.under_way())}

    def known(
        self,
        key: SharePartitionKey,
        partition: SharePartition | None,
        first: int = 0,
        last: int = MOST,
    ) -> Iterator[Run]:
        """Yield the records that a group has reached, finished ones first. `partition`: the share
        partition as shown, or None if nothing is in flight.
        """
        done = self._done.get(key)
        start = last + 1 if partition is None else partition.start_offset
        if done is not None and first < start:
            yield from done.between(first, min(last, start - 1))
        if partition is not None:
            yield from partition.runs.between(max(first, start), last)

    # -- records

    def acquire(
        self,
        partition: SharePartition,
        member_id: str,
        read: Read,
        wanted: Wanted,
        now: int,
        cause: int | None,
    ) -> tuple[ev.RecordRange, ...]:
        """Let a member acquire records that were read; return their ranges."""
        given: tuple[ev.RecordRange, ...] = ()
        for event in acquire(partition, member_id, read, wanted):
            self.fold(partition, event, now, cause)
            if isinstance(event, ev.RecordsAcquired):
                given = event.records
                self.lock(partition.key, event.deadline_ms)
        return given

    def log_start_moved(self, partition: SharePartition, log_start: int, now: int) -> None:
        """Move a share partition's start after the log start offset passed it."""
        if log_start <= partition.start_offset:
            return
        gone = tuple(
            ev.RecordRange(
                run.first, run.last, str(RecordState.ARCHIVED), run.condition.delivery_count
            )
            for run in partition.runs.between(partition.start_offset, log_start - 1)
            if run.condition.state is RecordState.AVAILABLE
        )
        self.fold(partition, ev.RecordsArchived(ev.LOG_STARTS_BEHIND, gone, log_start), now)

    # -- dead letters

    def told(self, partition: SharePartition, event: ev.Event, now: int, cause: int | None) -> None:
        """Apply the event that dead letters were written."""
        self.fold(partition, event, now, cause)

    def archive(
        self,
        partition: SharePartition,
        records: ev.RecordRange,
        reason: str,
        now: int,
        cause: int | None,
    ) -> None:
        """Archive records whose dead letters are written, or will not be, even if the share
        coordinator refuses to store it.
        """
        self.store(partition, (records,), now, cause)
        if self.open_ones.get(partition.key) is not partition:
            return  # another leader has it
        start = start_after(partition, (records,))
        self.fold(partition, ev.RecordsArchived(reason, (records,), start), now, cause)
        self.wake(partition, now)

    # -- locks and letters

    def next_deadline(self) -> int | None:
        """Return the instant at which a lock ends or a dead letter is due, or None."""
        instants = (self._locks.next(), self.letters.next_deadline())
        return min((at for at in instants if at is not None), default=None)

    def locks_due(self, now: int) -> Iterator[SharePartition]:
        """Yield the share partitions with a lock that has ended."""
        for key in self._locks.due(now):
            yield self.open_ones[key]

    def arm_locks(self, partition: SharePartition) -> None:
        """Set the deadline of a share partition's next lock."""
        later = next_lock(partition)
        if later is not None:
            self._locks.arm(partition.key, later)

    def lock(self, key: SharePartitionKey, deadline_ms: int) -> None:
        """Note a lock that ends at `deadline_ms`."""
        earlier = self._locks.get(key)
        if earlier is None or deadline_ms < earlier:
            self._locks.arm(key, deadline_ms)

    # -- changing

    def store(
        self,
        partition: SharePartition,
        records: Sequence[ev.RecordRange | ev.AcknowledgedRange],
        now: int,
        cause: int | None,
    ) -> bool:
        """Write a change to the share coordinator without waiting. Return False if it is known to
        be refused.
        """
        change = written(partition, records)

        def settled(decision: Decision, at: int) -> bool:
            return self.refusal(partition, decision, at, cause) is None

        outcome = self.writes.write(state_key(partition), change, lambda: change, now, cause)
        if not isinstance(outcome, Write):
            return settled(outcome, now)
        outcome.settled = settled
        return True

    def refusal(
        self, partition: SharePartition, decision: Decision, now: int, cause: int | None
    ) -> Refused | None:
        """Return the refusal if the share coordinator did not store a change, else None. If the
        state is fenced, close the share partition.
        """
        refused = refused_write(decision)
        if (
            refused is not None
            and refused.error is ErrorCode.NOT_LEADER_OR_FOLLOWER
            and self.open_ones.get(partition.key) is partition
        ):  # somebody else leads, or the state is anew
            self.close(partition.key, "its state is fenced", now, cause)
        return refused

    def revision(self, key: SharePartitionKey) -> int:
        """Return the number of changes, acquisitions aside, of an open share partition's records."""
        return self._revisions.get(key, 0)

    def fold(
        self, partition: SharePartition, event: ev.Event, now: int, cause: int | None = None
    ) -> None:
        """Log and apply an event."""
        log = self._broker.log
        if log is not None:
            of = None if self._broker.replication is None else self._broker.node_id
            group, topic, index = partition.key
            log.append(
                event,
                at_ms=now,
                cause=cause,
                group=group,
                broker=of,
                topic=topic,
                partition=index,
            )
        evolve(partition, event)
        if not isinstance(event, (ev.RecordsAcquired, ev.AcknowledgementWaited)):
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

    def wake(self, partition: SharePartition, now: int) -> None:
        """Wake the fetches that wait for records of a share partition."""
        key = partition.key
        self._broker.parked_fetches.wake(key.topic, key.partition, now)
