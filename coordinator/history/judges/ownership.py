"""Judges of ownership: a partition never has two owners in one generation, and gets a new owner
only after the former one has given it up."""

from __future__ import annotations

from coordinator.events.cluster import TopicDeleted
from coordinator.events.groups import GroupDeleted, GroupLoaded
from coordinator.events.groups.classic import (
    GenerationStarted,
    GenerationStored,
    MemberJoined,
    MemberRejoined,
    MemberRemoved,
    MemberReplaced,
)
from coordinator.events.groups.consumer import (
    ConsumerGroupDowngraded,
    ConsumerMemberReconciled,
    ConsumerMemberRemoved,
    ConsumerMemberReplaced,
    ConsumerMemberSubscribed,
)
from coordinator.events.handlers import on
from coordinator.events.members import PartitionsAssigned, PartitionsLost, PartitionsRevoked

from ..world.blobs import owners_of
from ..world.groups.consumer_groups import CHANGES, LEFT_FOR_NOW, ConsumerGroup, TopicPartition
from .base import Judge, KnowsConsumerGroups, Line


class SingleOwner(KnowsConsumerGroups):
    """Judges that a partition has one owner: within a generation, and in a consumer group at
    every instant."""

    name = "single_owner"
    promise = (
        "within a generation each partition has at most one owner. In a consumer group a partition is assigned to a member only "
        "after its former owner has revoked it. Groups whose assignments are not those of consumers are not judged"
    )

    @on(*CHANGES)
    def _changed(self, line: Line, event: object) -> None:
        group = self.consumers.see(line)
        if group is not None and isinstance(
            event, ConsumerMemberReconciled | ConsumerMemberReplaced
        ):
            self._see_member(line, event.member_id, group)

    @on(GenerationStored)
    def _stored(self, line: Line, event: GenerationStored) -> None:
        if event.protocol_type != "consumer":
            return
        for (topic, number), members in owners_of(event).items():
            if len(members) > 1:
                names = " and ".join(members)
                self.blame(
                    line,
                    f"{topic}-{number} was assigned to {names} in generation {event.generation}",
                )

    def _see_member(self, line: Line, name: str, group: ConsumerGroup) -> None:
        """Blame the line if the member was given a partition that another member of the consumer
        group still has (K8-REC-5)."""
        had = group.members[name]
        for partition in {**had.held, **had.revoking}:
            for other in group.having(partition):
                if other != name:
                    where, since = (
                        f"{partition[0]}-{partition[1]}",
                        group.members[other].had_since(partition),
                    )
                    self.blame(
                        line,
                        f"{where} was assigned to {name} at epoch {had.epoch}, but {other} has had it since epoch {since}",
                    )


