"""Reports of applications as events of the log's stream `member`."""

from __future__ import annotations

from typing import assert_never

from assignors import TopicPartition
from coordinator.events.members import (
    CommitEnded,
    Event,
    OffsetOf,
    PositionReset,
    RecordsDelivered,
    RecordsPolled,
    RecordsProcessed,
    RecordsSent,
    Rewound,
    TransactionEnded,
)
from coordinator.members.applications.reports import (
    CommitReport,
    DeliveredBatch,
    PolledBatch,
    Processed,
    Report,
    Reset,
    SentBatch,
    TransactionReport,
    WentBack,
)


def event_of(
    report: Report, client: str, member_epoch: int | None
) -> tuple[Event, TopicPartition | None]:
    """Return the event for a report by a client's application, and its partition, or None.
    `member_epoch`: None for members of the classic protocol and producers."""
    match report:
        case Reset(partition, offset, why):
            return PositionReset(client, member_epoch, offset, why), partition
        case PolledBatch(partition, ranges, isolation):
            return RecordsPolled(client, member_epoch, ranges, isolation), partition
        case Processed(partition, ranges):
            return RecordsProcessed(client, member_epoch, ranges), partition
        case WentBack(partition, offset):
            return Rewound(client, member_epoch, offset), partition
        case CommitReport(offsets, failed):
            rows = tuple([OffsetOf(*row) for row in offsets])
            return CommitEnded(client, member_epoch, rows, failed), None
        case SentBatch(partition, producer_id, producer_epoch, sequence, count, sources):
            sent = (producer_id, producer_epoch, sequence, count, sources)
            return RecordsSent(client, member_epoch, *sent), partition
        case DeliveredBatch(partition, offset, count, acks, failed):
            return RecordsDelivered(client, member_epoch, offset, count, acks, failed), partition
        case TransactionReport(committed, failed):
            return TransactionEnded(client, member_epoch, committed, failed), None
        case _:
            assert_never(report)
