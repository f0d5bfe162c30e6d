"""Decision about acknowledgements in a share partition: an event, or Kafka's error (SH-ACK-1 to
SH-ACK-9).

The ranges of one request are accepted together or not at all. Offsets below the start offset are
ignored. Order of checks and texts as in Kafka 4.4.0. Time and memory grow with the number of
ranges and of records in flight, never with the distance of offsets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.events import share_partitions as ev
from coordinator.events.share_partitions import Span

from .model import SharePartition
from .runs import Run
from .start import start_after
from .states import ACKNOWLEDGEMENTS, RENEW, Deliveries, RecordState

NOT_FOUND = "Batch record not found. The request batch offsets are not found in the cache."
FIRST_PAST = "Batch record not found. The first offset in request is past acquired records."
LAST_PAST = "Batch record not found. The last offset in request is past acquired records."
BATCH_NOT_ACQUIRED = "The batch cannot be acknowledged. The batch is not in the acquired state."
NOT_ACQUIRED = "The offset cannot be acknowledged. The offset is not acquired."
NOT_OWNER = "Member is not the owner of batch record"
NOT_OWNER_OF_OFFSET = "Member is not the owner of offset"
NOT_RENEWED = "Renewing acquisition locks is not enabled for the group."


class Acknowledged(NamedTuple):
    """One range of a request: one acknowledgement type for all of its offsets, or one for each."""

    first_offset: int
    last_offset: int
    types: Sequence[int]


class Refused(NamedTuple):
    """Refusal of acknowledgements, with its error."""

    error: ErrorCode
    message: str


FAILED: Final = Refused(ErrorCode.UNKNOWN_SERVER_ERROR, "")
"""Nothing is in flight, and a range reaches from before the start offset to behind it: Kafka's
whole request fails (SH-ACK-9)."""


def are_wrong(ranges: Sequence[Acknowledged], *, renewing: bool, renewal_known: bool) -> bool:
    """Return True if ranges are invalid by themselves (SH-ACK-3); Kafka has no text for it.
    `renewing`: the request says that it renews locks; `renewal_known`: its version can.
    """
    allowed = _KNOWN if renewing and renewal_known else _KNOWN - {RENEW}
    behind = -1
    for of in ranges:
        if not behind <= of.first_offset <= of.last_offset or not of.types:
            return True
        if len(of.types) not in (1, of.last_offset - of.first_offset + 1):
            return True
        if not allowed.issuperset(of.types):
            return True
        behind = of.last_offset
    return False


_KNOWN = frozenset(range(len(ACKNOWLEDGEMENTS)))


def acknowledge(
    partition: SharePartition,
    member_id: str,
    ranges: Sequence[Acknowledged],
    *,
    deliveries: Deliveries,
    renewed_until_ms: int | None,
) -> ev.RecordsAcknowledged | Refused | None:
    """Return the event, a refusal, or None if the request concerns only offsets below the start
    offset. The ranges have passed `are_wrong`. `renewed_until_ms`: None if the group does not
    renew locks.
    """
    may_renew = renewed_until_ms is not None
    records: list[ev.AcknowledgedRange] = []
    for of in ranges:
        if of.last_offset < partition.start_offset:
            continue
        floor = _look_up(partition, of)
        if isinstance(floor, Refused):
            return floor
        before = records[-1] if records else None
        for batch in partition.batches(floor.first_offset, of.last_offset):
            if batch.last_offset < partition.start_offset:
                continue
            refused = _refuse(partition, batch, of, member_id, before, may_renew=may_renew)
            if refused:
                return refused
            for run in partition.runs.between(*_part(partition, batch, of)):
                records += _changed(run, of, deliveries)
    if not records:
        return None
    renewed = sum(of.state == str(RecordState.ACQUIRED) for of in records)
    stored = renewed < len(records)  # else the start offset stays where it is
    joined = tuple(_joined(records))
    return ev.RecordsAcknowledged(
        member_id,
        joined,
        renewed_until_ms if renewed else None,
        start_after(partition, joined) if stored else partition.start_offset,
    )


def fails(partition: SharePartition, ranges: Sequence[Acknowledged]) -> bool:
    """Return True if acknowledgements make their whole request fail (SH-ACK-9)."""
    start = partition.start_offset
    return partition.batch_at_or_before(start) is None and any(
        of.first_offset < start <= of.last_offset
        and partition.batch_at_or_before(of.first_offset) is None
        for of in ranges
    )


def _look_up(partition: SharePartition, of: Acknowledged) -> Span | Refused:
    """Return the first batch that a range concerns, or a refusal if the range reaches beyond the
    records in flight. Kafka includes the batch before a range.
    """
    floor = partition.batch_at_or_before(of.first_offset)
    if floor is None:
        if not of.first_offset < partition.start_offset <= of.last_offset:
            return Refused(ErrorCode.INVALID_RECORD_STATE, NOT_FOUND)
        floor = partition.batch_at_or_before(partition.start_offset)
        if floor is None:
            return FAILED
    last = partition.batch_at_or_before(of.last_offset)
    assert last is not None, floor
    if last.last_offset < of.first_offset:
        return Refused(ErrorCode.INVALID_REQUEST, FIRST_PAST)
    if last.last_offset < of.last_offset:
        return Refused(ErrorCode.INVALID_REQUEST, LAST_PAST)
    return floor


def _part(partition: SharePartition, batch: Span, of: Acknowledged) -> Span:
    """Return the offsets of a batch that a range contains, from the start offset on."""
    first = max(batch.first_offset, of.first_offset, partition.start_offset)
    return Span(first, min(batch.last_offset, of.last_offset))


def _refuse(
    partition: SharePartition,
    batch: Span,
    of: Acknowledged,
    member_id: str,
    before: ev.AcknowledgedRange | None,
    *,
    may_renew: bool,
) -> Refused | None:
    """Return a refusal if records are not held by the member, else None. `before`: the request's
    previous range, if this one may contain records of it again. A batch tracked as a whole must
    be held entirely, with another text in Kafka.
    """
    part = _part(partition, batch, of)
    said = -1
    if before is not None and before.state != str(RecordState.ACQUIRED):
        said = before.last_offset
    if not partition.is_followed(batch):
        run = next(partition.runs.between(*batch))
        if (
            run.condition.state is not RecordState.ACQUIRED
            or batch.last_offset == said
            or partition.is_stored(*batch)
        ):
            return Refused(ErrorCode.INVALID_RECORD_STATE, BATCH_NOT_ACQUIRED)
        if run.condition.member_id != member_id:
            return Refused(ErrorCode.INVALID_RECORD_STATE, NOT_OWNER)
        if part == batch and len(of.types) == 1:
            return _refuse_renewal(of, 0, 0) if not may_renew else None
        partition.follow(batch)
    for run in partition.runs.between(*part):
        acquired = run.condition.state is RecordState.ACQUIRED and run.first != said
        if not acquired or partition.is_stored(run.first, run.first):
            return Refused(ErrorCode.INVALID_RECORD_STATE, NOT_ACQUIRED)
        if run.condition.member_id != member_id:
            return Refused(ErrorCode.INVALID_RECORD_STATE, NOT_OWNER_OF_OFFSET)
        if partition.is_stored(run.first, run.last):
            return Refused(ErrorCode.INVALID_RECORD_STATE, NOT_ACQUIRED)
        refused = None if may_renew else _refuse_renewal(of, run.first, run.last)
        if refused:
            return refused
    return None


def _refuse_renewal(of: Acknowledged, first: int, last: int) -> Refused | None:
    """Return a refusal if these records' locks are to be renewed in a group that does not renew
    locks.
    """
    types = of.types
    if len(types) > 1:
        types = types[first - of.first_offset : last - of.first_offset + 1]
    return Refused(ErrorCode.INVALID_RECORD_STATE, NOT_RENEWED) if RENEW in types else None


def _changed(run: Run, of: Acknowledged, deliveries: Deliveries) -> Iterator[ev.AcknowledgedRange]:
    """Yield the parts of a run, each with one acknowledgement type, as a range asks for."""
    count = run.condition.delivery_count
    for first, last, kind in _stretches(run, of):
        state = deliveries.after(kind, count)
        yield ev.AcknowledgedRange(first, last, ACKNOWLEDGEMENTS[kind], str(state), count)


def _stretches(run: Run, of: Acknowledged) -> Iterator[tuple[int, int, int]]:
    if len(of.types) == 1:
        yield run.first, run.last, of.types[0]
        return
    first, kind = run.first, of.types[run.first - of.first_offset]
    for offset in range(run.first + 1, run.last + 1):
        other = of.types[offset - of.first_offset]
        if other != kind:
            yield first, offset - 1, kind
            first, kind = offset, other
    yield first, run.last, kind


def _joined(records: list[ev.AcknowledgedRange]) -> Iterator[ev.AcknowledgedRange]:
    """Yield the ranges, neighbours with equal values merged."""
    before = records[0]
    for of in records[1:]:
        if before.last_offset + 1 == of.first_offset and before[2:] == of[2:]:
            before = before._replace(last_offset=of.last_offset)
        else:
            yield before
            before = of
    yield before
