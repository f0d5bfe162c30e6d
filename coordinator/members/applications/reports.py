"""Reports of applications: what one did, or was told, as values for whoever runs it.

They name partitions as topic and number, and ranges of offsets by their first and last one. What is
made of them (lines of a log, counts) is for who is told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from assignors import TopicPartition

Ranges: TypeAlias = "tuple[tuple[int, int], ...]"


class Reset(NamedTuple):
    """auto.offset.reset chose the offset to begin at."""

    partition: TopicPartition
    offset: int
    why: str


class PolledBatch(NamedTuple):
    """A poll gave records of a partition."""

    partition: TopicPartition
    ranges: Ranges
    isolation: str


class Processed(NamedTuple):
    """The application has finished with records of a partition."""

    partition: TopicPartition
    ranges: Ranges


class WentBack(NamedTuple):
    """The application went back to an offset after an aborted transaction."""

    partition: TopicPartition
    offset: int


class CommitReport(NamedTuple):
    """A commit was answered, or failed: `failed` is what went wrong, or None. `offsets`: topic,
    partition and offset of each."""

    offsets: tuple[tuple[str, int, int], ...]
    failed: str | None


class SentBatch(NamedTuple):
    """A batch of so many records is sent for the first time. `sequence`: of its first record, -1 without idempotence.
    `sources`: of a pipeline, topic, partition and offset that each record was made from."""

    partition: TopicPartition
    producer_id: int
    producer_epoch: int
    sequence: int
    records: int
    sources: tuple[tuple[str, int, int], ...] = ()


class DeliveredBatch(NamedTuple):
    """A batch was acknowledged at this offset, or given up (offset -1, and why)."""

    partition: TopicPartition
    offset: int
    records: int
    acks: str
    failed: str | None


class TransactionReport(NamedTuple):
    """A transaction is over."""

    committed: bool
    failed: str | None


Report = (
    Reset
    | PolledBatch
    | Processed
    | WentBack
    | CommitReport
    | SentBatch
    | DeliveredBatch
    | TransactionReport
)
Tell = Callable[[Report], None]
