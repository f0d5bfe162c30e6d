"""Lines of brod, the client in Erlang, also in Elixir's applications (broadway_kafka, kaffe). A
record has two lines: group, process and generation in the first, what happened in the second."""

from __future__ import annotations

import re

from ..facts import (
    ClientAsked,
    ClientJoined,
    ClientLeaving,
    ClientRemoved,
    CoordinatorLost,
    Fact,
    SessionTimedOut,
)
from ..stories.people import client_of

NAME = "brod"
ANCHORS = ("Group member (", "roup coordinator (groupId=")
_MEMBER = re.compile(
    r"Group member \((?P<group>[^,()]{1,300}),coor=(?:#PID)?(?P<pid><[\d.]{1,40}>),cb=[^,]{1,60},generation=(?P<n>\d{1,10})\):"
)
_OLDER = re.compile(
    r"roup coordinator \(groupId=(?P<group>[^,()]{1,300}),memberId=(?P<member>.{0,400}?),generation=(?P<n>\d{1,10}),"
    r"pid=(?:#PID)?(?P<pid><[\d.]{1,40}>)\):"
)
_REASON = re.compile(r"re-joining group, reason: ?:?(?P<why>.{1,400})")
_FAILED = re.compile(r"reason: ?:?(?P<why>.{1,400})")


class Reader:
    """Reads the lines of one file."""

    def __init__(self) -> None:
        self.head: re.Match[str] | None = None
        self.failed = False

    @property
    def open(self) -> bool:
        """Return True if the line before has only the first half of a record."""
        return self.head is not None

    def read(self, source: str, text: str) -> list[Fact] | None:
        """Return the facts of a line; None if brod did not write it."""
        begin = max(text.find(anchor, 0, 200) for anchor in ANCHORS)
        if begin >= 0:
            head = _MEMBER.match(text, begin) or _OLDER.match(text, begin)
            if head is None:
                return None
            self.head, self.failed = head, False
            rest = text[head.end() :].strip()
            return self._facts(source, rest) if rest else []
        if self.head is None:
            return None
        return self._facts(source, text.strip())

    def _facts(self, source: str, text: str) -> list[Fact] | None:
        head = self.head
        assert head is not None
        if text.startswith("failed to join group"):
            self.failed = True
            text = text[len("failed to join group") :].strip()
            if not text:
                return []
        group, client, member = head["group"], _client(head, source), _member(head)
        failed = _FAILED.match(text) if self.failed else None
        self.head, self.failed = None, False
        if text.startswith(("elected=", "assignments received")):
            return [ClientJoined(client, group, member, int(head["n"]))]
        if text.lower().startswith("leaving group"):
            if "hb_timeout" in text:
                return [SessionTimedOut(client, group, None)]
            return [ClientLeaving(client, group, member, "")]
        why = _REASON.match(text) or failed
        if why:
            return _because(client, group, why["why"])
        return None


def _client(head: re.Match[str], source: str) -> str:
    """Return the name of a member: its client id if the line has its member id, else the process
    in Erlang's notation, for a file may have several."""
    member = _member(head)
    return (client_of(member) if member else None) or head["pid"] or source


def _member(head: re.Match[str]) -> str | None:
    return head.groupdict().get("member") or None


def _because(client: str, group: str, why: str) -> list[Fact]:
    name = why.strip().lower().replace("_", "")
    if name.startswith("rebalanceinprogress"):
        return [ClientAsked(client, group, "group is already rebalancing")]
    if name.startswith("unknownmemberid"):
        return [ClientRemoved(client, group, "UNKNOWN_MEMBER_ID")]
    if name.startswith("notcoordinator"):
        return [CoordinatorLost(client, group, "NOT_COORDINATOR")]
    if name.startswith("topics"):
        return [ClientAsked(client, group, "the subscription has changed")]
    if "connectiondown" in name:
        return [CoordinatorLost(client, group, why)]
    return []
