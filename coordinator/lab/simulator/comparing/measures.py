"""A run's costs to its groups, read from the event log alone: the measures that `coordinator ab`
compares.

A partition counts as unavailable, from its first owner on, whenever no member's application has
it by its own lines. This module must not know brokers, members or the world.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from coordinator.events.handlers import Reader, on
from coordinator.events.line import Line
from coordinator.events.members import RecordsProcessed
from coordinator.history.judges.intervals import Offsets
from coordinator.history.world.groups.needless_moves import Rests
from coordinator.history.world.groups.spans import BEGUN
from coordinator.history.world.ownership.gaps import WithoutOwner
from coordinator.history.world.ownership.moves import NOTHING
from coordinator.history.world.world import World


class Measures(NamedTuple):
    """The measures of one run."""

    rebalances: float
    unavailable_partition_s: float
    moved: float
    moved_between_processes: float
    moved_needlessly: float
    rebalancing_s: float
    duplicates: float


NAMES = (
    "rebalances",
    "unavailable partition-s",
    "moved",
    "moved_between_processes",
    "moved needlessly",
    "time to stable, s",
    "duplicates",
)


def measure(lines: Iterable[Line]) -> Measures:
    """Return the costs of all groups of a run together. `rebalances`: number that began.
    `rebalancing_s`: time from each RebalanceStarted to the next GenerationStored; for a consumer
    group from each new epoch until all members have reached it. `moved`: partitions moved by
    member id, and by client id. `moved_needlessly`: moves between processes beyond those that
    the new sizes of shares needed. `duplicates`: records that a group's applications processed
    again, each time counted; members that only pretend to read are left out."""
    world, repeated, gaps = World(), Repeated(), list[WithoutOwner]()
    moves, rests = world.moves, Rests(world.consumer_groups)
    world.subscribe(WithoutOwner, gaps.append)
    moved = NOTHING
    busy_since: dict[str, int] = {}
    rebalances = busy_ms = last_ms = 0
    for read in lines:
        last_ms = read.at_ms
        for line in world.see(read):
            group = line.group or ""
            rested = rests.see(line)
            repeated.see(line)
            if line.stream == "group":
                moved = moved.plus(moves.last)
                if line.kind in BEGUN:
                    rebalances += 1
                    busy_since.setdefault(group, last_ms)
            if rested:
                busy_ms += last_ms - busy_since.pop(group, last_ms)
    world.finish(last_ms)
    return Measures(
        rebalances,
        sum(gap.to_ms - gap.since_ms for gap in gaps) / 1000,
        *moved,
        rests.needless,
        busy_ms / 1000,
        repeated.count,
    )


class Repeated(Reader):
    """Records that a group's applications have processed before."""

    def __init__(self) -> None:
        self.count = 0
        self._done: dict[tuple[str, str, int], Offsets] = {}

    @on(RecordsProcessed)
    def _processed(self, line: Line, event: RecordsProcessed) -> None:
        place = line.group or "", line.topic or "", line.partition or 0
        done = self._done.setdefault(place, Offsets())
        for first, last in event.ranges:
            self.count += done.count(first, last)
            done.add(first, last)
