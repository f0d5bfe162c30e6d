"""Racks in the sticky assignors (KIP-881).

Owns RackInfo of Java's AbstractStickyAssignor. Does not depend on what is assigned.
"""

from __future__ import annotations

from collections import Counter

from assignors.model import Racks
from assignors.racks import differ, racks_of
from assignors.sticky.numbers import Numbers


class RackView:
    """Racks of members and partitions. Without effect unless racks differ (APA-3)."""

    def __init__(self, numbers: Numbers, racks: Racks | None) -> None:
        known = [subscription.rack or None for subscription in numbers.subscriptions]
        self.members_in: Counter[str] = Counter(rack for rack in known if rack is not None)
        self.partitions: list[frozenset[str]] = []
        if self.members_in:
            for topic, count in zip(numbers.topics, numbers.counts, strict=True):
                self.partitions += racks_of(racks or {}, topic, count)
        self.used = differ(self.members_in.keys(), self.partitions)
        self.rack_of: list[str | None] = known if self.used else [None] * len(known)

    def mismatch(self, member: int, partition: int) -> bool:
        """Return whether the member has a rack without a replica of the partition. A partition that
        does not exist is in no rack.
        """
        rack = self.rack_of[member]
        return rack is not None and (
            partition >= len(self.partitions) or rack not in self.partitions[partition]
        )

    def sort_by_candidates(self, partitions: list[int]) -> None:
        """Sort partitions: those with the fewest members in their racks first, even if racks are
        not used (STK-9).
        """
        if self.members_in:
            weights = {
                racks: sum(map(self.members_in.__getitem__, racks))
                for racks in set(self.partitions)
            }
            partitions.sort(key=lambda partition: weights[self.partitions[partition]])
