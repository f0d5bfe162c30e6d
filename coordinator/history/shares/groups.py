"""Share groups (KIP-932) as a log tells them: who is a member, at which epoch, and what each has.

Everything it follows is durable, so a coordinator that loads a group has it, too. Does not know of
records: those are `records`.
"""

from __future__ import annotations

from typing import Final

from ...event_log.reader import Line
from ..blobs import Partitions
from ..consumer_groups import by_topic

KINDS: Final = frozenset(
    {
        "ShareGroupCreated",
        "ShareMemberSubscribed",
        "ShareMemberRemoved",
        "ShareGroupEpochBumped",
        "ShareTargetAssigned",
        "ShareMemberReconciled",
        "SharePartitionsRecorded",
    }
)
"""The events that change a share group."""


class ShareMember:
    """One member: who it is to its application, its epoch, what it subscribes to and has."""

    __slots__ = ("client_id", "epoch", "partitions", "topics")

    def __init__(self) -> None:
        self.client_id = ""
        self.epoch = 0
        self.topics: tuple[str, ...] = ()
        self.partitions: Partitions = {}


class ShareGroup:
    """One share group."""

    __slots__ = ("_left", "epoch", "members")

    def __init__(self) -> None:
        self.epoch = 1
        self._left = "", ""  # who left last, and its name
        self.members: dict[str, ShareMember] = {}

    def state(self) -> str:
        """The group's state as Kafka shows it."""
        return "Stable" if self.members else "Empty"

    def see(self, line: Line) -> None:
        """The next event of the group."""
        match line["type"]:
            case "ShareMemberSubscribed":
                member = self.members.setdefault(line["member"], ShareMember())
                member.client_id, member.topics = line["client_id"], tuple(line["topics"])
            case "ShareMemberRemoved":
                self._left = line["member"], self.name(line["member"])
                self.members.pop(line["member"], None)
            case "ShareGroupEpochBumped":
                self.epoch = line["group_epoch"]
            case "ShareMemberReconciled":
                member = self.members.setdefault(line["member"], ShareMember())
                member.epoch, member.partitions = (
                    line["member_epoch"],
                    by_topic(line["partitions"]),
                )

    def name(self, member_id: str) -> str:
        """A member's client id, where only one member has it; else its member id."""
        member = self.members.get(member_id)
        if member is None and member_id == self._left[0]:
            return self._left[1]
        if member is None or not member.client_id:
            return member_id
        alike = sum(other.client_id == member.client_id for other in self.members.values())
        return member.client_id if alike == 1 else member_id
