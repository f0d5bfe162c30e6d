"""Reports of applications: each step or result as a value, for the application's driver.

They contain partitions as topic and number, and ranges of offsets by first and last. The driver
decides what becomes of them (lines of a log, counts).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from assignors import TopicPartition

Ranges: TypeAlias = "tuple[tuple[int, int], ...]"


class Reset(NamedTuple):
    """Report that auto.offset.reset chose the start offset."""

    partition: TopicPartition
    offset: int
    why: str


class PolledBatch(NamedTuple):
    """Report that a poll returned records of a partition."""

    partition: TopicPartition
    ranges: Ranges
    isolation: str


class Processed(NamedTuple):
    """Report that the application has processed records of a partition."""

    partition: TopicPartition
    ranges: Ranges


class WentBack(NamedTuple):
    """Report that the application seeked back after an aborted transaction."""

    partition: TopicPartition
    offset: int


class CommitReport(NamedTuple):
    """Report of a commit's result. `failed`: the fault, or None. `offsets`: topic, partition and
    offset of each.
    """

    offsets: tuple[tuple[str, int, int], ...]
    failed: str | None


class SentBatch(NamedTuple):
    """Report that a batch is sent for the first time. `sequence`: that of its first record, -1
    without idempotence. `sources`: for a pipeline, topic, partition and offset of each record's
    source.
    """

    partition: TopicPartition
    producer_id: int
    producer_epoch: int
    sequence: int
    records: int
    sources: tuple[tuple[str, int, int], ...] = ()


class DeliveredBatch(NamedTuple):
    """Report that a batch was acknowledged at this offset, or failed (offset -1, and the fault)."""

    partition: TopicPartition
    offset: int
    records: int
    acks: str
    failed: str | None


class TransactionReport(NamedTuple):
    """Report that a transaction has ended."""

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
