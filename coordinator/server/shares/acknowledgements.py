"""Acknowledgements of records that members hold, from the decision until they take effect.

Owns the order: an acknowledgement is decided, then stored by the share coordinator, then
applied. The request waits until it is stored (SH-LD-4). Does not know requests or sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.core.share_partitions import acknowledge as acknowledging
from coordinator.core.share_partitions.acknowledge import BATCH_NOT_ACQUIRED, Refused
from coordinator.core.share_partitions.start import start_after
from coordinator.core.share_partitions.states import RecordState
from coordinator.events import share_partitions as ev

from .letters import DELIVERED_TOO_OFTEN, REJECTED
from .writes import Write
from .written import state_key, written

if TYPE_CHECKING:
    from coordinator.core.share_partitions.acknowledge import Acknowledged
    from coordinator.core.share_partitions.model import SharePartition
    from coordinator.core.share_states.decide import Decision, Written

    from .partitions import SharePartitions


class Decided(NamedTuple):
    """Decided acknowledgements that are not applied yet. `written`: the state to store, or None.
    `revision`: the share partition's revision at the decision.
    """

    event: ev.RecordsAcknowledged
    written: Written | None
    revision: int


class Pending:
    """Acknowledgements that wait for the share coordinator to store them. `then` is called
    afterwards; `answer`: the refusal, or None.
    """

    __slots__ = ("answer", "decided", "partition", "then")

    def __init__(self, partition: SharePartition, decided: Decided) -> None:
        self.partition = partition
        self.decided = decided
        self.answer: Refused | None = None
        self.then: Callable[[int], None] = lambda _now: None


class Acknowledgements:
    """Acknowledgements in the share partitions of one broker."""

    def __init__(self, partitions: SharePartitions) -> None:
        self._partitions = partitions

    def acknowledge(
        self,
        partition: SharePartition,
        member_id: str,
        ranges: Sequence[Acknowledged],
        now: int,
        cause: int | None,
    ) -> Refused | Pending | None:
        """Decide and apply a member's acknowledgements. Return None if they are applied, a refusal,
        or the pending store.
        """
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
        """Decide a member's acknowledgements without applying them; return None if they concern
        only records that are archived or acknowledged already.
        """
        event = self._meaning(partition, member_id, ranges, now)
        if event is None or isinstance(event, Refused):
            return event
        stored = _stored(event)
        change = written(partition, stored) if stored else None
        return Decided(event, change, self._partitions.revision(partition.key))

    def take(
        self,
        partition: SharePartition,
        decided: Decided,
        ranges: Sequence[Acknowledged],
        now: int,
        cause: int | None,
    ) -> Refused | Pending | None:
        """Store and apply decided acknowledgements. Return None if they are applied, a refusal, or
        the pending store.
        """
        if decided.written is None:
            return self._taken(partition, decided, ranges, now, cause)
        if not self._is_as_decided(partition, decided):
            if not _still_holds(partition, decided.event):  # a lock ended between two slices
                return self.acknowledge(partition, decided.event.member_id, ranges, now, cause)
        stored = _stored(decided.event)
        outcome = self._partitions.writes.write(
            state_key(partition),
            decided.written,
            lambda: written(partition, stored),
            now,
            cause,
        )
        if isinstance(outcome, Write):
            return self._wait_for(outcome, Pending(partition, decided), ranges, cause)
        refused = self._partitions.refusal(partition, outcome, now, cause)
        return refused or self._taken(partition, decided, ranges, now, cause)

    def _wait_for(
        self, write: Write, pending: Pending, ranges: Sequence[Acknowledged], cause: int | None
    ) -> Pending:
        partition = pending.partition
        records = _spans(pending.decided.event.records)
        partition.stores(records)

        def settled(decision: Decision, now: int) -> None:
            partition.settled(records)
            pending.answer = self._partitions.refusal(partition, decision, now, cause)
            if self._partitions.open_ones.get(partition.key) is partition:
                self._tell(write, pending, now, cause)
                if pending.answer is None:
                    pending.answer = self._taken(partition, pending.decided, ranges, now, cause)
                self._partitions.arm_locks(partition)
            pending.then(now)

        write.settled = settled
        return pending

    def _tell(self, write: Write, pending: Pending, now: int, cause: int | None) -> None:
        """Log that the share coordinator could not be reached at first, if so."""
        if write.failures:
            said = pending.decided.event
            event = ev.AcknowledgementWaited(
                said.member_id,
                ", then ".join(write.failures),
                _spans(_stored(said)),
                now - write.begun_ms,
                None if pending.answer is None else pending.answer.error.name,
            )
            self._partitions.fold(pending.partition, event, now, cause)

    def _is_as_decided(self, partition: SharePartition, decided: Decided) -> bool:
        return self._partitions.revision(partition.key) == decided.revision

    def _taken(
        self,
        partition: SharePartition,
        decided: Decided,
        ranges: Sequence[Acknowledged],
        now: int,
        cause: int | None,
    ) -> Refused | None:
        """Apply a decision that is stored, or need not be."""
        event = decided.event
        if not self._is_as_decided(partition, decided):
            if not _still_holds(partition, event):
                if decided.written is not None:  # they were given back while it was stored
                    return Refused(ErrorCode.INVALID_RECORD_STATE, BATCH_NOT_ACQUIRED)
                taken = self.acknowledge(partition, event.member_id, ranges, now, cause)
                assert not isinstance(taken, Pending), "nothing is stored"
                return taken
            stored = decided.written is not None
            start = start_after(partition, event.records) if stored else partition.start_offset
            event = event._replace(start_offset=start)
        self._partitions.fold(partition, event, now, cause)
        if event.deadline_ms is not None:
            self._partitions.lock(partition.key, event.deadline_ms)
        for of in event.records:
            why = REJECTED if of.acknowledgement == "reject" else DELIVERED_TOO_OFTEN
            self._partitions.letters.send(partition, [of], why, now, cause)
        self._partitions.wake(partition, now)
        return None

    def _meaning(
        self,
        partition: SharePartition,
        member_id: str,
        ranges: Sequence[Acknowledged],
        now: int,
    ) -> ev.RecordsAcknowledged | Refused | None:
        group_id = partition.key.group_id
        settings = self._partitions.settings(group_id)
        return acknowledging.acknowledge(
            partition,
            member_id,
            ranges,
            deliveries=self._partitions.settings.deliveries(group_id),
            renewed_until_ms=now + settings.lock_duration_ms if settings.may_renew else None,
        )


def _still_holds(partition: SharePartition, event: ev.RecordsAcknowledged) -> bool:
    """Return True if the member still holds all records that it acknowledges."""
    return all(
        of.last_offset - of.first_offset + 1
        == sum(
            run.last - run.first + 1
            for run in partition.held(partition.runs.between(of.first_offset, of.last_offset))
            if run.condition.member_id == event.member_id
        )
        for of in event.records
    )


def _stored(event: ev.RecordsAcknowledged) -> list[ev.AcknowledgedRange]:
    """Return the part of an acknowledgement that is stored: all but renewals of locks."""
    return [of for of in event.records if of.state != str(RecordState.ACQUIRED)]


def _spans(records: Iterable[ev.AcknowledgedRange]) -> tuple[ev.Span, ...]:
    return tuple(ev.Span(of.first_offset, of.last_offset) for of in records)
