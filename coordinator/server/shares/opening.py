"""Opening of share partitions at a leader: their stored state is read (SH-OFF-2); a group without
stored state begins where `share.auto.offset.reset` says.

Owns the retries if the state cannot be read yet, and who is woken then. Does not know requests
or sessions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.core.share_partitions.evolve import evolve
from coordinator.core.share_partitions.model import SharePartition, SharePartitionKey
from coordinator.core.share_partitions.start import start_after
from coordinator.core.share_partitions.states import STATES, RecordState
from coordinator.core.share_states.model import NO_OFFSET, ShareStateKey
from coordinator.events import share_partitions as ev

from ..settings.group_configs import duration_ms
from .letters import DELIVERED_TOO_OFTEN, REJECTED
from .openings import Openings
from .writes import RETRIED
from .written import told_as

if TYPE_CHECKING:
    from coordinator.core.share_states.model import ShareState

    from ..cluster import Partition
    from .host import ShareHost
    from .partitions import SharePartitions
    from .persister import Persister


class Opening(NamedTuple):
    """Result of opening: the share partition, or the error. Without both, its state is still being
    read.
    """

    partition: SharePartition | None
    error: ErrorCode = ErrorCode.NONE


class Opener:
    """Opens the share partitions of one broker."""

    def __init__(self, broker: ShareHost, states: Persister, partitions: SharePartitions) -> None:
        self._broker = broker
        self._states = states
        self._partitions = partitions
        self._tried = Openings()

    def open(self, group_id: str, found: Partition, now: int, cause: int | None = None) -> Opening:
        """Open the share partition of a partition that this broker leads, or return the open one."""
        key = SharePartitionKey(group_id, found.topic, found.index)
        topic_id = self._broker.cluster.topics[found.topic].id
        known = self._partitions.open_ones.get(key)
        if known is not None and (known.topic_id, known.leader_epoch) == (
            topic_id,
            found.leader_epoch,
        ):
            return Opening(known)
        if known is not None:
            self._partitions.close(key, "its partition changed", now, cause)
        if not group_id:
            return Opening(None, ErrorCode.UNKNOWN_SERVER_ERROR)
        at = ShareStateKey(group_id, topic_id, found.index)
        waits = self._tried.error(key, found.leader_epoch)
        if waits is not None:
            return Opening(None, waits)
        return self._read(key, at, found, now, cause)

    def as_stored(
        self, key: SharePartitionKey, found: Partition, first_start: int
    ) -> SharePartition | None:
        """Return a share partition as it would be opened now, without opening it; None if its state
        cannot be read. `first_start`: its start if no start offset is stored.
        """
        topic_id = self._broker.cluster.topics[key.topic].id
        _, state = self._states.summary(ShareStateKey(key.group_id, topic_id, key.partition))
        if state is None or any(of.delivery_state not in STATES for of in state.batches):
            return None
        start = first_start if state.start_offset == NO_OFFSET else state.start_offset
        partition = SharePartition(key, topic_id)
        evolve(partition, opened(partition, state, start, found.leader_epoch))
        return partition

    def is_given_up(self, group_id: str, found: Partition) -> bool:
        """Return True if reading the state has failed for good, so that a waiting fetch gets the
        error.
        """
        key = SharePartitionKey(group_id, found.topic, found.index)
        return bool(self._tried.error(key, found.leader_epoch))

    # -- time

    def next_deadline(self) -> int | None:
        """Return the instant at which a state is read again, or None."""
        return self._tried.next_deadline()

    def tick(self, now: int) -> None:
        """Retry reading states; wake the fetches that wait for a result."""
        for key, at, leader_epoch in self._tried.due(now):
            found = self._broker.cluster.partition(key.topic, key.partition)
            if found is None or (found.leader, found.leader_epoch) != (
                self._broker.node_id,
                leader_epoch,
            ):
                self._tried.forget(key)
                continue
            opening = self._read(key, at, found, now, None)
            if opening.partition is not None:
                self._partitions.wake(opening.partition, now)
            elif opening.error:
                with self._tried.given_up(key, leader_epoch, opening.error):
                    self._broker.parked_fetches.wake(key.topic, key.partition, now)

    # -- reading what is stored

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
        if decision.error in RETRIED and self._tried.failed(key, at, found, now):
            return Opening(None)
        self._tried.forget(key)
        if state is None:
            return Opening(None, told_as(decision.error))
        if any(of.delivery_state not in STATES for of in state.batches):
            return Opening(None, ErrorCode.UNKNOWN_SERVER_ERROR)  # nobody but a client wrote that
        start = state.start_offset if state.start_offset != NO_OFFSET else None
        if start is None:
            start = self._first_start(group_id, found, now)
        if start is None:
            return Opening(None, ErrorCode.OFFSET_NOT_AVAILABLE)
        partition = SharePartition(key, topic_id)
        self._partitions.fold(
            partition, opened(partition, state, start, found.leader_epoch), now, cause
        )
        self._partitions.opened(partition)
        self._resume_letters(partition, now, cause)
        return Opening(partition)

    def _resume_letters(self, partition: SharePartition, now: int, cause: int | None) -> None:
        """Write the dead letters again of records that were Archiving when the previous leader
        ended (SH-DLQ-5).
        """
        limit = self._partitions.settings.deliveries(partition.key.group_id).limit
        for run in partition.runs:
            if run.condition.state is RecordState.ARCHIVING:
                count = run.condition.delivery_count
                of = ev.RecordRange(run.first, run.last, str(RecordState.ARCHIVING), count)
                why = DELIVERED_TOO_OFTEN if count >= limit else REJECTED
                self._partitions.letters.send(partition, [of], why, now, cause)

    def _first_start(self, group_id: str, found: Partition, now: int) -> int | None:
        """Return the start offset of a group without stored state, by share.auto.offset.reset."""
        log, reset = found.log, self._partitions.settings(group_id).auto_offset_reset.lower()
        if reset == "earliest":
            return log.log_start_offset
        if reset == "latest":
            return log.high_watermark
        since = self._broker.epoch_ms + now - (duration_ms(reset) or 0)
        offset = log.first_at_or_after(since).offset
        return None if offset < 0 else offset


def opened(
    partition: SharePartition, state: ShareState, start: int, leader_epoch: int
) -> ev.SharePartitionOpened:
    """Return the event that opens a share partition with its stored state, from `start` on."""
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