class RevokedBeforeAssigned(Judge):
    """Judges, by the members' own lines, that a partition gets a new owner only after the former
    one has given it up."""

    name = "revoked_before_assigned"
    promise = (
        "a partition is passed to a member's listener only after its former owner has lost it in one of these ways: its own "
        "listener was called (revoked or lost); the coordinator removed it; a generation began for which it, a static member, did "
        "not rejoin in time; its successor replaced it (a successor owns nothing until it gets its assignment); or the group was "
        "deleted. A member that was removed or replaced and does not know it yet owns nothing, and neither does a member that "
        "learns late of a generation that has ended. A static member of a consumer group that left temporarily keeps only what it "
        "did not have to revoke (K8-LV-2). A topic that was deleted and created again with the same name is a different topic"
    )
    needs = frozenset({"group", "member"})

    def __init__(self) -> None:
        super().__init__()
        self._holders: dict[str, dict[TopicPartition, str]] = {}
        """The owner of each partition, by group."""
        self._rejoined: dict[str, set[str]] = {}
        self._static: set[tuple[str, str]] = set()
        self._removed: set[tuple[str, str]] = set()
        self._generations: dict[str, int] = {}
        """The latest generation of each classic group."""
        self._of_client: dict[tuple[str, str], str] = {}
        """The member id of each client. The client itself has forgotten it when it logs that its
        partitions are lost."""

    @on(PartitionsAssigned)
    def _told(self, line: Line, event: PartitionsAssigned) -> None:
        group, member = line.group or "", line.member or ""
        # who was paused may be told of a generation that is over, and owns nothing by that
        late = (line.generation or 0) < self._generations.get(group, 0)
        if not late and (group, member) not in self._removed:
            self._of_client[group, event.client] = member
            self._assigned(line, event, group, member)

    @on(PartitionsRevoked, PartitionsLost)
    def _gave_up(self, line: Line, event: PartitionsRevoked | PartitionsLost) -> None:
        group = line.group or ""
        member = line.member or self._of_client.get((group, event.client), "")
        held = self._held(group)
        for place in event.partitions:
            if held.get(place) == member:
                del held[place]

    def _held(self, group: str) -> dict[TopicPartition, str]:
        return self._holders.setdefault(group, {})

    def _owns_nothing(self, group: str, member: str) -> None:
        held = self._held(group)
        for place in [place for place, holder in held.items() if holder == member]:
            del held[place]

    @on(MemberJoined)
    def _joined(self, line: Line, event: MemberJoined) -> None:
        whose = line.group or "", event.member_id
        self._removed.discard(whose)
        self._rejoined.setdefault(line.group or "", set()).add(event.member_id)
        if event.group_instance_id is not None:
            self._static.add(whose)

    @on(MemberRejoined)
    def _joined_again(self, line: Line, event: MemberRejoined) -> None:
        self._rejoined.setdefault(line.group or "", set()).add(event.member_id)

    @on(ConsumerMemberSubscribed)
    def _subscribed(self, line: Line, event: ConsumerMemberSubscribed) -> None:
        self._removed.discard((line.group or "", event.member_id))

    @on(MemberRemoved, ConsumerMemberRemoved)
    def _is_removed(self, line: Line, event: MemberRemoved | ConsumerMemberRemoved) -> None:
        whose = line.group or "", event.member_id
        self._removed.add(whose)
        self._owns_nothing(*whose)

    @on(MemberReplaced, ConsumerMemberReplaced)
    def _replaced(self, line: Line, event: MemberReplaced | ConsumerMemberReplaced) -> None:
        """A static member that comes back owns nothing until it is assigned partitions. It may
        have rejoined before this line."""
        group = line.group or ""
        old = group, event.replaced
        self._removed.add(old)
        if isinstance(event, MemberReplaced):
            self._static.add((group, event.member_id))
            if event.parked:
                self._rejoined.setdefault(group, set()).add(event.member_id)
        self._owns_nothing(*old)

    @on(GroupLoaded)
    def _loaded(self, line: Line, _: GroupLoaded) -> None:
        """A coordinator loads the members of the stored generation (ERR-7)."""
        self._removed = {key for key in self._removed if key[0] != line.group}
        self._generations.pop(line.group or "", None)

    @on(GenerationStarted)
    def _began(self, line: Line, event: GenerationStarted) -> None:
        """A static member that did not rejoin stays in the group, and its client does not know
        of the new generation (KIP-345)."""
        group = line.group or ""
        self._generations[group] = event.generation
        rejoined = self._rejoined.pop(group, set())
        held = self._held(group)
        for place, holder in list(held.items()):
            if holder not in rejoined and (group, holder) in self._static:
                del held[place]

    @on(GroupDeleted)
    def _deleted(self, line: Line, _: GroupDeleted) -> None:
        self._generations.pop(line.group or "", None)
        self._holders.pop(line.group or "", None)

    @on(ConsumerMemberReconciled)
    def _reconciled(self, line: Line, event: ConsumerMemberReconciled) -> None:
        if event.member_epoch != LEFT_FOR_NOW:
            return
        kept = {(row.topic, number) for row in event.held for number in row.partitions}
        held = self._held(line.group or "")
        for place, holder in list(held.items()):
            if holder == event.member_id and place not in kept:
                del held[place]

    @on(TopicDeleted)
    def _topic_deleted(self, _: Line, event: TopicDeleted) -> None:
        for held in self._holders.values():
            for place in [place for place in held if place[0] == event.topic]:
                del held[place]

    @on(ConsumerGroupDowngraded)
    def _downgraded(self, line: Line, event: ConsumerGroupDowngraded) -> None:
        for member in event.left:
            self._owns_nothing(line.group or "", member)

    def _assigned(self, line: Line, event: PartitionsAssigned, group: str, member: str) -> None:
        held = self._held(group)
        for place in event.partitions:
            holder = held.get(place)
            if holder is not None and holder != member:
                self.blame(line, f"{member} got {place[0]}-{place[1]} while {holder} still had it")
            held[place] = member
