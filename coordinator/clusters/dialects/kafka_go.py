"""Lines of kafka-go (segmentio). Its lines about joining name group, member and generation; the
reason of a rebalance stands in them only if a join was refused or partitions changed."""

from __future__ import annotations

import re

from ..facts import (
    Assigned,
    ClientAsked,
    ClientJoined,
    ClientLeaving,
    ClientRemoved,
    CoordinatorLost,
    Fact,
    ProtocolRefused,
)
from ..stories.people import client_of

NAME = "kafka-go"
ANCHORS = (
    "entering loop for consumer group, ",
    "joined group ",
    "Joined group ",
    "joinGroup succeeded for response, ",
    "selected as leader for group, ",
    "found member: ",
    "Failed to join group ",
    "Failed to sync group ",
    "Leaving group ",
    "Partition changes found, rebalancing group: ",
    "started heartbeat for group, ",
    "stopped heartbeat for group ",
    "sync group finished for group, ",
    "received empty assignments for group, ",
    "assigned member/topic/partitions ",
    "using '",
    "found topic/partition: ",
    "Syncing ",
    "committed offsets for group ",
    "started partition watcher for group, ",
    "stopped partition watcher for group, ",
    "Failed to fetch offsets for group ",
    "leave group failed for group, ",
    "started commit for group ",
    "stopped commit for group ",
    "Unable to establish connection to consumer group coordinator for group ",
)
_JOINED = re.compile(
    r"[Jj]oined group (?P<group>\S{1,300}) as member (?P<member>.{1,400}?) in generation (?P<n>\d{1,10})"
)
_SUCCEEDED = re.compile(
    r"joinGroup succeeded for response, (?P<group>\S{1,300})\.  ?generationID=(?P<n>\d{1,10}), memberID=(?P<member>.{1,400})"
)
_MEMBER = re.compile(r"found member: (?P<member>.{1,400}?)/(?:\[\]byte|\")")
_ASSIGNED = re.compile(r"assigned member/topic/partitions (?P<member>.{1,400})/[^/\s]{1,300}/\[")
_FAILED = re.compile(r"Failed to (?:join|sync) group (?P<group>[^\s:]{1,300}): (?P<error>.{0,400})")
_LEAVING = re.compile(r"Leaving group (?P<group>[^\s,]{1,300}), member (?P<member>.{0,400})")
_CHANGED = re.compile(r"Partition changes found, rebalancing group: (?P<group>\S{1,300}?)\.?\s*$")
_LOST = re.compile(
    r"Unable to establish connection to consumer group coordinator for group (?P<group>[^\s:]{1,300}): (?P<error>.{0,400})"
)
_PASSED = re.compile(
    r"entering loop for consumer group, |using '[^']{1,100}' balancer to assign group, |found topic/partition: |"
    r"Syncing \d{1,9} assignments for generation \d|st(?:arted|opped) heartbeat for group|"
    r"st(?:arted|opped) (?:partition watcher|commit) for group|Failed to fetch offsets for group |leave group failed for group, |"
    r"committed offsets for group |sync group finished for group, |received empty assignments for group, "
)


class Reader:
    """Reads the lines of one file: what a leader sees stands in several lines."""

    def __init__(self) -> None:
        self.plan: dict[str, int] = {}

    def read(self, source: str, text: str) -> list[Fact] | None:
        """Return the facts of a line that begins at an anchor; None if kafka-go did not write it."""
        joined = _JOINED.match(text)
        if joined:
            member = joined["member"]
            return [
                ClientJoined(_client(member, source), joined["group"], member, int(joined["n"]))
            ]
        succeeded = _SUCCEEDED.match(text)
        if succeeded:
            return self._planned(source, succeeded)
        found = _MEMBER.match(text)
        if found:
            self.plan.setdefault(found["member"], 0)
            return []
        assigned = _ASSIGNED.match(text)
        if assigned:
            if assigned["member"] in self.plan:
                self.plan[assigned["member"]] += _partitions(text[assigned.end() :])
            return []
        if text.startswith("selected as leader"):
            self.plan = {}
            return []
        leaving = _LEAVING.match(text)
        if leaving:
            member = leaving["member"].strip()
            client = _client(member, source)
            return [ClientLeaving(client, leaving["group"], member or None, "")]
        changed = _CHANGED.match(text)
        if changed:
            return [ClientAsked(source, changed["group"], "cached metadata has changed")]
        failed = _FAILED.match(text)
        if failed:
            return _error(source, failed["group"], failed["error"])
        lost = _LOST.match(text)
        if lost:
            return [CoordinatorLost(source, lost["group"], lost["error"])]
        return [] if _PASSED.match(text) else None

    def _planned(self, source: str, found: re.Match[str]) -> list[Fact]:
        plan, self.plan = self.plan, {}
        if not plan:
            return []
        idle = tuple(member for member, count in plan.items() if not count)
        return [
            Assigned(
                _client(found["member"], source),
                found["group"],
                int(found["n"]),
                tuple(plan),
                idle,
                max(plan.values()),
            )
        ]


def _partitions(text: str) -> int:
    return len(text.partition("]")[0].split())


def _client(member: str, source: str) -> str:
    """Return the client id at the beginning of a member id, which the library makes of the
    program's name and its host if no client id is set."""
    return client_of(member) or source


def _error(client: str, group: str, error: str) -> list[Fact]:
    if "Unknown Member ID" in error:
        return [ClientRemoved(client, group, "UNKNOWN_MEMBER_ID")]
    if "Rebalance In Progress" in error:
        return [ClientAsked(client, group, "group is already rebalancing")]
    if "Inconsistent Group Protocol" in error:
        return [ProtocolRefused(client, group)]
    if "Not Coordinator For Group" in error:
        return [CoordinatorLost(client, group, "NOT_COORDINATOR")]
    return []
