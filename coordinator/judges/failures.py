"""Members that end by an error: nobody asked for it, so that the group goes on without them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from .base import Judge, Line

ANY: Final = "any"
"""Members of every kind."""


class NoMemberFails(Judge):
    """No member ends by an error. `may`: kinds of members that may, as a scenario
    names them, or `ANY`."""

    name = "no_member_fails"
    promise = "no member ends by an error of its own, but those of which the scenario says it (must.may_fail)"
    needs = frozenset({"member"})
    looks_at = frozenset({"MemberFailed"})

    def __init__(self, may: Collection[str] = ()) -> None:
        super().__init__()
        self._may = frozenset(may)

    def see(self, line: Line) -> None:
        """A client id is the kind's name and a number."""
        if line["type"] != "MemberFailed":
            return
        client = str(line.get("client", "a member"))
        if ANY not in self._may and client.rpartition("-")[0] not in self._may:
            why = line.get("why", "it does not say which")
            self.blame(line, f"{client} of group {line.get('group')} ended by an error: {why}")
