"""Classic groups in a log: the state, the generation and the leader of each.

States have Kafka's names. A group without a line has the state "". A group that its coordinator
unloaded, or that became a consumer group, is Dead until a line says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from coordinator.events.groups import (
    GenerationStarted,
    GenerationStored,
    GroupDeleted,
    GroupEmptied,
    GroupLoaded,
    GroupUnloaded,
    RebalanceStarted,
)
from coordinator.events.groups.consumer import ConsumerGroupUpgraded
from coordinator.events.line import Line

PREPARING: Final = "PreparingRebalance"
COMPLETING: Final = "CompletingRebalance"
STABLE: Final = "Stable"
_DEAD: Final = "Dead"
_AFTER: Final[dict[type, str]] = {
    RebalanceStarted: PREPARING,
    GenerationStarted: COMPLETING,
    GroupEmptied: "Empty",
    GroupDeleted: _DEAD,
    GroupUnloaded: _DEAD,
    ConsumerGroupUpgraded: _DEAD,
}
STATE_TYPES: Final = frozenset(_AFTER) | {GenerationStored, GroupLoaded}
"""Classes of the events that `ClassicGroup` follows."""


class ClassicGroup:
    """State of one classic group."""

    __slots__ = ("generation", "leader", "state")

    def __init__(self, state: str = "", generation: int = -1) -> None:
        self.state = state
        self.generation = generation
        self.leader: str | None = None
        """The member id of the last generation's leader."""

    def follow(self, line: Line) -> bool:
        """Handle a line of the group; return True if it completes a rebalance. A
        GenerationStored that does not is that of a static member that was replaced, or of a
        restored snapshot."""
        kind, before = line.kind, self.state
        if kind in _AFTER:
            self.state = _AFTER[kind]
        elif kind is GroupLoaded:
            self.state = line.event.state
        elif kind is not GenerationStored:
            return False
        elif before in (COMPLETING, ""):
            self.state = STABLE
        if line.generation is not None:
            self.generation = line.generation
        event = line.event
        if isinstance(event, GenerationStarted | GenerationStored):
            self.leader = event.leader
        return kind is GenerationStored and before == COMPLETING


class ClassicGroups:
    """The classic groups of a log. `completing`: groups that are in CompletingRebalance before
    the first line."""

    def __init__(self, completing: Iterable[str] = ()) -> None:
        self._groups = {name: ClassicGroup(COMPLETING) for name in completing}
        self.completed = False
        """The latest line completed a rebalance."""

    def see(self, line: Line) -> bool:
        """Handle a line; return True if it completes a rebalance."""
        self.completed = line.kind in STATE_TYPES and self.get(line.group or "").follow(line)
        return self.completed

    def get(self, name: str) -> ClassicGroup:
        """Return a group as far as the log has been read."""
        group = self._groups.get(name)
        if group is None:
            group = self._groups[name] = ClassicGroup()
        return group
