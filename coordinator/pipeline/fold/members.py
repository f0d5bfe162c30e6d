"""Table `members`: a row for each member id of each group."""

from __future__ import annotations

from ...history.memberships import Memberships
from ...history.reader import History
from .observer import Emit, Line, Subject


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
