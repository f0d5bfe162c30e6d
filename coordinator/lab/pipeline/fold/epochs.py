"""Table `epochs`: group epochs of consumer groups (KIP-848), with the reason, the instant of the
target, and the instant when every member had reached it."""

from __future__ import annotations

from coordinator.events.groups.consumer import GroupEpochBumped, TargetAssigned
from coordinator.history.world.groups.settlings import Settling
from coordinator.history.world.lost_time.rebalances import NO_COST, Cost
from coordinator.history.world.world import World

from .observer import Subject


class Epochs(Subject):
    """Emits all epochs at the end of the log: what each cost may grow until then."""

    tables = ("epochs",)

    def subscribe(self, world: World) -> None:
        """See Observer."""
        self._timeline = world.timeline
        self._over: list[Settling] = []
        world.subscribe(Settling, self._over.append)

    def finish(self) -> None:
        """Emit the epochs, in the order in which they were over."""
        costs = {
            name: self._timeline.lost_time.costs(view, self._timeline.end_ms)
            for name, view in self._timeline.groups.items()
            if view.epochs is not None
        }
        for one in self._over:
            self._row(one, costs.get(one.group, {}).get(one.bumped.seq, NO_COST))

    def _row(self, one: Settling, cost: Cost) -> None:
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
                *cost.lost,
                cost.longest_ms,
            ),
        )
