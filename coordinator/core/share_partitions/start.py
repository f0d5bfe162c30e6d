"""Start offset of a share partition after records changed: it moves past records that are
acknowledged or archived (SH-SPSO-1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coordinator.events.share_partitions import AcknowledgedRange, RecordRange

from .model import SharePartition
from .states import RecordState

Changed = Sequence[RecordRange | AcknowledgedRange]


def start_after(partition: SharePartition, changed: Changed) -> int:
    """Return the start offset after these records (in order) have changed. It never goes back; an
    acquired record before it still holds it up.
    """
    for first, state in _overlaid(partition, changed):
        if not state.final:
            return max(first, partition.start_offset)
    return partition.next_offset


def _overlaid(partition: SharePartition, changed: Changed) -> Iterator[tuple[int, RecordState]]:
    """Yield the first offset and the state of each stretch of records in one state, after the
    changes.
    """
    at = 0
    for run in partition.runs:
        first = run.first
        while at < len(changed) and changed[at].first_offset <= run.last:
            of = changed[at]
            if of.first_offset > first:
                yield first, run.condition.state
            yield max(first, of.first_offset), RecordState(of.state)
            first = of.last_offset + 1
            if of.last_offset > run.last:
                break
            at += 1
        if first <= run.last:
            yield first, run.condition.state
