"""Tables `ownership` and `members`: the owner of each partition and the members of each group
over time, as `coordinator.history.world.ownership.owners` has them."""

from __future__ import annotations

from functools import partial

from coordinator.events.line import Line
from coordinator.history.world.groups.memberships import Memberships
from coordinator.history.world.ownership.owners import Believed, Given, Held, Place, Told
from coordinator.history.world.reader import History

from .observer import Emit, Subject


class Ownership(Subject):
    """Three views of ownership: as the coordinator assigned partitions; as members' listeners
    were called, with one owner at a time; and as each listener was called, so that two members
    may believe to own a partition."""

    tables = ("ownership",)

    def __init__(self, emit: Emit, history: History) -> None:
        super().__init__(emit, history)
        self._given = Given(partial(self._emit, "coordinator"))
        self._told = Told(partial(self._emit, "member"))
        self._believed = Believed(partial(self._emit, "listener"))

    def looks_at(self, line: Line) -> bool:
        """Return True if one of the views reads the line."""
        return any(line.kind in view.handlers for view in (Given, Told, Believed))

    def see(self, line: Line) -> None:
        """Show the line to all views."""
        self._given.see(line)
        self._told.see(line)
        self._believed.see(line)

    def finish(self) -> None:
        """Emit the ownership that lasts at the end."""
        self._given.finish()
        self._told.finish()
        self._believed.finish()

    def _emit(self, view: str, group: str, place: Place, one: Held, line: Line | None) -> None:
        end = (None, None, None) if line is None else (line.seq, line.at_ms, line.name)
        self.emit(
            "ownership", (group, view, *place, one.member, one.generation, one.seq, one.at_ms, *end)
        )


class Members(Subject):
    """Emits each membership when it is over."""

    tables = ("members",)

    def __init__(self, emit: Emit, history: History) -> None:
        super().__init__(emit, history)
        self._memberships = Memberships(lambda one: emit("members", one))

    def looks_at(self, line: Line) -> bool:
        """Return True if memberships read the line."""
        return line.kind in Memberships.handlers

    def see(self, line: Line) -> None:
        """Handle the line."""
        self._memberships.see(line)

    def finish(self) -> None:
        """Emit the memberships that last at the end."""
        self._memberships.finish()
