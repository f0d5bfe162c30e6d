"""Members that are running and polling, by their own lines: the process runs, and its application
is neither busy with records nor stalled.

This module has no judge. Member ids come from the members' own lines; those of a consumer or share
group, whose members may log nothing for long, also from the events that carry their client id.
"""

from __future__ import annotations

from coordinator.events.groups.consumer import ConsumerMemberSubscribed
from coordinator.events.groups.share import ShareMemberSubscribed
from coordinator.events.members import (
    AcknowledgementsEnded,
    ApplicationResumed,
    ApplicationStalled,
    MemberClosed,
    MemberClosing,
    MemberCrashed,
    MemberEvent,
    MemberFailed,
    MemberStarted,
    RecordsPolled,
    RecordsProcessed,
    SharedRecordsPolled,
)

_Key = tuple[str, str]
"""Group and client."""


class RunningMembers:
    """The processes of all groups in a log."""

    def __init__(self) -> None:
        self._ids: dict[_Key, str] = {}
        """The member id of each running process; "" while it is unknown."""
        self._stalled: set[_Key] = set()
        self._busy: set[_Key] = set()

    def told(self, group: str, member: str | None, event: MemberEvent) -> None:
        """Handle an event of a group's member."""
        whose = group, event.client
        match event:
            case MemberStarted():
                self._ids[whose] = ""
                self._stalled.discard(whose)
                self._busy.discard(whose)
            case MemberClosing() | MemberClosed() | MemberCrashed() | MemberFailed():
                self._ids.pop(whose, None)
                return
            case ApplicationStalled():
                self._stalled.add(whose)
            case ApplicationResumed():
                self._stalled.discard(whose)
            case RecordsPolled() | SharedRecordsPolled():
                self._busy.add(whose)
            case RecordsProcessed() | AcknowledgementsEnded():
                self._busy.discard(whose)
        if member and whose in self._ids:
            self._ids[whose] = member

    def subscribed(
        self, group: str, event: ConsumerMemberSubscribed | ShareMemberSubscribed
    ) -> None:
        """Handle a member of a consumer or share group that joined or changed its subscription."""
        whose = group, event.client_id
        if whose in self._ids:
            self._ids[whose] = event.member_id

    def client_of(self, group: str, member: str) -> str | None:
        """Return the client id of a member that is running and polling; None if it is not, or if
        that is unknown."""
        for whose, known in self._ids.items():
            if known == member and whose[0] == group:
                return None if whose in self._stalled or whose in self._busy else whose[1]
        return None
