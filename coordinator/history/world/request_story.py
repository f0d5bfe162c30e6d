"""Requests, responses and refusals as the stories of groups need them: signs of life, members that go
on, refusals with their causes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from coordinator.events.faults import FaultInjected
from coordinator.events.handlers import Reader, on
from coordinator.events.line import Line
from coordinator.events.wire import (
    AuthorizationRefused,
    MemberDisconnected,
    MemberReconnected,
    RequestAnswered,
    RequestRefused,
    RequestSeen,
)

from . import inferred_owners
from .classic_story import goes_on
from .generation_steps import Steps
from .kept_lines import KeptLines
from .outside_groups import OutsideGroups
from .refusals import Refusal, Refusals
from .views import GroupView, MemberView

_ABOUT_OFFSETS: Final = frozenset({"offset_fetch", "offset_commit"})
"""Requests that cause no rebalance."""
_FINDS: Final = "find_coordinator"
"""The API whose responses name no group: its refusals are reported for the client."""


class RequestStory(Reader):
    """Handles lines of requests. `outside`: gets those that name no group. `steps`: keeps each
    request on the way to a generation, where that is wanted."""

    def __init__(
        self,
        groups: Mapping[str, GroupView],
        lines: KeptLines,
        outside: OutsideGroups,
        refusals: Refusals,
        steps: Steps | None,
    ) -> None:
        self._groups = groups
        self._lines = lines
        self._outside = outside
        self._refusals = refusals
        self._steps = steps
        self._unauthorised: Line | None = None  # the last AuthorizationRefused

    @on(AuthorizationRefused)
    def _lacks_a_right(self, line: Line, event: AuthorizationRefused) -> None:
        group = self._groups.get(line.group or "")
        if group is None:
            self._outside.follow(line)
        self._unauthorised = line
        if group is not None and event.api == _FINDS:
            refusal = Refusal(event.api, (_error_of(event),), line)
            note = self._refusals.refused(group, None, line, refusal, "", event.client)
            group.refused[event.client] = note

    @on(RequestSeen, RequestAnswered, RequestRefused)
    def _wire(self, line: Line, event: RequestSeen | RequestAnswered | RequestRefused) -> None:
        if line.group is None:
            self._outside.follow(line)
        self._request(line, event)
        if self._steps is None and not isinstance(event, RequestSeen) and line.cause is not None:
            self._lines.answered(line.cause, for_good=event.api in _ABOUT_OFFSETS)

    def _request(self, line: Line, event: RequestSeen | RequestAnswered | RequestRefused) -> None:
        group = self._groups.get(line.group or "")
        errors, injected = self._refusals.errors(line)
        if self._steps is not None:
            self._steps.wire(group, line, injected)
        if group is None:
            return
        member = group.members.get(line.member or "")
        if isinstance(event, RequestAnswered):
            if member is not None:
                self._answered(group, member, line, event)
            return
        if member is not None and not errors:
            member.seen_ms, member.seen_by = line.at_ms, event.api
            if event.api == "heartbeat" and member.learned_ms is None:
                # successful ones are not in the log
                member.learned_ms, member.learned_by = line.at_ms, line.seq
        if isinstance(event, RequestRefused) and errors:
            seen = None if line.cause is None else self._lines.get(line.cause)
            asked = event if seen is None else seen.event
            client = (asked.client or "") if isinstance(asked, RequestSeen | RequestRefused) else ""
            refusal = Refusal(event.api, event.errors, self._why(line, errors))
            note = self._refusals.refused(group, member, line, refusal, injected, client)
            group.refused[client or (member.client_id if member is not None else "")] = note

    def _why(self, line: Line, errors: set[str]) -> Line | None:
        """Return the AuthorizationRefused that explains a refusal, if the last one does."""
        why = self._unauthorised
        if why is None or why.group != line.group or _error_of(why.event) not in errors:
            return None
        return why

    def _answered(
        self, group: GroupView, member: MemberView, line: Line, event: RequestAnswered
    ) -> None:
        """Handle a response without an event of the group: to a member that joins or syncs while
        the group is Stable (JOIN-4, STA-8)."""
        group.went_on(member.client_id)
        if group.state != "Stable":
            return
        if event.api == "join_group" and not member.cooperative:
            inferred_owners.joins(member, line.at_ms - event.waited_ms)
        elif event.api == "sync_group":
            goes_on(group, member, line.at_ms)

    @on(MemberDisconnected, MemberReconnected)
    def _connection(self, line: Line, event: MemberDisconnected | MemberReconnected) -> None:
        group = self._groups.get(line.group or "")
        member = None if group is None else group.members.get(line.member or "")
        if member is not None:
            member.closed_ms = line.at_ms if isinstance(event, MemberDisconnected) else None

    @on(FaultInjected)
    def _met_a_fault(self, line: Line, event: FaultInjected) -> None:
        self._refusals.met(self._groups.get(line.group or ""), line, event)


def _error_of(right: AuthorizationRefused) -> str:
    return f"{right.resource.upper()}_AUTHORIZATION_FAILED"
