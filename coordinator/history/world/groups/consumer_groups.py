"""Consumer groups (KIP-848) in a log: the members, their epochs, their partitions, those that they
have to revoke, and their targets.

The only reader of these events, for explanation, judges, tables and the page. All its events are
durable, so a coordinator that loads a group knows the same. A member's partitions are read from
a line only when they are asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from coordinator.events.cluster import TopicDeleted
from coordinator.events.groups import GroupDeleted
from coordinator.events.groups.consumer import (
    ConsumerGroupCreated,
    ConsumerGroupDowngraded,
    ConsumerGroupUpgraded,
    ConsumerMemberReconciled,
    ConsumerMemberRemoved,
    ConsumerMemberReplaced,
    ConsumerMemberSubscribed,
    GroupEpochBumped,
    HeldPartitions,
    MembershipReset,
    TargetAssigned,
    TopicPartitions,
)
from coordinator.events.line import Line

from ..blobs import Partitions

TopicPartition = tuple[str, int]
Held = tuple[HeldPartitions, ...]

LEFT_FOR_NOW: Final = -2
"""The member epoch of a static member that left temporarily."""
_STABLE: Final = "stable"
_CLASSIC_FROM_NOW_ON: Final = frozenset({ConsumerGroupDowngraded, MembershipReset})
BEGINNINGS: Final = frozenset({ConsumerGroupCreated, ConsumerGroupUpgraded})
KINDS: Final = frozenset(
    {
        *BEGINNINGS,
        *_CLASSIC_FROM_NOW_ON,
        GroupDeleted,
        ConsumerMemberSubscribed,
        ConsumerMemberReplaced,
        ConsumerMemberRemoved,
        ConsumerMemberReconciled,
        GroupEpochBumped,
        TargetAssigned,
    }
)
"""Classes of the events that change a consumer group."""
CHANGES: Final = KINDS | {TopicDeleted}
"""Classes of all events that change what is known here."""


class ConsumerMember:
    """One member: its epoch, whether it is on the way to another assignment, and its partitions."""

    __slots__ = ("_held", "_revoking", "_rows", "epoch", "state")

    def __init__(self) -> None:
        self.epoch = 0
        self.state = _STABLE
        self._rows: tuple[Held, Held] | None = None
        self._held: dict[TopicPartition, int] = {}
        self._revoking: dict[TopicPartition, int] = {}

    def take(self, event: ConsumerMemberReplaced | ConsumerMemberReconciled) -> None:
        """Handle an event with a member's new partitions."""
        self.state = event.state
        self._rows = event.held, event.revoking

    @property
    def held(self) -> dict[TopicPartition, int]:
        """The member's partitions, each with the epoch since which it has it."""
        self._read()
        return self._held

    @property
    def revoking(self) -> dict[TopicPartition, int]:
        """The partitions that the member was told to revoke and has not revoked yet, each with
        the epoch since which it has it."""
        self._read()
        return self._revoking

    def had_since(self, partition: TopicPartition) -> int | None:
        """Return the epoch since which it has a partition, or None."""
        return self.held.get(partition, self.revoking.get(partition))

    def _read(self) -> None:
        if self._rows is not None:
            held, revoking = self._rows
            self._held, self._revoking, self._rows = _since(held), _since(revoking), None


