"""Model of a share partition. Only `evolve` writes it; the rules are in `acquire`, `acknowledge`
and `release`.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from coordinator.events.share_partitions import Span

from .runs import Run, Runs
from .states import RecordState


class SharePartitionKey(NamedTuple):
    """Identity of a share partition: group id, topic and partition."""

    group_id: str
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition} of {self.group_id}"


class SharePartition:
    """A partition as one share group reads it.

    `start_offset` (SPSO): all records before it are final. `next_offset`: behind the last record
    in flight; the group has read nothing from there on.

    If the log start offset passes the start offset, batches before it are kept until
    acknowledgements move the start offset again, as in Kafka: records acquired before stay
    acquired and hold it up.

    While an acknowledgement of records is being stored, they are neither held nor available: no
    expired lock or ended session releases them, and no other acknowledgement is accepted. No
    event records that, so it is not part of `snapshot`.
    """

    __slots__ = (
        "_firsts",
        "_followed",
        "_lasts",
        "_storing",
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
        """Records in flight, from the first batch that is known."""
        self._firsts: array[int] = array("q")
        self._lasts: array[int] = array("q")
        self._followed: set[int] = set()
        self._storing: list[Span] = []

    # -- batches: the records that came into flight together

    def add_batch(self, batch: Span) -> None:
        """Add a batch of records in flight."""
        at = bisect_left(self._firsts, batch.first_offset)
        self._firsts.insert(at, batch.first_offset)
        self._lasts.insert(at, batch.last_offset)

    def forget_batches(self) -> None:
        """Remove batches that end before the start offset."""
        gone = bisect_left(self._lasts, self.start_offset)
        self._followed.difference_update(self._firsts[:gone])
        del self._firsts[:gone], self._lasts[:gone]
        self.runs.drop_before(
            min(self._firsts[0], self.start_offset) if self._firsts else self.start_offset
        )

    @property
    def is_over(self) -> bool:
        """True if the log start offset passed all batches, all their records are final, and the
        last batch is tracked as a whole. Kafka forgets them with the next change (SH-SPSO-2).
        """
        last = self.last_batch
        return (
            last is not None
            and last.last_offset < self.start_offset
            and not self.is_followed(last)
            and all(run.condition.state.final for run in self.runs)
        )

    def follow(self, batch: Span) -> None:
        """Track a batch record by record from now on, because a part of it changed.

        This affects only the text of a refusal and which refusal comes first (SH-ACK-8). Refused
        requests cause no event, so it is not part of `snapshot`.
        """
        self._followed.add(batch.first_offset)

    def is_followed(self, batch: Span) -> bool:
        """Return True if a batch is tracked record by record."""
        return batch.first_offset in self._followed

    def touched(self, first: int, last: int) -> None:
        """Track the batches of which these records are only a part."""
        for offset in (first, last):
            batch = self.batch_at_or_before(offset)
            if (
                batch is not None
                and batch.last_offset >= offset
                and not first <= batch.first_offset <= batch.last_offset <= last
            ):
                self.follow(batch)

    def batches(self, first: int, last: int) -> Iterator[Span]:
        """Yield the batches with offsets in this range."""
        at = bisect_left(self._lasts, first)
        while at < len(self._firsts) and self._firsts[at] <= last:
            yield Span(self._firsts[at], self._lasts[at])
            at += 1

    def batch_at_or_before(self, offset: int) -> Span | None:
        """Return the last batch that begins at or before an offset, or None."""
        at = bisect_right(self._firsts, offset) - 1
        return None if at < 0 else Span(self._firsts[at], self._lasts[at])

    @property
    def last_batch(self) -> Span | None:
        """The batch with the highest offsets, or None."""
        return Span(self._firsts[-1], self._lasts[-1]) if self._firsts else None

    @property
    def first_batch(self) -> Span | None:
        """The batch with the lowest offsets, or None."""
        return Span(self._firsts[0], self._lasts[0]) if self._firsts else None

    # -- acknowledgements that are being stored

    def stores(self, records: Iterable[Span]) -> None:
        """Mark records whose acknowledgement starts to be stored."""
        self._storing = sorted([*self._storing, *records])

    def settled(self, records: Iterable[Span]) -> None:
        """Remove the mark: storing has ended, successfully or not."""
        over = set(records)
        self._storing = [of for of in self._storing if of not in over]

    def is_stored(self, first: int, last: int) -> bool:
        """Return True if an acknowledgement of any of these records is being stored."""
        return any(True for _ in self._stored(first, last))

    def _stored(self, first: int, last: int) -> Iterator[Span]:
        storing = self._storing
        at = max(bisect_left(storing, (first, first)) - 1, 0)
        while at < len(storing) and storing[at].first_offset <= last:
            if first <= storing[at].last_offset:
                yield storing[at]
            at += 1

    def held(self, runs: Iterable[Run]) -> Iterator[Run]:
        """Yield the parts of these runs that members hold."""
        for run in runs:
            if run.condition.state is RecordState.ACQUIRED:
                first, last, condition = run
                for of in self._stored(first, last):
                    if first < of.first_offset:
                        yield Run(first, of.first_offset - 1, condition)
                    first = of.last_offset + 1
                if first <= last:
                    yield Run(first, last, condition)

    # -- what is asked about it

    @property
    def in_flight(self) -> int:
        """The number of offsets from the start offset to the last record in flight."""
        return self.next_offset - self.start_offset

    @property
    def fetch_offset(self) -> int:
        """The offset at which the next fetch reads: the first available record, else the end."""
        for run in self.runs:
            if run.condition.state is RecordState.AVAILABLE:
                return run.first
        return self.next_offset

    def in_flight_runs(self) -> Iterator[Run]:
        """Yield the runs in flight, from the start offset on."""
        return self.runs.between(self.start_offset, self.next_offset - 1)

    @property
    def complete_count(self) -> int:
        """The number of records from the start offset on that are acknowledged or archived
        (KIP-1226).
        """
        return sum(
            run.last - run.first + 1 for run in self.in_flight_runs() if run.condition.state.final
        )

    def counts(self) -> dict[RecordState, int]:
        """Return the number of records in flight in each state."""
        counts = dict.fromkeys(RecordState, 0)
        for run in self.in_flight_runs():
            counts[run.condition.state] += run.last - run.first + 1
        return counts

    def snapshot(self) -> tuple[object, ...]:
        """Return the whole state, not shared: equal snapshots mean equal share partitions.

        Final records before the start offset are left out: whether they are forgotten depends on
        `follow`, and only texts of refusals depend on them.
        """
        unsettled = (run.first for run in self.runs if not run.condition.state.final)
        first = min(self.start_offset, next(unsettled, self.start_offset))
        batches = bisect_left(self._lasts, first)
        return (
            self.key,
            self.topic_id,
            self.start_offset,
            self.next_offset,
            self.state_epoch,
            self.leader_epoch,
            tuple(self.runs.between(first, self.next_offset - 1)),
            tuple(self._firsts[batches:]),
            tuple(self._lasts[batches:]),
        )

    def __repr__(self) -> str:
        return f"SharePartition({self.key}, {self.start_offset}..{self.next_offset})"
