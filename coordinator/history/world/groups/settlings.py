"""Settlings: for each group epoch of the consumer groups of a log (KIP-848) when its target was
made, for how many members, how many partitions moved, and when every member had reached it.

`consumer_groups` follows members, `moves` follows moves; both must have seen each line before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from coordinator.events.groups import GroupDeleted
from coordinator.events.groups.consumer import (
    ConsumerGroupDowngraded,
    GroupEpochBumped,
    MembershipReset,
    TargetAssigned,
)
from coordinator.events.line import Line

from ..ownership.moves import NOTHING, Moved, Moves
from .consumer_groups import BEGINNINGS, ConsumerGroup, ConsumerGroups

_OVER = frozenset({MembershipReset, ConsumerGroupDowngraded, GroupDeleted})


@dataclass(slots=True)
class Settling:
    """One group epoch. `bumped`: its GroupEpochBumped. `assigned`: its TargetAssigned, or None.
    `members`: number of members when the target was made, else at the epoch's end."""

    group: str
    bumped: Line
    assigned: Line | None = None
    settled_ms: int | None = None
    members: int = 0
    targets_changed: int = 0
    moved: Moved = NOTHING

    @property
    def epoch(self) -> int:
        """The group epoch."""
        bumped: GroupEpochBumped = self.bumped.event
        return bumped.group_epoch


class Settlings:
    """The epochs of all consumer groups. `ended` is called with each when it is over. An epoch
    without members is settled when its target is made."""

    def __init__(
        self, ended: Callable[[Settling], object], consumers: ConsumerGroups, moves: Moves
    ) -> None:
        self._ended = ended
        self._consumers = consumers
        self._moves = moves
        self._groups: dict[str, ConsumerGroup] = {}
        """The groups with an open epoch, in the order of their beginning."""
        self._going: dict[str, Settling] = {}
        self._assigned: dict[str, Line] = {}
        """The last TargetAssigned since the last GroupEpochBumped; it may belong to an older
        epoch."""

    def see(self, line: Line) -> None:
        """Handle an event of a group."""
        kind, name = line.kind, line.group or ""
        if kind in BEGINNINGS:
            self._over(name)
            self._groups[name] = self._consumers.groups[name]
        elif kind in _OVER:
            self._over(name)
        if name not in self._groups:
            return
        going = self._going.get(name)
        if kind is GroupEpochBumped:
            self._end(name)
            going = self._going[name] = Settling(name, line)
        elif kind is TargetAssigned and going is not None:
            self._take(going, line)
        if going is not None and going.settled_ms is None:
            self._settle(going, line)

    def finish(self) -> None:
        """Report the last epoch of each group."""
        for name in list(self._groups):
            self._over(name)

    def _take(self, going: Settling, line: Line) -> None:
        self._assigned[going.group] = line
        going.moved = going.moved.plus(self._moves.last)
        assigned: TargetAssigned = line.event
        if assigned.assignment_epoch == going.epoch:
            going.assigned = line
            going.members = len(self._groups[going.group].members)
            going.targets_changed = len(assigned.targets)

    def _settle(self, going: Settling, line: Line) -> None:
        assigned = self._assigned.get(going.group)
        if assigned is None or assigned.event.assignment_epoch < going.epoch:
            return
        if self._groups[going.group].rests():
            going.settled_ms = line.at_ms

    def _end(self, name: str) -> None:
        going = self._going.pop(name, None)
        self._assigned.pop(name, None)
        if going is not None:
            if going.assigned is None:
                going.members = len(self._groups[name].members)
            self._ended(going)

    def _over(self, name: str) -> None:
        self._end(name)
        self._groups.pop(name, None)
