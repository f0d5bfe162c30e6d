"""What one live group went through, and what each event cost it: the measures of the curve, from
what its members' applications were told.

Pure: instants come with what is told. The same measures as table `windows` of a simulation has
them, with one difference: there is no look into the coordinator, so a group counts as settled when
its members say so.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

Place = tuple[str, int]


class Cost(NamedTuple):
    """What a window of time cost. `recovered_ms`: None if the group was not settled when it ended;
    0 if it never left its generation."""

    recovered_ms: int | None
    unavailable_partition_ms: int
    moved: int


class _Look(NamedTuple):
    at_ms: int
    settled: bool
    generation: int


class Ledger:
    """One group's partitions and generations. Owners are names; a member that came back and is
    another owner has another name."""

    def __init__(self) -> None:
        self._owner: dict[Place, str] = {}
        self._last: dict[Place, str] = {}
        self._free_since: dict[Place, int] = {}
        self._gaps: list[tuple[int, int]] = []
        self._moves: list[int] = []
        self._looks: list[_Look] = [_Look(0, False, -1)]

    def assigned(self, owner: str, places: Iterable[Place], at_ms: int) -> None:
        """An application was told that it has partitions more."""
        for place in places:
            if place in self._free_since:
                self._gaps.append((self._free_since.pop(place), at_ms))
            if self._last.get(place, owner) != owner:
                self._moves.append(at_ms)
            self._owner[place] = self._last[place] = owner

    def gone(self, owner: str, places: Iterable[Place], at_ms: int) -> None:
        """It was told that it has them no more. What another owner has by then stays there."""
        for place in places:
            if self._owner.get(place) == owner:
                del self._owner[place]
                self._free_since[place] = at_ms

    def ended(self, owner: str, at_ms: int) -> None:
        """Its process has ended: whatever it had, nobody has."""
        self.gone(owner, [place for place, has in self._owner.items() if has == owner], at_ms)

    def looked(self, *, settled: bool, generation: int, at_ms: int) -> None:
        """Whether all members are settled in one generation (or member epoch), and in which."""
        last = self._looks[-1]
        if (settled, generation) != (last.settled, last.generation):
            self._looks.append(_Look(at_ms, settled, generation if settled else last.generation))

    @property
    def owned(self) -> int:
        """How many partitions somebody has."""
        return len(self._owner)

    def cost(self, begin_ms: int, end_ms: int) -> Cost:
        """What happened from one instant until another."""
        before = [look for look in self._looks if look.at_ms < begin_ms] or self._looks[:1]
        inside = [look for look in self._looks if begin_ms <= look.at_ms < end_ms]
        at_end = (inside or before)[-1]
        calm = [
            look.at_ms
            for last, look in pairwise([before[-1], *inside])
            if look.settled and look != last
        ]
        if not at_end.settled:
            recovered = None
        elif at_end.generation == before[-1].generation or not calm:
            recovered = 0
        else:
            recovered = calm[-1] - begin_ms
        gaps = [*self._gaps, *((since, end_ms) for since in self._free_since.values())]
        unavailable = sum(max(min(to, end_ms) - max(since, begin_ms), 0) for since, to in gaps)
        return Cost(
            recovered, unavailable, sum(begin_ms <= at_ms < end_ms for at_ms in self._moves)
        )
