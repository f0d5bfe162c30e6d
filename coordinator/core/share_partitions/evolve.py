"""Fold of events into a share partition: its only writer. Contains no rule: every event says the
new state of its records.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from coordinator.events import share_partitions as ev

from .model import SharePartition
from .runs import Condition, unheld
from .states import RecordState

_NEW = Condition(RecordState.AVAILABLE, 0)


def evolve(partition: SharePartition, event: ev.Event) -> None:
    """Fold an event. After a SharePartitionClosed the caller drops the share partition."""
    _FOLDS[type(event)](partition, event)


def _opened(partition: SharePartition, event: ev.SharePartitionOpened) -> None:
    partition.state_epoch, partition.leader_epoch = event.state_epoch, event.leader_epoch
    partition.start_offset = partition.next_offset = event.start_offset
    for of in event.records:
        if of.first_offset > partition.next_offset:  # nothing was stored of what lies between
            partition.runs.change([(partition.next_offset, of.first_offset - 1, _NEW)])
        partition.runs.change(
            [(of.first_offset, of.last_offset, unheld(of.state, of.delivery_count))]
        )
        partition.add_batch(ev.Span(of.first_offset, of.last_offset))
        partition.next_offset = of.last_offset + 1


def _acquired(partition: SharePartition, event: ev.RecordsAcquired) -> None:
    for batch in event.batches:
        partition.add_batch(batch)
        partition.runs.change([(batch.first_offset, batch.last_offset, _NEW)])
        partition.next_offset = max(partition.next_offset, batch.last_offset + 1)
    partition.runs.change(
        [
            (
                of.first_offset,
                of.last_offset,
                Condition(
                    RecordState.ACQUIRED, of.delivery_count, event.member_id, event.deadline_ms
                ),
            )
            for of in event.records
        ]
    )
    _touched(partition, event.records)
    partition.start_offset = event.start_offset


def _acknowledged(partition: SharePartition, event: ev.RecordsAcknowledged) -> None:
    changes = []
    for of in event.records:
        condition = unheld(of.state, of.delivery_count)
        if condition.state is RecordState.ACQUIRED:
            assert event.deadline_ms is not None, event
            condition = condition._replace(member_id=event.member_id, deadline_ms=event.deadline_ms)
        changes.append((of.first_offset, of.last_offset, condition))
    partition.runs.change(changes)
    _touched(partition, event.records)
    _start_at(partition, event.start_offset)


def _given_up(partition: SharePartition, event: ev.RecordsReleased | ev.RecordsArchived) -> None:
    _touched(partition, event.records)
    partition.runs.change(
        [
            (of.first_offset, of.last_offset, unheld(of.state, of.delivery_count))
            for of in event.records
        ]
    )
    if isinstance(event, ev.RecordsArchived) and event.reason == ev.LOG_STARTS_BEHIND:
        partition.start_offset = event.start_offset
        partition.next_offset = max(partition.next_offset, event.start_offset)
        if partition.last_batch is None:
            partition.forget_batches()
    else:
        _start_at(partition, event.start_offset)


def _unchanged(
    partition: SharePartition,
    event: ev.AcknowledgementWaited | ev.DeadLettersWritten | ev.SharePartitionClosed,
) -> None:
    pass


def _touched(
    partition: SharePartition, records: Sequence[ev.RecordRange | ev.AcknowledgedRange]
) -> None:
    for of in records:
        partition.touched(of.first_offset, of.last_offset)


def _start_at(partition: SharePartition, start_offset: int) -> None:
    last = partition.last_batch
    if start_offset < partition.start_offset and (last is None or last.last_offset < start_offset):
        partition.next_offset = start_offset  # nothing is known any more
    if start_offset != partition.start_offset:
        partition.start_offset = start_offset
        partition.next_offset = max(partition.next_offset, start_offset)
        partition.forget_batches()
    elif partition.is_over:
        partition.forget_batches()


_FOLDS: dict[type, Callable[[SharePartition, Any], None]] = {
    ev.SharePartitionOpened: _opened,
    ev.RecordsAcquired: _acquired,
    ev.RecordsAcknowledged: _acknowledged,
    ev.AcknowledgementWaited: _unchanged,
    ev.RecordsReleased: _given_up,
    ev.RecordsArchived: _given_up,
    ev.DeadLettersWritten: _unchanged,
    ev.SharePartitionClosed: _unchanged,
}
