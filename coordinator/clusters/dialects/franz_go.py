"""Lines of franz-go, as its own logger writes them (`[INFO] joined; group: g, generation: 3`), as
logfmt and as JSON. They carry no client id: the member id's beginning is one."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..facts import (
    Assigned,
    ClientAsked,
    ClientFenced,
    ClientJoined,
    ClientJoining,
    ClientLeaving,
    ClientRemoved,
    CommitRefused,
    CoordinatorLost,
    Fact,
)
from ..stories.people import client_of

NAME = "franz-go"
_BASIC = re.compile(
    r"\[(?:INFO|DEBUG|WARN|ERR|ERROR)\] (?P<message>[^;]{1,200}); (?P<rest>.{0,4000})"
)
_LOGFMT = re.compile(
    r".{0,200}?\bmsg=\"?(?P<message>[^\"=]{1,200})\"? (?P<rest>\w{1,40}=.{0,4000})"
)
_PAIR = re.compile(r"(?P<key>\w{1,40})(?:: |=)\"?(?P<value>[^,\"\s]{1,400})")
_WHY = re.compile(
    r"\[(?:INFO|WARN)\] (?P<message>forced rejoin [^;]{1,100}); why: (?P<why>.{1,400})"
)
_JOINED = ("joined", "joined, balancing group")
_PASSED = (
    "syncing",
    "synced",
    "synced successfully",
    "new group session begun",
    "beginning heartbeat loop",
    "heartbeat loop complete",
    "heartbeat loop ending, waiting for heartbeat goroutine to exit",
    "eager consumer revoking prior assigned partitions",
    "cooperative consumer calling onRevoke",
    "beginning autocommit loop",
    "balancing group as leader",
    "balanced",
    "assigning partitions",
    "assigning partitions requires loading offsets",
    "beginning to manage the group lifecycle",
    "cooperative consumer revoking prior assigned partitions because leaving group",
    "cooperative consumer calling onRevoke at the end of a session even though no partitions were lost",
    "join returned UnknownMemberID, rejoining without a member id",
    "sync failed with RebalanceInProgress, rejoining",
    "joined as leader but unable to balance group due to KIP-345 limitations",
    "sync assignment parse failed",
    "sync group failed",
    "fetch offsets failed",
    "fetch offsets failed due to context cancelation",
    "fetch offsets failed with non-retryable error",
    "fetch offsets failed with UnstableOffsetCommit, waiting 1s and retrying",
    "heartbeat errored again while waiting for user revoke to finish",
    "member was assigned topic that we did not ask for in ConsumeTopics! skipping assigning this topic!",
    "unable to commit offset for topic partition",
    "default commit failed",
    "in default commit: unable to commit offsets for topic partition",
    "immediate metadata update triggered",
)
_FORCED = "forced rejoin quitting heartbeat loop"
"""The line with the client's own reason; it does not name the group."""


class Reader:
    """Reads the lines of one file. Keeps state, because most lines name only the group."""

    def __init__(self) -> None:
        self.clients: dict[str, str] = {}

    def read(
        self, source: str, text: str, fields: Mapping[str, object] | None
    ) -> list[Fact] | None:
        """Return the facts of a line; None if franz-go did not write it."""
        message, values = _parts(text, fields)
        group = values.get("group")
        if message == _FORCED and len(self.clients) == 1:
            ((group, client),) = self.clients.items()
            return [ClientAsked(client, group, values.get("why", ""))]
        if group is None or not message:
            return None
        member = values.get("member_id")
        if member:
            self.clients[group] = client_of(member) or source
        client = self.clients.get(group, source)
        if message in _JOINED:
            number = values.get("generation", "")
            if not number.isdecimal():
                return []
            facts: list[Fact] = [ClientJoined(client, group, member, int(number))]
            if values.get("leader", "").lower() == "true":
                facts.append(Assigned(client, group, int(number), ()))
            return facts
        if message == "joining group":
            return [ClientJoining(client, group)]
        if message.startswith("join returned MemberIDRequired") and member:
            reason = f"need to re-join with the given member-id: {member}"
            return [ClientAsked(client, group, reason)]
        if message.startswith(_TROUBLE):
            return _error(client, group, values.get("err", ""))
        if message.startswith("leaving group"):
            return [ClientLeaving(client, group, member, "")]
        if "commit" in message and values.get("err", "").startswith(_NOT_IN_IT):
            return [CommitRefused(client, group)]
        return [] if message in _PASSED else None


_TROUBLE = ("heartbeat errored", "join group failed", "join and sync loop errored", "sync failed")
_NOT_IN_IT = ("UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "STALE_MEMBER_EPOCH", "REBALANCE_IN")


def _error(client: str, group: str, error: str) -> list[Fact]:
    name = error.partition(":")[0]
    if name == "REBALANCE_IN_PROGRESS":
        return [ClientAsked(client, group, "group is already rebalancing")]
    if name in ("UNKNOWN_MEMBER_ID", "FENCED_MEMBER_EPOCH"):
        return [ClientRemoved(client, group, name)]
    if name == "FENCED_INSTANCE_ID":
        return [ClientFenced(client, group, None)]
    if name in ("NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE"):
        return [CoordinatorLost(client, group, name)]
    return []


def _parts(text: str, fields: Mapping[str, object] | None) -> tuple[str, dict[str, str]]:
    if fields is not None:
        values = {key: str(value) for key, value in fields.items() if isinstance(value, str | int)}
        return text, values
    forced = _WHY.search(text, 0, 400) if "forced rejoin " in text else None
    if forced:
        return forced["message"], {"why": forced["why"]}
    found = _BASIC.search(text, 0, 400) if "; group: " in text else None
    if found is None and " group=" in text:
        found = _LOGFMT.match(text)
    if found is None:
        return "", {}
    return found["message"].strip(), {
        pair["key"]: pair["value"] for pair in _PAIR.finditer(found["rest"])
    }
