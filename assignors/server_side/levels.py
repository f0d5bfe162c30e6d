"""The subscribers of one topic by load: whom to give to next, and from whom to take.

Owns the balancer inside UniformHeterogeneousAssignmentBuilder (SRV-4). From below, members with the
lowest load are gone through from left to right; when the last had its turn the level rises, and
those already on the new level join. From above it is the mirror image, and a member that has
nothing to give is swapped out. Does not depend on topics and partitions.
"""

from __future__ import annotations

from collections.abc import Sequence


class Levels:
    """Works on `loads`, which the caller keeps up to date; `members` are positions in it."""

    __slots__ = (
        "_end",
        "_least",
        "_loads",
        "_low_end",
        "_members",
        "_most",
        "_next_high",
        "_next_low",
        "_start",
        "spread",
    )

    def __init__(self, loads: Sequence[int], members: Sequence[int]) -> None:
        self._loads = loads
        self._members = sorted(members, key=lambda member: (loads[member], member))
        self._low_end = self._next_low = 0
        self._start = self._end = len(members)
        self._next_high = len(members) - 1
        lowest, highest = loads[self._members[0]], loads[self._members[-1]]
        self._least, self._most = lowest - 1, highest + 1
        self.spread = highest - lowest

    def next_least_loaded(self) -> int:
        """Return the member that takes the next partition."""
        if self._next_low >= self._low_end:
            self._least += 1
            while (
                self._low_end < len(self._members)
                and self._loads[self._members[self._low_end]] == self._least
            ):
                self._low_end += 1
            self._next_low = 0
        self._next_low += 1
        return self._members[self._next_low - 1]

    def next_most_loaded(self) -> int | None:
        """Return the member that gives a partition away next, or None if nobody can."""
        if self._next_high < self._start:
            if self._end <= self._start and self._start > 0:
                self._most = self._loads[self._members[self._start - 1]]
            else:
                self._most -= 1
            while self._start > 0 and self._loads[self._members[self._start - 1]] == self._most:
                self._start -= 1
            self._next_high = self._end - 1
        if self._next_high < 0:
            return None
        self._next_high -= 1
        return self._members[self._next_high + 1]

    def exclude_most_loaded(self) -> None:
        """The member named last has nothing of this topic: it takes no further part."""
        here, last = self._next_high + 1, self._end - 1
        self._members[here], self._members[last] = self._members[last], self._members[here]
        self._end -= 1

    def is_balanced(self) -> bool:
        """True if the two ends have met."""
        return self._most - self._least <= 1
