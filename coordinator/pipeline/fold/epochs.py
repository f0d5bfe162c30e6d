"""Table `epochs`: group epochs of consumer groups (KIP-848), why each came, when its target was made,
when every member had reached it."""

from __future__ import annotations

from ...history.reader import History
from ...history.settlings import Settling, Settlings
from .observer import Emit, Line, Subject


class Epochs(Subject):
    """Each epoch, when it is over."""

    streams = frozenset({"group"})
    tables = ("epochs",)

    def __init__(self, emit: Emit, history: History) -> None:
        super().__init__(emit, history)
        self._settlings = Settlings(self._row, history.consumer_groups(), history.moves())

    def see(self, line: Line) -> None:
        """An event of a group."""
        self._settlings.see(line)

    def finish(self) -> None:
        """The last epoch of each group."""
        self._settlings.finish()

    def _row(self, one: Settling) -> None:
        bumped, assigned = one.bumped, one.assigned
        self.emit(
            "epochs",
            (
                one.group,
                bumped["group_epoch"],
                bumped["seq"],
                bumped["at_ms"],
                bumped["reason"],
                None if assigned is None else assigned["assignor"],
                None if assigned is None else assigned["at_ms"],
                one.settled_ms,
                one.members,
                one.targets_changed,
                *one.moved,
            ),
        )
