"""Share groups (KIP-932) in a log: the members, their epochs and their partitions.

All its events are durable, so a coordinator that loads a group knows the same. Records are in
`records`.
"""

from __future__ import annotations

from typing import Final, get_args

from coordinator.events.groups.share import (
    ShareEvent,
    ShareGroupEpochBumped,
    ShareMemberReconciled,
    ShareMemberRemoved,
    ShareMemberSubscribed,
)
from coordinator.events.handlers import Reader, on
from coordinator.events.line import Line

from ..blobs import Partitions
from ..groups.consumer_groups import by_topic

KINDS: Final = frozenset(get_args(ShareEvent))
"""Classes of the events that change a share group."""


class ShareMember:
    """One member: its client id, its epoch, its subscription and its partitions."""

    __slots__ = ("client_id", "epoch", "partitions", "topics")

    def __init__(self) -> None:
        self.client_id = ""
        self.epoch = 0
        self.topics: tuple[str, ...] = ()
        self.partitions: Partitions = {}


class ShareGroup(Reader):
    """One share group: call `see` for each of its events."""

    __slots__ = ("_left", "epoch", "members")

    def __init__(self) -> None:
        self.epoch = 1
        self._left = "", ""  # who left last, and its name
        self.members: dict[str, ShareMember] = {}

    def state(self) -> str:
        """Return the group's state as Kafka shows it."""
        return "Stable" if self.members else "Empty"

    @on(ShareMemberSubscribed)
    def _subscribed(self, line: Line, event: ShareMemberSubscribed) -> None:
        member = self.members.setdefault(event.member_id, ShareMember())
        member.client_id, member.topics = event.client_id, event.topics

    @on(ShareMemberRemoved)
    def _removed(self, line: Line, event: ShareMemberRemoved) -> None:
        self._left = event.member_id, self.name(event.member_id)
        self.members.pop(event.member_id, None)

    @on(ShareGroupEpochBumped)
    def _bumped(self, line: Line, event: ShareGroupEpochBumped) -> None:
        self.epoch = event.group_epoch

    @on(ShareMemberReconciled)
    def _reconciled(self, line: Line, event: ShareMemberReconciled) -> None:
        member = self.members.setdefault(event.member_id, ShareMember())
        member.epoch, member.partitions = event.member_epoch, by_topic(event.partitions)

    def name(self, member_id: str) -> str:
        """Return a member's client id if only one member has it, else its member id."""
        member = self.members.get(member_id)
        if member is None and member_id == self._left[0]:
            return self._left[1]
        if member is None or not member.client_id:
            return member_id
        alike = sum(other.client_id == member.client_id for other in self.members.values())
        return member.client_id if alike == 1 else member_id
