"""Table `epochs`: group epochs of consumer groups (KIP-848), with the reason, the instant of the
target, and the instant when every member had reached it."""

from __future__ import annotations

from coordinator.events.groups.consumer import GroupEpochBumped, TargetAssigned
from coordinator.history.world.groups.settlings import Settling
from coordinator.history.world.world import World

from .observer import Subject


class Epochs(Subject):
    """Emits each epoch when it is over."""

    tables = ("epochs",)

    def subscribe(self, world: World) -> None:
        """See Observer."""
        world.subscribe(Settling, self._row)

    def _row(self, one: Settling) -> None:
        bumped: GroupEpochBumped = one.bumped.event
        assigned: TargetAssigned | None = None if one.assigned is None else one.assigned.event
        self.emit(
            "epochs",
            (
                one.group,
                bumped.group_epoch,
                one.bumped.seq,
                one.bumped.at_ms,
                bumped.reason,
                None if assigned is None else assigned.assignor,
                None if one.assigned is None else one.assigned.at_ms,
                one.settled_ms,
                one.members,
                one.targets_changed,
                *one.moved,
            ),
        )
