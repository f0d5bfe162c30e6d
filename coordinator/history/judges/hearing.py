"""Judges that members learn of a rebalance: a healthy member that has not joined yet is refused its
next heartbeat.

A log has refused heartbeats only: REBALANCE_IN_PROGRESS while the group joins,
ILLEGAL_GENERATION for a heartbeat of a former generation.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from coordinator.events.groups import GroupDeleted, GroupLoaded, GroupUnloaded
from coordinator.events.groups.classic import (
    GenerationStarted,
    GenerationStored,
    GroupEmptied,
    MemberJoined,
    MemberRejoined,
    MemberRemoved,
    MemberReplaced,
    RebalanceStarted,
)
from coordinator.events.groups.consumer import (
    ConsumerGroupCreated,
    ConsumerGroupUpgraded,
    MembershipReset,
)
from coordinator.events.handlers import on
from coordinator.events.members import (
    ApplicationResumed,
    ApplicationStalled,
    MemberClosed,
    MemberClosing,
    MemberCrashed,
    MemberFailed,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
)
from coordinator.events.wire import RequestRefused, RequestSeen

from .base import NEVER, Judge, Line
from .disturbances import Disturbances
from .grace import Grace

_ENDS: Final = (MemberClosing, MemberClosed, MemberCrashed, MemberFailed)
_OF_MEMBERS: Final = (
    *_ENDS,
    ApplicationStalled,
    ApplicationResumed,
    PartitionsAssigned,
    PartitionsRevoked,
    PartitionsLost,
)
_OfMember = (
    MemberClosing
    | MemberClosed
    | MemberCrashed
    | MemberFailed
    | ApplicationStalled
    | ApplicationResumed
    | PartitionsAssigned
    | PartitionsRevoked
    | PartitionsLost
)
_SPEAKS: Final = frozenset({"join_group", "leave_group"})
_FINDS_MS: Final = 3_000
"""Longest time in ms in which a client finds its coordinator again."""

_Key = tuple[str, str]
"""Group and member id."""


class _Owes(NamedTuple):
    """News that a member must get, and the instant by which it must have it."""

    at_ms: int
    due_ms: int
    line: Line


class RebalancesAreHeardOf(Judge):
    """Judges that a healthy member learns of a rebalance by its next heartbeat. `grace`: must
    have the longest time between two heartbeats."""

    name = "rebalances_are_heard_of"
    promise = (
        "if a group rebalances, or begins a generation without a member, the next heartbeat, commit or SyncGroup of that member "
        "is refused, unless it joins or leaves first (HB-2, HB-3). This is not judged while the member or brokers are disturbed"
    )
    needs = frozenset({"group", "member", "wire"})
    timed = time_first = True

    def __init__(self, grace: Grace) -> None:
        super().__init__()
        assert grace.heartbeat_ms is not None, "grace: without heartbeat_ms nobody can be late"
        self._told_within_ms = grace.heartbeat_ms + 2 * grace.link_ms + grace.late_ms
        self._disturbances = Disturbances()
        self._ids: dict[_Key, str] = {}
        """The client of each member id, by its own lines, while it runs."""
        self._of_client: dict[_Key, str] = {}
        self._members: dict[str, set[str]] = {}
        self._here: dict[str, set[str]] = {}
        self._owes: dict[_Key, _Owes] = {}
        self._stalled: set[_Key] = set()
        """Groups and clients whose applications do not poll: they leave, a static one without a
        request."""

    @on(*Disturbances.handlers)
    def _disturbed(self, line: Line, _: object) -> None:
        self._disturbances.see(line)

    @on(RequestSeen)
    def _seen(self, line: Line, event: RequestSeen) -> None:
        if event.api in _SPEAKS:
            self._owes.pop((line.group or "", line.member or ""), None)

    @on(RequestRefused)
    def _refused(self, line: Line, _: RequestRefused) -> None:
        self._owes.pop((line.group or "", line.member or ""), None)

    @on(*_OF_MEMBERS)
    def _of_member(self, line: Line, event: _OfMember) -> None:
        if line.group is None:
            return
        group, member, whose = line.group, line.member, (line.group, event.client)
        ended = isinstance(event, _ENDS)
        if isinstance(event, ApplicationStalled):
            self._stalled.add(whose)
        elif ended or isinstance(event, ApplicationResumed):
            self._stalled.discard(whose)
        before = self._of_client.get(whose)
        if before is not None and (ended or (member and member != before)):
            del self._of_client[whose]
            self._ids.pop((group, before), None)
            self._owes.pop((group, before), None)
        if member and not ended and line.generation is not None:
            self._of_client[whose] = member
            self._ids[group, member] = event.client

    @on(MemberJoined, MemberRejoined, MemberReplaced)
    def _joined(self, line: Line, event: MemberJoined | MemberRejoined | MemberReplaced) -> None:
        group, member = line.group or "", event.member_id
        members, here = self._of_group(group)
        members.add(member)
        if not isinstance(event, MemberReplaced) or event.parked:
            here.add(member)
        self._owes.pop((group, member), None)
        if isinstance(event, MemberReplaced):
            members.discard(event.replaced)
            here.discard(event.replaced)
            self._owes.pop((group, event.replaced), None)

    def _of_group(self, group: str) -> tuple[set[str], set[str]]:
        """Return a group's members, and those of them that wait for its next generation."""
        return self._members.setdefault(group, set()), self._here.setdefault(group, set())

    @on(RebalanceStarted)
    def _rebalances(self, line: Line, _: RebalanceStarted) -> None:
        members, here = self._of_group(line.group or "")
        for member in members - here:
            self._is_told(line, line.group or "", member)

    @on(GenerationStarted)
    def _began(self, line: Line, event: GenerationStarted) -> None:
        group = line.group or ""
        _, here = self._of_group(group)
        for member in set(event.members) - here:
            if (group, member) not in self._owes:
                self._is_told(line, group, member)
        self._members[group] = set(event.members)
        here.clear()

    @on(GenerationStored)
    def _stored(self, line: Line, event: GenerationStored) -> None:
        self._members[line.group or ""] = {row.member_id for row in event.members}

    @on(MemberRemoved)
    def _removed(self, line: Line, event: MemberRemoved) -> None:
        group = line.group or ""
        for known in self._of_group(group):
            known.discard(event.member_id)
        self._owes.pop((group, event.member_id), None)

    @on(
        GroupEmptied,
        GroupDeleted,
        GroupUnloaded,
        GroupLoaded,
        ConsumerGroupCreated,
        ConsumerGroupUpgraded,
        MembershipReset,
    )
    def _gone(self, line: Line, event: object) -> None:
        members, here = self._of_group(line.group or "")
        for member in members:
            self._owes.pop((line.group or "", member), None)
        if not isinstance(event, GroupLoaded):
            members.clear()
        here.clear()

    def _is_told(self, line: Line, group: str, member: str) -> None:
        if (group, member) in self._ids:
            owes = _Owes(line.at_ms, 0, line)
            self._owes[group, member] = owes._replace(due_ms=self._due(line.at_ms))
            self.due_ms = min(self.due_ms, self._owes[group, member].due_ms)

    def _due(self, since_ms: int) -> int:
        return since_ms + self._told_within_ms + 1

    def passed(self, now_ms: int) -> None:
        for key, owes in [(key, owes) for key, owes in self._owes.items() if owes.due_ms <= now_ms]:
            client = self._ids[key]
            calm_ms = self._disturbances.calm_since(client)
            due_ms = (
                now_ms + _FINDS_MS
                if calm_ms is None or (key[0], client) in self._stalled
                else self._due(max(owes.at_ms, calm_ms + _FINDS_MS if calm_ms else 0))
            )
            if due_ms > now_ms:
                self._owes[key] = owes._replace(due_ms=due_ms)
                continue
            del self._owes[key]
            group, member = key
            self.blame(
                owes.line,
                f"{member} of group {group} has not learned of the rebalance at {now_ms} ms: "
                "no heartbeat of it was refused, and it has not joined",
            )
        self.due_ms = min((owes.due_ms for owes in self._owes.values()), default=NEVER)
