"""What judges know of consumer groups (KIP-848): who is a member, at which epoch, and what it has,
folded from the events' lines.

Owns no promise. Everything it follows is durable, so that a coordinator that loads a group has it,
too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from .base import Judge, Line

TopicPartition = tuple[str, int]

LEFT_FOR_NOW = -2
_STABLE = "stable"
KINDS = frozenset(
    {
        "ConsumerGroupCreated",
        "ConsumerGroupUpgraded",
        "ConsumerGroupDowngraded",
        "MembershipReset",
        "GroupDeleted",
        "ConsumerMemberSubscribed",
        "ConsumerMemberReplaced",
        "ConsumerMemberRemoved",
        "ConsumerMemberReconciled",
        "GroupEpochBumped",
    }
)
"""The events that change a consumer group."""
CHANGES = KINDS | {"TopicDeleted"}
"""All events that change what is known here."""


class ConsumerSeen:
    """One member: its epoch, whether it is on the way to another assignment, and what it has."""

    __slots__ = ("epoch", "held", "revoking", "state")

    def __init__(self) -> None:
        self.epoch = 0
        self.state = _STABLE
        self.held: dict[TopicPartition, int] = {}
        """Each partition, and since which epoch the member has it."""
        self.revoking: dict[TopicPartition, int] = {}
        """The same of what it was told to give up, and has not yet."""

    def take(self, line: Line) -> None:
        """What the line says of it holds from now on."""
        self.state = line["state"]
        self.held, self.revoking = (
            dict(_partitions(line["held"])),
            dict(_partitions(line["revoking"])),
        )

    def had_since(self, partition: TopicPartition) -> int | None:
        """Since which epoch it has a partition; None: it has not."""
        return self.held.get(partition, self.revoking.get(partition))


class GroupSeen:
    """One consumer group. `members` and what they have are changed by its methods only, which count
    along."""

    __slots__ = ("_at_rest", "_having", "epoch", "members")

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.members: dict[str, ConsumerSeen] = {}
        self._at_rest: Counter[int] = Counter()
        """How many members have all of their target, by their epochs."""
        self._having: dict[TopicPartition, list[str]] = {}

    def rests(self) -> bool:
        """Has every member all of its target at the group's epoch, or is there none?"""
        return self._at_rest[self.epoch] == len(self.members)

    def having(self, partition: TopicPartition) -> list[str]:
        """Who has a partition, or is still to give it up: more than one of them break a promise."""
        return self._having.get(partition, [])

    def put(self, name: str, epoch: int | None = None, line: Line | None = None) -> None:
        """A member, new or not, is at an epoch and has what a line says; None: both are as
        before."""
        before = self.members.get(name)
        member = before or ConsumerSeen()
        if before is not None:
            self._count(name, member, -1)
        self.members[name] = member
        member.epoch = member.epoch if epoch is None else epoch
        if line is not None:
            member.take(line)
        self._count(name, member, 1)

    def remove(self, name: str) -> None:
        """It is a member no more, if it was one."""
        member = self.members.pop(name, None)
        if member is not None:
            self._count(name, member, -1)

    def rename(self, topic: str, topic_id: str) -> None:
        """A topic has another name from now on."""
        for name, member in self.members.items():
            self._count(name, member, -1)
            for had in (member.held, member.revoking):
                for partition in [each for each in had if each[0] == topic]:
                    had[topic_id, partition[1]] = had.pop(partition)
            self._count(name, member, 1)

    def _count(self, name: str, member: ConsumerSeen, by: int) -> None:
        if member.state == _STABLE:
            self._at_rest[member.epoch] += by
        for partition in {**member.held, **member.revoking}:
            if by > 0:
                self._having.setdefault(partition, []).append(name)
            else:
                self._having[partition].remove(name)
                if not self._having[partition]:
                    del self._having[partition]


class ConsumerGroups:
    """The consumer groups of a log, as far as it was seen."""

    def __init__(self) -> None:
        self.groups: dict[str, GroupSeen] = {}
        self._last: Line = {}
        self._changed: GroupSeen | None = None

    def see(self, line: Line) -> GroupSeen | None:
        """Fold a line, also if it is shown again; the group it is about, if that is a consumer
        group after it and the line changed it."""
        if line is not self._last:
            self._last, self._changed = line, self._fold(line)
        return self._changed

    def _fold(self, line: Line) -> GroupSeen | None:
        kind = line["type"]
        if kind == "TopicDeleted":
            self._topic_deleted(line["topic"], line["topic_id"])
        if kind not in KINDS:
            return None
        name = line["group"]
        if kind in ("ConsumerGroupCreated", "ConsumerGroupUpgraded"):
            self.groups[name] = GroupSeen(line.get("group_epoch", 0))
        elif kind in ("ConsumerGroupDowngraded", "MembershipReset", "GroupDeleted"):
            self.groups.pop(name, None)
            return None
        group = self.groups.setdefault(name, GroupSeen(0))
        if kind == "GroupEpochBumped":
            group.epoch = line["group_epoch"]
        elif "member" in line:
            _fold_member(group, line)
        return group

    def _topic_deleted(self, name: str, topic_id: str) -> None:
        """From now on lines name it by its id; a topic that is made under its name is another
        one."""
        for group in self.groups.values():
            group.rename(name, topic_id)

    def get(self, name: str) -> GroupSeen | None:
        """A group; None if it is no consumer group."""
        return self.groups.get(name)


class KnowsConsumerGroups(Judge):
    """A judge to whom consumer groups are known. Those of one panel know them together: each shows
    them what it is shown itself."""

    def __init__(self) -> None:
        super().__init__()
        self.consumers = ConsumerGroups()


def _fold_member(group: GroupSeen, line: Line) -> None:
    kind, name = line["type"], line["member"]
    if kind == "ConsumerMemberRemoved":
        group.remove(name)
    elif kind == "ConsumerMemberReplaced":
        group.remove(line["replaced"])
        group.put(name, 0, line)
    elif kind == "ConsumerMemberReconciled":
        group.put(name, line["member_epoch"], line)
    else:
        group.put(name)


def _partitions(topics: list[dict[str, Any]]) -> Iterator[tuple[TopicPartition, int]]:
    for topic in topics:
        name = topic["topic"] or topic["topic_id"]
        for number, epoch in zip(topic["partitions"], topic["epochs"], strict=True):
            yield (name, number), epoch
