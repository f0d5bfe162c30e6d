"""Tables `ownership` and `members`: who had which partition, as `coordinator.history.owners` tells
it, and who was a member, from when to when."""

from __future__ import annotations

from functools import partial

from ...history.memberships import Memberships
from ...history.owners import Believed, Given, Held, Place, Told
from ...history.reader import History
from .observer import Emit, Line, Subject


class Ownership(Subject):
    """Three views: as the coordinator gave them; as the members' listeners were told, with one owner
    at a time; and as each listener was told, so that two may believe to have one."""

    streams = frozenset({"group", "member"})
    tables = ("ownership",)

    def __init__(self, emit: Emit, history: History) -> None:
        super().__init__(emit, history)
        self._given = Given(partial(self._emit, "coordinator"))
        self._told = Told(partial(self._emit, "member"))
        self._believed = Believed(partial(self._emit, "listener"))

    def see(self, line: Line) -> None:
        """A line of stream `group` or `member`."""
        if line["stream"] == "group":
            self._given.see(line)
        else:
            self._told.see(line)
            self._believed.see(line)

    def finish(self) -> None:
        """The rows held at the end."""
        self._given.finish()
        self._told.finish()
        self._believed.finish()

    def _emit(self, view: str, group: str, place: Place, one: Held, line: Line | None) -> None:
        end = (None, None, None) if line is None else (line["seq"], line["at_ms"], line["type"])
        self.emit(
            "ownership", (group, view, *place, one.member, one.generation, one.seq, one.at_ms, *end)
        )


class Members(Subject):
    """Each membership, when it is over."""

    streams = frozenset({"group"})
    tables = ("members",)

    def __init__(self, emit: Emit, history: History) -> None:
        super().__init__(emit, history)
        self._memberships = Memberships(lambda one: emit("members", one))

    def see(self, line: Line) -> None:
        """A line of stream `group`."""
        self._memberships.see(line)

    def finish(self) -> None:
        """Those who are there at the end."""
        self._memberships.finish()