class ConsumerGroup:
    """One consumer group. Change `members` and their partitions by its methods only: they keep
    counts."""

    __slots__ = (
        "_at_rest",
        "_clients",
        "_having",
        "_targets",
        "assignment_epoch",
        "epoch",
        "members",
    )

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.assignment_epoch = 0
        self.members: dict[str, ConsumerMember] = {}
        self._clients: dict[str, str] = {}
        self._targets: dict[str, tuple[TopicPartitions, ...]] = {}
        self._at_rest: Counter[int] = Counter()
        """The number of members that have their whole target, by epoch."""
        self._having: dict[TopicPartition, list[str]] | None = None
        """The members that have each partition; None until it is asked for."""

    def state(self) -> str:
        """Return the group's state as Kafka shows it."""
        if not self.members:
            return "Empty"
        if self.epoch > self.assignment_epoch:
            return "Assigning"
        at_rest = self._at_rest[self.assignment_epoch] == len(self.members)
        return "Stable" if at_rest else "Reconciling"

    def rests(self) -> bool:
        """Return True if every member has its whole target at the group's epoch, or there is no
        member."""
        return self._at_rest[self.epoch] == len(self.members)

    def target(self, member: str) -> Partitions:
        """Return a member's target."""
        return by_topic(self._targets.get(member, ()))

    def client_id(self, member: str) -> str:
        """Return the client id of a member; "" if the log does not have it."""
        return self._clients.get(member, "")

    def having(self, partition: TopicPartition) -> list[str]:
        """Return the members that have a partition or have yet to revoke it; more than one is a
        violation."""
        if self._having is None:
            self._having = {}
            for name, member in self.members.items():
                self._count_having(name, member, 1)
        return self._having.get(partition, [])

    def follow(self, event: object) -> None:
        """Handle one event of the group, except those that begin or end it."""
        match event:
            case GroupEpochBumped(epoch):
                self.epoch = epoch
            case TargetAssigned(epoch, _, targets):
                self.assignment_epoch = epoch
                self._targets.update((each.member_id, each.topics) for each in targets)
            case ConsumerMemberRemoved(member):
                self._remove(member)
                self._targets.pop(member, None)
                self._clients.pop(member, None)
            case ConsumerMemberReplaced(member, replaced, subscription):
                self._remove(replaced)
                self._put(member, 0, event)
                self._clients.pop(replaced, None)
                self._clients[member] = subscription.client_id
                if replaced in self._targets:
                    self._targets[member] = self._targets.pop(replaced)
            case ConsumerMemberReconciled(member, epoch):
                self._put(member, epoch, event)
            case ConsumerMemberSubscribed(member):
                self._clients[member] = event.client_id
                if member not in self.members:
                    self._put(member, 0, None)

    def rename(self, topic: str, topic_id: str) -> None:
        """Note that a topic has another name."""
        self._having = None
        for member in self.members.values():
            for had in (member.held, member.revoking):
                for partition in [each for each in had if each[0] == topic]:
                    had[topic_id, partition[1]] = had.pop(partition)

    def _put(
        self,
        name: str,
        epoch: int,
        event: ConsumerMemberReplaced | ConsumerMemberReconciled | None,
    ) -> None:
        self._remove(name)
        member = self.members[name] = ConsumerMember()
        member.epoch = epoch
        if event is not None:
            member.take(event)
        self._count(name, member, 1)

    def _remove(self, name: str) -> None:
        member = self.members.pop(name, None)
        if member is not None:
            self._count(name, member, -1)

    def _count(self, name: str, member: ConsumerMember, by: int) -> None:
        if member.state == _STABLE:
            self._at_rest[member.epoch] += by
        if self._having is not None:
            self._count_having(name, member, by)

    def _count_having(self, name: str, member: ConsumerMember, by: int) -> None:
        assert self._having is not None
        for partition in {**member.held, **member.revoking}:
            if by > 0:
                self._having.setdefault(partition, []).append(name)
            else:
                self._having[partition].remove(name)
                if not self._having[partition]:
                    del self._having[partition]


class ConsumerGroups:
    """The consumer groups of a log, as far as it has been read."""

    def __init__(self) -> None:
        self.groups: dict[str, ConsumerGroup] = {}
        self._last: Line | None = None
        self._changed: ConsumerGroup | None = None

    def see(self, line: Line) -> ConsumerGroup | None:
        """Handle a line, even if it is shown again. Return its group if the line changed it and
        it is a consumer group after that."""
        if line is not self._last:
            self._last, self._changed = line, self._fold(line)
        return self._changed

    def get(self, name: str) -> ConsumerGroup | None:
        """Return a group, or None if it is no consumer group."""
        return self.groups.get(name)

    def _fold(self, line: Line) -> ConsumerGroup | None:
        kind = line.kind
        if kind is TopicDeleted:
            # From now on lines name it by its id; a topic that is made under its name is another.
            for each in self.groups.values():
                each.rename(line.event.topic, line.event.topic_id.hex())
        if kind not in KINDS:
            return None
        name, event = line.group or "", line.event
        if kind in BEGINNINGS:
            began = event.group_epoch if isinstance(event, ConsumerGroupUpgraded) else 1
            self.groups[name] = ConsumerGroup(began)
        elif kind in _CLASSIC_FROM_NOW_ON or kind is GroupDeleted:
            self.groups.pop(name, None)
            return None
        group = self.groups.get(name)
        if group is None:
            group = self.groups[name] = ConsumerGroup(0)
        group.follow(event)
        return group


def topic_of(row: TopicPartitions | HeldPartitions) -> str:
    """Return the name of a topic; for a deleted one its id in hexadecimal."""
    return row.topic or row.topic_id.hex()


def by_topic(rows: Iterable[TopicPartitions | HeldPartitions]) -> Partitions:
    """Return rows of topics and partitions as a mapping. A deleted topic is named by its id."""
    return {topic_of(row): tuple(sorted(row.partitions)) for row in rows}


def _since(rows: Held) -> dict[TopicPartition, int]:
    return {
        (topic_of(row), number): epoch
        for row in rows
        for number, epoch in zip(row.partitions, row.epochs, strict=True)
    }
