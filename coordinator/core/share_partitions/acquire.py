"""Acquisition: which of the records read from the log a member of a share group gets (SH-FT-2,
SH-FT-6, SH-FT-8).

Available records in flight come first, batch by batch; then new ones, in whole batches of the
log. A batch whose records were delivered often is given in parts, so that one record that cannot
be processed does not take others with it. Does not look into records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from coordinator.events import share_partitions as ev
from coordinator.events.share_partitions import RecordRange, Span

from .model import SharePartition
from .runs import Run
from .states import RecordState

GONE = "they left the log"
ABORTED = "their transaction was aborted"


class Read(NamedTuple):
    """Data read from the log: the batches, and the spans of aborted transactions."""

    offset: int
    batches: Sequence[Span]
    aborted: Sequence[Span] = ()


class Wanted(NamedTuple):
    """Limits of a request and of the group. `exact`: not more than `max_records`, even within a
    batch; else whole batches. `batch_size`: how many records make one range of the response, at
    ends of log batches.
    """

    max_records: int
    batch_size: int
    exact: bool
    most_in_flight: int
    delivery_limit: int
    deadline_ms: int


class _Taken:
    """Records acquired so far."""

    __slots__ = ("batches", "count", "records")

    def __init__(self) -> None:
        self.records: list[RecordRange] = []
        self.batches: list[Span] = []
        self.count = 0

    def take(self, first: int, last: int, delivery_count: int) -> None:
        """Add one range."""
        state = str(RecordState.ACQUIRED)
        self.records.append(RecordRange(first, last, state, delivery_count))
        self.count += last - first + 1


def acquire(
    partition: SharePartition, member_id: str, read: Read, wanted: Wanted
) -> tuple[ev.Event, ...]:
    """Return the events; a RecordsAcquired among them has the member's records."""
    if not read.batches:
        return ()
    last = read.batches[-1].last_offset
    if last < partition.start_offset:
        return ()
    most = min(wanted.max_records, wanted.most_in_flight - partition.in_flight)
    if most <= 0 and read.offset < partition.next_offset:  # no room, but for what is in flight
        last = min(last, partition.next_offset - 1)
        most = min(wanted.max_records, partition.next_offset - read.offset)
    if most <= 0:
        return ()
    gone = _gone(partition, read)
    taken = _Taken()
    behind, more = _take_known(partition, read, last, wanted, most, taken)
    if more and taken.count < most and behind <= last:
        _take_new(partition, read, Span(behind, last), wanted, most - taken.count, taken)
    return tuple(_told(partition, member_id, read, wanted, gone, taken))


def _gone(partition: SharePartition, read: Read) -> list[RecordRange]:
    """Return the available records that the log no longer has, since it was read from behind them."""
    return [
        RecordRange(run.first, run.last, str(RecordState.ARCHIVED), run.condition.delivery_count)
        for run in partition.runs.between(read.offset, read.batches[0].first_offset - 1)
        if run.condition.state is RecordState.AVAILABLE
    ]


def _take_known(
    partition: SharePartition, read: Read, last: int, wanted: Wanted, most: int, taken: _Taken
) -> tuple[int, bool]:
    """Acquire available records of the batches in flight, and those between them after a load.
    Return where new records begin, and whether more may be acquired.
    """
    lowest = read.batches[0].first_offset
    floor = partition.batch_at_or_before(lowest)
    if floor is None:
        base = max(lowest, partition.start_offset)
    else:  # a batch of the log that begins before the start offset is given whole, then
        base = floor.first_offset if floor.last_offset >= lowest else lowest
    behind = base
    for batch in partition.batches(base, last):
        if taken.count >= most:
            return behind, False
        if behind < batch.first_offset:
            _take_between(
                partition, read, Span(behind, batch.first_offset - 1), wanted, most, taken
            )
            if taken.count >= most:
                return behind, False
        behind = batch.last_offset + 1
        span = Span(max(lowest, batch.first_offset), min(last, batch.last_offset))
        available = [
            run
            for run in partition.runs.between(*span)
            if run.condition.state is RecordState.AVAILABLE
        ]
        often = max((run.condition.delivery_count for run in available), default=0)
        careful = often >= _often(wanted.delivery_limit)
        if careful and taken.count:
            return behind, False  # such a batch is given by itself
        room = most - taken.count
        part = wanted.exact and batch.last_offset - batch.first_offset + 1 > room
        before = taken.count
        if careful or part or not _is_whole(available, batch):
            if available and (careful or part):
                partition.follow(batch)
            for first, until, count in _part(available, batch, wanted, room):
                taken.take(first, until, count)
        else:
            (run,) = available
            taken.take(run.first, run.last, run.condition.delivery_count + 1)
        if careful and taken.count > before:
            return behind, False
    return max(behind, base), True


