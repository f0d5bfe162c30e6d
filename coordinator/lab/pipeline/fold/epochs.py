"""Table `epochs`: group epochs of consumer groups (KIP-848), with the reason, the instant of the
target, and the instant when every member had reached it."""

from __future__ import annotations

from coordinator.events.groups.consumer import GroupEpochBumped, TargetAssigned
from coordinator.events.line import Line
from coordinator.history.world.groups.settlings import Settling, Settlings
from coordinator.history.world.reader import History

from .observer import Emit, Subject


class Epochs(Subject):
    """Emits each epoch when it is over."""

    tables = ("epochs",)

    def __init__(self, emit: Emit, history: History) -> None:
        super().__init__(emit, history)
        self._settlings = Settlings(self._row, history.consumer_groups(), history.moves())

    def looks_at(self, line: Line) -> bool:
        """Return True for all lines of groups: each may settle an epoch."""
        return line.stream == "group"

    def see(self, line: Line) -> None:
        """Handle the line."""
        self._settlings.see(line)

    def finish(self) -> None:
        """Emit the last epoch of each group."""
        self._settlings.finish()

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
