"""The work of a simulated application: the time for each record, and the records that make it fail.

The time depends on the seed and on the record, or on its key, but not on the member that
processes it. A distribution is given by quantiles, with straight lines between them, so that it
consists of whole numbers. This module must not know members.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from coordinator.members.applications.consuming import Fate

from .chance import Draws

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assignors import TopicPartition
    from coordinator.members.record_batches import ReadRecord

QUANTILES: Final = {"least": 0, "p50": 500, "p90": 900, "p99": 990, "most": 1000}
"""The keys of a distribution: the number of records, of a thousand, that take at most so long."""
_HANGS_MS: Final = 366 * 86_400_000
_STEP: Final = 1 << 53


@dataclass(frozen=True, slots=True)
class WorkPlan:
    """A scenario's plan of the work. `quantiles`: pairs of QUANTILES' numbers and milliseconds,
    in order. `per_key`: all records of a key take as long as its first. `slow_ms`: additional
    time for each record of a partition. `poison`: every n-th record of a partition is poison.
    `fate`: what a poison record does to the member that processes it."""

    quantiles: tuple[tuple[int, int], ...] = ((0, 0),)
    per_key: bool = False
    slow_ms: tuple[tuple[TopicPartition, int], ...] = ()
    poison: int = 0
    fate: Fate = Fate.FAILS

    @property
    def longest_ms(self) -> int:
        """A record's longest time in ms, without the partition's addition."""
        return self.quantiles[-1][1]


class Work:
    """The work of one run."""

    def __init__(self, seed: int, plan: WorkPlan) -> None:
        self._seed = seed
        self._plan = plan
        self._slow_ms: Mapping[TopicPartition, int] = dict(plan.slow_ms)

    def takes_ms(self, partition: TopicPartition, record: ReadRecord) -> int:
        """Return the time for a record in ms."""
        if self.fate(partition, record) is Fate.HANGS:
            return _HANGS_MS
        plan = self._plan
        most = plan.quantiles[-1][1]
        if plan.quantiles[0][1] == most:
            takes = most
        else:
            whom = (
                f"key {record.key!r}"
                if plan.per_key and record.key is not None
                else f"{partition.topic}-{partition.partition}@{record.offset}"
            )
            takes = at_quantile(plan.quantiles, Draws(self._seed, "work", whom).bits() >> 11)
        return takes + self._slow_ms.get(partition, 0)

    def fate(self, partition: TopicPartition, record: ReadRecord) -> Fate:
        """Return what happens to the member that processes a record."""
        every = self._plan.poison
        return self._plan.fate if every and record.offset % every == every - 1 else Fate.NONE


def at_quantile(quantiles: tuple[tuple[int, int], ...], draw: int) -> int:
    """Return the milliseconds for a draw from 0 on, below 2**53."""
    place = draw * 1000
    for (low, low_ms), (high, high_ms) in pairwise(quantiles):
        if place < high * _STEP:
            return low_ms + (high_ms - low_ms) * (place - low * _STEP) // ((high - low) * _STEP)
    return quantiles[-1][1]
