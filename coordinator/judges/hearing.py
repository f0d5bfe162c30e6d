"""Members hear of a rebalance: who is well, and is not in it yet, is told with its next heartbeat.

Of heartbeats a log has the refused ones alone: REBALANCE_IN_PROGRESS while a group joins,
ILLEGAL_GENERATION to who comes with a generation that is over.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from .base import NEVER, Judge, Line
from .disturbances import LINES, Disturbances
from .grace import Grace

_JOINS: Final = frozenset({"MemberJoined", "MemberRejoined", "MemberReplaced"})
_GROUP_GONE: Final = frozenset(
    {
        "GroupEmptied",
        "GroupDeleted",
        "GroupUnloaded",
        "GroupLoaded",
        "ConsumerGroupCreated",
        "ConsumerGroupUpgraded",
        "MembershipReset",
    }
)
_ENDS: Final = frozenset({"MemberClosing", "MemberClosed", "MemberCrashed", "MemberFailed"})
_SPEAKS: Final = frozenset({"join_group", "leave_group"})
_FINDS_MS: Final = 3_000
"""So long may a client take to find its coordinator again."""

_Key = tuple[str, str]
"""Group and member id."""


class _Owes(NamedTuple):
    """The news a member has to hear, and when it should have at the latest."""

    at_ms: int
    due_ms: int
    line: Line


class RebalancesAreHeardOf(Judge):
    """Who is well hears of a rebalance with its next heartbeat. `grace`: with the longest time
    between two heartbeats."""

    name = "rebalances_are_heard_of"
    promise = (
        "a member of a group that rebalances, or has begun a generation without it, is refused its next heartbeat, commit or SyncGroup, "
        "unless it has joined, or leaves, before that (HB-2, HB-3); not while something is done to it or to brokers"
    )
    needs = frozenset({"group", "member", "wire"})
    looks_at = (
        _JOINS
        | _GROUP_GONE
        | _ENDS
        | LINES
        | {
            "RebalanceStarted",
            "GenerationStarted",
            "GenerationStored",
            "MemberRemoved",
            "RequestSeen",
            "RequestRefused",
            "PartitionsAssigned",
            "PartitionsRevoked",
            "PartitionsLost",
            "ApplicationStalled",
            "ApplicationResumed",
            "RunEnded",
        }
    )
    timed = True

    def __init__(self, grace: Grace) -> None:
        super().__init__()
        assert grace.heartbeat_ms is not None
        self._told_within_ms = grace.heartbeat_ms + 2 * grace.link_ms + grace.late_ms
        self._disturbances = Disturbances()
        self._ids: dict[_Key, str] = {}
        """The client that calls itself by a member id, and goes on."""
        self._of_client: dict[_Key, str] = {}
        self._members: dict[str, set[str]] = {}
        self._here: dict[str, set[str]] = {}
        self._owes: dict[_Key, _Owes] = {}
        self._stalled: set[_Key] = set()
        """Groups and clients whose applications do not poll: they leave, a static one tacitly."""

    def see(self, line: Line) -> None:
        stream, kind = line["stream"], line["type"]
        if line["at_ms"] >= self.due_ms:
            self.passed(line["at_ms"])
        if stream == "fault":
            self._disturbances.see(line)
        elif stream == "group":
            self._of_group(line, kind, line["group"])
        elif stream == "member":
            if "group" in line:
                self._of_member(line, kind, line["group"])
        elif kind == "RequestRefused" or (kind == "RequestSeen" and line.get("api") in _SPEAKS):
            self._owes.pop((line.get("group", ""), line.get("member", "")), None)

    def _of_member(self, line: Line, kind: str, group: str) -> None:
        whose = group, line.get("client", "")
        if kind == "ApplicationStalled":
            self._stalled.add(whose)
        elif kind == "ApplicationResumed" or kind in _ENDS:
            self._stalled.discard(whose)
        before = self._of_client.get(whose)
        member = line.get("member")
        if before is not None and (kind in _ENDS or (member and member != before)):
            del self._of_client[whose]
            self._ids.pop((group, before), None)
            self._owes.pop((group, before), None)
        if member and kind not in _ENDS and line.get("generation") is not None:
            self._of_client[whose] = member
            self._ids[group, member] = whose[1]

    def _of_group(self, line: Line, kind: str, group: str) -> None:
        members = self._members.setdefault(group, set())
        here = self._here.setdefault(group, set())
        if kind in _JOINS:
            self._joined(line, kind, group)
        elif kind == "RebalanceStarted":
            for member in members - here:
                self._is_told(line, group, member)
        elif kind == "GenerationStarted":
            for member in set(line["members"]) - here:
                if (group, member) not in self._owes:
                    self._is_told(line, group, member)
            self._members[group] = set(line["members"])
            here.clear()
        elif kind == "GenerationStored":
            self._members[group] = {row["member_id"] for row in line["members"]}
        elif kind == "MemberRemoved":
            members.discard(line["member"])
            here.discard(line["member"])
            self._owes.pop((group, line["member"]), None)
        elif kind in _GROUP_GONE:
            for member in members:
                self._owes.pop((group, member), None)
            if kind != "GroupLoaded":
                members.clear()
            here.clear()

    def _joined(self, line: Line, kind: str, group: str) -> None:
        member = line["member"]
        self._members[group].add(member)
        if line.get("parked", True):
            self._here[group].add(member)
        self._owes.pop((group, member), None)
        if kind == "MemberReplaced":
            self._members[group].discard(line["replaced"])
            self._here[group].discard(line["replaced"])
            self._owes.pop((group, line["replaced"]), None)

    def _is_told(self, line: Line, group: str, member: str) -> None:
        if (group, member) in self._ids:
            owes = _Owes(line["at_ms"], 0, line)
            self._owes[group, member] = owes._replace(due_ms=self._due(line["at_ms"]))
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
                f"{member} of group {group} has not heard of it at {now_ms} ms: no heartbeat of it was refused, and it has not joined",
            )
        self.due_ms = min((owes.due_ms for owes in self._owes.values()), default=NEVER)
