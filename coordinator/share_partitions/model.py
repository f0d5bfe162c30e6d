"""SharePartition: what the events of a share partition fold into. Only `evolve` writes it; every
rule lives in `acquire`, `acknowledge` and `release`."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from .events import Span
from .runs import Runs
from .states import RecordState


class SharePartitionKey(NamedTuple):
    """Which share partition it is."""

    group_id: str
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition} of {self.group_id}"


class SharePartition:
    """A partition as one share group reads it.

    `start_offset` (SPSO): everything before it is done with. `next_offset`: behind the last record
    that is in flight; the group has read nothing from there on.
    """

    __slots__ = (
        "_firsts",
        "_lasts",
        "key",
        "leader_epoch",
        "next_offset",
        "runs",
        "start_offset",
        "state_epoch",
        "topic_id",
    )

    def __init__(self, key: SharePartitionKey, topic_id: bytes) -> None:
        self.key = key
        self.topic_id = topic_id
        self.start_offset = self.next_offset = 0
        self.state_epoch = self.leader_epoch = 0
        self.runs = Runs()
        """What is in flight, from the start offset on."""
        self._firsts: array[int] = array("q")
        self._lasts: array[int] = array("q")

    # -- batches: the records that came into flight together

    def add_batch(self, batch: Span) -> None:
        """Records came into flight."""
        at = bisect_left(self._firsts, batch.first_offset)
        self._firsts.insert(at, batch.first_offset)
        self._lasts.insert(at, batch.last_offset)

    def forget_batches(self) -> None:
        """Batches that end before the start offset are over."""
        gone = bisect_left(self._lasts, self.start_offset)
        del self._firsts[:gone], self._lasts[:gone]

    def batches(self, first: int, last: int) -> Iterator[Span]:
        """The batches that have offsets in this range."""
        at = bisect_left(self._lasts, first)
        while at < len(self._firsts) and self._firsts[at] <= last:
            yield Span(self._firsts[at], self._lasts[at])
            at += 1

    def batch_at_or_before(self, offset: int) -> Span | None:
        """The last batch that begins at an offset, or before it."""
        at = bisect_right(self._firsts, offset) - 1
        return None if at < 0 else Span(self._firsts[at], self._lasts[at])

    @property
    def last_batch(self) -> Span | None:
        """The batch with the highest offsets."""
        return Span(self._firsts[-1], self._lasts[-1]) if self._firsts else None

    # -- what is asked about it

    @property
    def in_flight(self) -> int:
        """How many offsets there are from the start to the last record in flight."""
        return self.next_offset - self.start_offset

    @property
    def fetch_offset(self) -> int:
        """Where the next reader begins: at the first record that is available, else behind all."""
        for run in self.runs:
            if run.condition.state is RecordState.AVAILABLE:
                return run.first
        return self.next_offset

    def may_give(self, first: int, last: int) -> bool:
        """Whether a fetch could acquire any of these offsets."""
        return last >= self.next_offset or any(
            run.condition.state is RecordState.AVAILABLE for run in self.runs.between(first, last)
        )

    @property
    def complete_count(self) -> int:
        """How many records from the start on are done with (KIP-1226)."""
        return sum(run.last - run.first + 1 for run in self.runs if run.condition.state.final)

    def counts(self) -> dict[RecordState, int]:
        """How many records are in flight in each state."""
        counts = dict.fromkeys(RecordState, 0)
        for run in self.runs:
            counts[run.condition.state] += run.last - run.first + 1
        return counts

    def snapshot(self) -> tuple[object, ...]:
        """Everything there is to know, shared with nobody: equal snapshots mean equal share
        partitions."""
        return (
            self.key,
            self.topic_id,
            self.start_offset,
            self.next_offset,
            self.state_epoch,
            self.leader_epoch,
            tuple(self.runs),
            tuple(self._firsts),
            tuple(self._lasts),
        )

    def __repr__(self) -> str:
        return f"SharePartition({self.key}, {self.start_offset}..{self.next_offset})"
