"""Judges that no member ends by an error that the run did not allow."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from coordinator.events.handlers import on
from coordinator.events.members import MemberFailed

from .base import Judge, Line

ANY: Final = "any"
"""Members of every kind."""


class NoMemberFails(Judge):
    """Judges that no member ends by an error. `may`: kinds of members that may, as a scenario
    names them, or `ANY`."""

    name = "no_member_fails"
    promise = "no member ends with an error of its own, except those that the scenario names (must.may_fail)"
    needs = frozenset({"member"})

    def __init__(self, may: Collection[str] = ()) -> None:
        super().__init__()
        self._may = frozenset(may)

    @on(MemberFailed)
    def _failed(self, line: Line, event: MemberFailed) -> None:
        """A client id is the name of its kind and a number."""
        client = event.client
        if ANY not in self._may and client.rpartition("-")[0] not in self._may:
            self.blame(line, f"{client} of group {line.group} ended by an error: {event.why}")
