"""The subscribers of one topic by load: the next one to give a partition to, and the next one to
take from.

Owns the balancer inside UniformHeterogeneousAssignmentBuilder (SRV-4). From below, the members
with the lowest load are visited from left to right; after the last of them the level rises, and
the members that already have that load join. From above it is the mirror image, and a member
that has no partition of the topic is swapped out. Does not depend on topics and partitions.
"""

from __future__ import annotations

from collections.abc import Sequence


class Levels:
    """The two ends of a topic's subscribers sorted by load. The caller keeps `loads` up to date;
    `members` are indices of it.
    """

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
        """Return the member that gets the next partition."""
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
        """Return the member to take the next partition from, or None if there is none."""
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
        """Exclude the member that `next_most_loaded` returned last, because it has no partition of
        this topic.
        """
        here, last = self._next_high + 1, self._end - 1
        self._members[here], self._members[last] = self._members[last], self._members[here]
        self._end -= 1

    def is_balanced(self) -> bool:
        """True if the highest and the lowest load differ by at most one."""
        return self._most - self._least <= 1
