"""Release of records without an acknowledgement: expired locks, ended sessions, removed members
(SH-ACK-4, SH-SES-3). One event for each member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from coordinator.events import share_partitions as ev

from .model import SharePartition
from .runs import Run
from .start import start_after
from .states import Deliveries, RecordState

LOCK_ENDED = "the lock ended"
TEST_ENDED = "a test ended the lock"
SESSION_CLOSED = "the session was closed"
CONNECTION_LOST = "the connection was lost"


def release(
    partition: SharePartition, member_id: str, reason: str, deliveries: Deliveries
) -> ev.RecordsReleased | None:
    """Return the event that releases all records of a member, or None if it holds none."""
    events = _released(
        partition,
        partition.runs,
        lambda run: run.condition.member_id == member_id,
        reason,
        deliveries,
    )
    return events[0] if events else None


def expire(
    partition: SharePartition, now: int, deliveries: Deliveries
) -> tuple[ev.RecordsReleased, ...]:
    """Return the events that release records whose lock has expired."""
    return _released(
        partition,
        partition.runs,
        lambda run: run.condition.deadline_ms <= now,
        LOCK_ENDED,
        deliveries,
    )


def give_back(
    partition: SharePartition, first: int, last: int, reason: str, deliveries: Deliveries
) -> tuple[ev.RecordsReleased, ...]:
    """Return the events that release the records between these offsets, whichever member holds
    them.
    """
    return _released(
        partition, partition.runs.between(first, last), lambda run: True, reason, deliveries
    )


def next_deadline(partition: SharePartition) -> int | None:
    """Return the instant at which the next acquisition lock expires, or None."""
    return min((run.condition.deadline_ms for run in partition.held(partition.runs)), default=None)


def _released(
    partition: SharePartition,
    runs: Iterable[Run],
    chosen: Callable[[Run], bool],
    reason: str,
    deliveries: Deliveries,
) -> tuple[ev.RecordsReleased, ...]:
    """Return the events that release the chosen runs. The start offset moves with the last of them."""
    found: dict[str, list[ev.RecordRange]] = {}
    for run in partition.held(runs):
        if chosen(run):
            count = run.condition.delivery_count
            records = found.setdefault(run.condition.member_id, [])
            first = run.first
            if first < partition.start_offset:  # they left the log
                last = min(run.last, partition.start_offset - 1)
                records.append(ev.RecordRange(first, last, str(RecordState.ARCHIVED), count))
                first = last + 1
            if first <= run.last:
                state = deliveries.after_release(count)
                records.append(ev.RecordRange(first, run.last, str(state), count))
    everything = sorted(of for records in found.values() for of in records)
    starts = [partition.start_offset] * (len(found) - 1) + [start_after(partition, everything)]
    return tuple(
        ev.RecordsReleased(member_id, reason, tuple(records), start)
        for (member_id, records), start in zip(found.items(), starts, strict=False)
    )
