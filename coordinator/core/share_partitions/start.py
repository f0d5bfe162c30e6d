"""Start offset of a share partition after records changed: it moves past records that are
acknowledged or archived (SH-SPSO-1), and may go back where the log start offset had moved it
(SH-SPSO-2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coordinator.events.share_partitions import AcknowledgedRange, RecordRange, Span

from .model import SharePartition
from .states import RecordState

Changed = Sequence[RecordRange | AcknowledgedRange]


def start_after(partition: SharePartition, changed: Changed) -> int:
    """Return the start offset after these records (in order) have changed. An acquired record
    before it still holds it up.

    It goes back only if the log start offset passed all that is known, and all of it is final then:
    Kafka goes on from the end of what it knew, and finds the log start again with the next fetch.
    """
    start, last = partition.start_offset, partition.last_batch
    for first, state in _overlaid(partition, changed):
        if not state.final:
            return max(first, start)
    if last is None or last.last_offset + 1 >= start:
        return partition.next_offset
    return last.last_offset + 1 if _is_whole(partition, last, changed) else start


def _is_whole(partition: SharePartition, batch: Span, changed: Changed) -> bool:
    """Return True if a batch is still tracked as a whole after the changes."""
    return not partition.is_followed(batch) and all(
        of.first_offset <= batch.first_offset and batch.last_offset <= of.last_offset
        for of in changed
        if of.last_offset >= batch.first_offset
    )


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
