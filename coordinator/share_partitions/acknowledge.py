"""What acknowledgements mean for a share partition: an event, or Kafka's error (SH-ACK-1 to
SH-ACK-6).

The ranges of one request are taken whole or not at all. What lies below the start offset is long
done with, and changes nothing. Order of checks and texts as in Kafka 4.4.0. Time and memory grow
with the ranges of the request and with what is in flight, never with how far apart offsets lie.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..errors import ErrorCode
from . import events as ev
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


class Acknowledged(NamedTuple):
    """One range of a request: one type for all of its offsets, or one for each."""

    first_offset: int
    last_offset: int
    types: Sequence[int]


class Refused(NamedTuple):
    """Why acknowledgements are not taken."""

    error: ErrorCode
    message: str


def are_wrong(ranges: Sequence[Acknowledged], *, renewing: bool, renewal_known: bool) -> bool:
    """Whether it can be seen of ranges by themselves that they are wrong (SH-ACK-3); Kafka has no
    text for it. `renewing`: the request says that it renews locks; `renewal_known`: its version
    knows how to."""
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
    renewed_until_ms: int,
) -> ev.RecordsAcknowledged | Refused | None:
    """The event, or why there is none; None: everything in the request is long done with.

    Ranges were looked at by `are_wrong`.
    """
    records: list[ev.AcknowledgedRange] = []
    behind = -1
    for of in ranges:
        if of.last_offset < partition.start_offset:
            continue
        refused = _look_up(partition, of)
        if refused:
            return refused
        if of.first_offset == behind >= partition.start_offset:
            return Refused(ErrorCode.INVALID_RECORD_STATE, NOT_ACQUIRED)
        behind = of.last_offset
        first = max(of.first_offset, partition.start_offset)
        for run in partition.runs.between(first, of.last_offset):
            refused = _refuse(partition, run, of, member_id)
            if refused:
                return refused
            records += _changed(run, of, deliveries)
    if not records:
        return None
    renewed = any(of.state == str(RecordState.ACQUIRED) for of in records)
    joined = tuple(_joined(records))
    return ev.RecordsAcknowledged(
        member_id,
        joined,
        renewed_until_ms if renewed else None,
        start_after(partition, joined),
    )


def _look_up(partition: SharePartition, of: Acknowledged) -> Refused | None:
    """Whether what is in flight reaches as far as a range does."""
    floor = partition.batch_at_or_before(of.first_offset)
    if floor is not None and of.last_offset <= floor.last_offset:
        return None
    if floor is None and not of.first_offset < partition.start_offset <= of.last_offset:
        return Refused(ErrorCode.INVALID_RECORD_STATE, NOT_FOUND)
    last = floor
    for batch in partition.batches(of.first_offset, of.last_offset):
        last = batch
    if last is None:
        return Refused(ErrorCode.INVALID_RECORD_STATE, NOT_FOUND)
    if last.last_offset < of.first_offset:
        return Refused(ErrorCode.INVALID_REQUEST, FIRST_PAST)
    if last.last_offset < of.last_offset:
        return Refused(ErrorCode.INVALID_REQUEST, LAST_PAST)
    return None


def _refuse(
    partition: SharePartition, run: Run, of: Acknowledged, member_id: str
) -> Refused | None:
    """Records have to be the member's. Of a batch that is in one state as a whole Kafka says so in
    other words."""
    if run.condition.state is RecordState.ACQUIRED:
        if run.condition.member_id == member_id:
            return None
        return Refused(ErrorCode.INVALID_RECORD_STATE, NOT_OWNER)
    batch = partition.batch_at_or_before(run.first)
    whole = batch is not None and [
        (one.first, one.last) for one in partition.runs.between(*batch)
    ] == [batch]
    return Refused(ErrorCode.INVALID_RECORD_STATE, BATCH_NOT_ACQUIRED if whole else NOT_ACQUIRED)


def _changed(run: Run, of: Acknowledged, deliveries: Deliveries) -> Iterator[ev.AcknowledgedRange]:
    """The run, or what a range says of it, in stretches of one acknowledgement."""
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
    """Neighbours of which the same is said are one range."""
    before = records[0]
    for of in records[1:]:
        if before.last_offset + 1 == of.first_offset and before[2:] == of[2:]:
            before = before._replace(last_offset=of.last_offset)
        else:
            yield before
            before = of
    yield before