def _is_whole(available: list[Run], batch: Span) -> bool:
    return len(available) == 1 and (available[0].first, available[0].last) == batch


def _often(delivery_limit: int) -> int:
    """Return the delivery count from which on a batch is given in parts: half the limit, at least
    2.
    """
    return max(2, (delivery_limit + 1) // 2)


def _part(
    available: list[Run], batch: Span, wanted: Wanted, room: int
) -> Iterator[tuple[int, int, int]]:
    """Yield the ranges of a batch to give, with their delivery counts. A record's last delivery is
    alone; before that, each delivery of a batch is half as large as the previous one.
    """
    limit, often = wanted.delivery_limit, _often(wanted.delivery_limit)
    size = batch.last_offset - batch.first_offset + 1
    given, most = 0, size
    for run in available:
        count, length = run.condition.delivery_count, run.last - run.first + 1
        alone = limit > 2 and count == limit - 1
        if alone and given:
            return
        if count >= often and most == size:
            most = max(1, size >> (count - often + 1))
        length = min(length, most - given, 1 if alone else length)
        if wanted.exact:
            length = min(length, room - given)
        if length <= 0:
            return
        yield run.first, run.first + length - 1, count + 1
        given += length
        if alone or given == most or (wanted.exact and given == room):
            return


def _take_between(
    partition: SharePartition, read: Read, span: Span, wanted: Wanted, most: int, taken: _Taken
) -> None:
    """Acquire records between batches of which nothing was stored (after a load): they are new
    ones.
    """
    unknown = [
        run for run in partition.runs.between(*span) if run.condition.state is RecordState.AVAILABLE
    ]
    for run in unknown:
        if taken.count < most:
            _take_new(partition, read, Span(run.first, run.last), wanted, most - taken.count, taken)


def _take_new(
    partition: SharePartition, read: Read, span: Span, wanted: Wanted, room: int, taken: _Taken
) -> None:
    """Acquire records that were not in flight."""
    first, last = span
    if partition.last_batch is None:
        first = max(first, partition.next_offset)
    if first > last:
        return
    if room < last - first + 1:  # whole batches of the log: more than asked for, if need be
        last = min(last, _batch_end(read.batches, first + room - 1))
    if wanted.exact:
        taken.batches.append(Span(first, last))
        taken.take(first, min(last, first + room - 1), 1)
        return
    for piece in _pieces(read.batches, first, last, wanted.batch_size):
        taken.batches.append(piece)
        taken.take(*piece, 1)


def _batch_end(batches: Sequence[Span], offset: int) -> int:
    """Return the last offset of the batch that contains an offset, or the offset itself if none
    does.
    """
    for batch in batches:
        if batch.first_offset <= offset <= batch.last_offset:
            return batch.last_offset
    return offset


def _pieces(batches: Sequence[Span], first: int, last: int, size: int) -> Iterator[Span]:
    """Yield the records in pieces of at least `size`, each of whole batches."""
    if last - first + 1 > size:
        for batch in batches:
            if batch.first_offset > last:
                break
            if batch.first_offset - first >= size:
                yield Span(first, batch.first_offset - 1)
                first = batch.first_offset
    yield Span(first, last)


def _told(
    partition: SharePartition,
    member_id: str,
    read: Read,
    wanted: Wanted,
    gone: list[RecordRange],
    taken: _Taken,
) -> Iterator[ev.Event]:
    """Yield the events for the acquired records."""
    start = partition.start_offset
    if gone:
        yield ev.RecordsArchived(GONE, tuple(gone), start)
    if not taken.records:
        return
    first = partition.first_batch
    if taken.batches and (first is None or taken.batches[0].first_offset < first.first_offset):
        start = taken.batches[0].first_offset
    acquired, aborted = _without(taken.records, read.aborted)
    yield ev.RecordsAcquired(
        member_id, tuple(acquired), tuple(taken.batches), wanted.deadline_ms, start
    )
    if aborted:
        yield ev.RecordsArchived(ABORTED, tuple(aborted), start)


def _without(
    records: list[RecordRange], aborted: Sequence[Span]
) -> tuple[list[RecordRange], list[RecordRange]]:
    """Split records into those to give and those of aborted transactions."""
    if not aborted:
        return records, []
    given, passed_over = [], []
    for of in records:
        first = of.first_offset
        for span in aborted:
            low, high = max(first, span.first_offset), min(of.last_offset, span.last_offset)
            if low > high:
                continue
            if first < low:
                given.append(of._replace(first_offset=first, last_offset=low - 1))
            passed_over.append(
                of._replace(first_offset=low, last_offset=high, state=str(RecordState.ARCHIVED))
            )
            first = high + 1
        if first <= of.last_offset:
            given.append(of._replace(first_offset=first))
    return given, passed_over
