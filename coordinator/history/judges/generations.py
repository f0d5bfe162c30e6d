"""Judges that generations and epochs only grow, that each generation has one leader, which is a
member, and that one member at a time has a static identity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from coordinator.events.cluster import PartitionChanged, PartitionsAdded, TopicCreated
from coordinator.events.groups import GroupDeleted, GroupLoaded, GroupUnloaded
from coordinator.events.groups.classic import (
    GenerationStarted,
    GenerationStored,
    GroupEmptied,
    MemberJoined,
    MemberRemoved,
    MemberReplaced,
)
from coordinator.events.groups.consumer import (
    ConsumerGroupCreated,
    ConsumerGroupDowngraded,
    ConsumerGroupUpgraded,
    ConsumerMemberReconciled,
    ConsumerMemberRemoved,
    ConsumerMemberReplaced,
    ConsumerMemberSubscribed,
    GroupEpochBumped,
    MembershipReset,
)
from coordinator.events.handlers import kinds_of, on

from ..world.groups.consumer_groups import LEFT_FOR_NOW
from .base import Judge, Line
from .elections import Elections

_GENERATIONS_KEPT: Final = 3
_COPIED_WITHIN_MS: Final = 60_000
"""A coordinator's write that is older than this is on all replicas in sync; slower replicas have
left the ISR (replica.lag.time.max.ms)."""


class _Holder(NamedTuple):
    member: str
    since: int


class GenerationsGrow(Judge):
    """Judges that a group's generation never goes back, nor do the epochs of a consumer group."""

    name = "generations_grow"
    promise = (
        "a group's generation never decreases, and no generation begins twice (a deleted group starts anew, a loaded one "
        "continues with the stored generation). The group epoch and the member epochs of a consumer group never decrease either"
    )

    def __init__(self) -> None:
        super().__init__()
        self._generations: dict[str, int] = {}
        self._group_epochs: dict[str, int] = {}
        self._member_epochs: dict[tuple[str, str], int] = {}

    @on(*kinds_of("group"))
    def _of_group(self, line: Line, event: object) -> None:
        group = line.group or ""
        match event:
            case (
                GroupDeleted()
                | GroupUnloaded()
                | GroupLoaded()
                | ConsumerGroupCreated()
                | MembershipReset()
            ):
                self._begins_anew(group)
                return
            case GroupEpochBumped(epoch):
                self._bumped(line, group, epoch)
            case ConsumerMemberRemoved(member) | ConsumerMemberReplaced(member):
                self._member_epochs.pop((group, member), None)
            case ConsumerMemberReconciled(member, epoch):
                self._reconciled(line, (group, member), epoch)
        generation, before = line.generation, self._generations.get(group)
        if generation is None:
            return
        if before is not None and generation < before:
            self.blame(line, f"generation {generation} of group {group} after {before}")
        elif generation == before and isinstance(event, GenerationStarted | GroupEmptied):
            self.blame(line, f"generation {generation} of group {group} began twice")
        self._generations[group] = generation

    def _begins_anew(self, group: str) -> None:
        self._generations.pop(group, None)
        self._group_epochs.pop(group, None)
        self._member_epochs = {
            key: epoch for key, epoch in self._member_epochs.items() if key[0] != group
        }

    def _bumped(self, line: Line, group: str, epoch: int) -> None:
        before = self._group_epochs.get(group)
        if before is not None and epoch <= before:
            self.blame(line, f"epoch {epoch} of group {group} after {before}")
        self._group_epochs[group] = epoch

    def _reconciled(self, line: Line, key: tuple[str, str], epoch: int) -> None:
        before = self._member_epochs.get(key)
        if before is not None and LEFT_FOR_NOW < epoch < before:
            self.blame(line, f"{key[1]} is at epoch {epoch} after {before}")
        self._member_epochs[key] = epoch


class OneLeader(Judge):
    """Judges that each generation has one leader, which is a member."""

    name = "one_leader"
    promise = "each generation with members has exactly one leader, and the leader is one of them"

    def __init__(self) -> None:
        super().__init__()
        self._leaders: dict[tuple[str, int], str] = {}

    @on(GroupDeleted, GroupUnloaded, GroupLoaded)
    def _begins_again(self, line: Line, _: GroupDeleted | GroupUnloaded | GroupLoaded) -> None:
        """Forget the leaders of the group's generations: a generation that was not stored begins
        again (ERR-7)."""
        self._leaders = {
            key: leader for key, leader in self._leaders.items() if key[0] != line.group
        }

    @on(GenerationStarted)
    def _started(self, line: Line, event: GenerationStarted) -> None:
        self._is_led(line, event.generation, event.leader, event.members)
        other = self._leaders.setdefault((line.group or "", event.generation), event.leader)
        if other != event.leader:
            self.blame(
                line,
                f"generation {event.generation} has two leaders, {other} and {event.leader}",
            )

    @on(GenerationStored)
    def _stored(self, line: Line, event: GenerationStored) -> None:
        members = [member.member_id for member in event.members]
        self._is_led(line, event.generation, event.leader, members)

    def _is_led(
        self, line: Line, generation: int, leader: str | None, members: Sequence[str]
    ) -> None:
        if members and leader not in members:
            self.blame(
                line, f"generation {generation} is led by {leader}, which is not a member of it"
            )


class StaticIdentity(Judge):
    """Judges that a group instance id belongs to one member at a time."""

    name = "static_identity"
    promise = (
        "a group instance id belongs to one member at a time: a later member with the same id replaces and fences the earlier one "
        "(KIP-345). A coordinator that loads a group has the members of the loaded generation. If it loads a consumer group, "
        "changes of the last minute may be missing, because a broker that crashed may not have replicated them"
    )

    def __init__(self) -> None:
        super().__init__()
        self._holders: dict[str, dict[str, _Holder]] = {}
        self._stored: dict[str, dict[int, dict[str, _Holder]]] = {}
        """The latest generations of each group that are certainly stored: a coordinator loads
        one of them (ERR-7)."""
        self._consumers: set[str] = set()
        self._elections = Elections()
        self._unclean = False

    def _of(self, line: Line) -> dict[str, _Holder]:
        """Return the member that has each identity in a group."""
        return self._holders.setdefault(line.group or "", {})

    @on(TopicCreated, PartitionsAdded)
    def _made(self, line: Line, event: TopicCreated | PartitionsAdded) -> None:
        if event.topic == "__consumer_offsets":
            self._elections.see(line)

    @on(PartitionChanged)
    def _changed(self, line: Line, event: PartitionChanged) -> None:
        if event.topic == "__consumer_offsets":
            self._unclean |= self._elections.is_unclean(event)
            self._elections.see(line)

    @on(
        GroupDeleted,
        MembershipReset,
        ConsumerGroupCreated,
        ConsumerGroupUpgraded,
        ConsumerGroupDowngraded,
    )
    def _other_membership(self, line: Line, event: object) -> None:
        group = line.group or ""
        self._of(line).clear()
        self._stored.pop(group, None)
        self._consumers.discard(group)
        if isinstance(event, ConsumerGroupCreated | ConsumerGroupUpgraded):
            self._consumers.add(group)

    @on(MemberRemoved, ConsumerMemberRemoved)
    def _removed(self, line: Line, event: MemberRemoved | ConsumerMemberRemoved) -> None:
        holders = self._of(line)
        for instance in [
            instance for instance, holder in holders.items() if holder.member == event.member_id
        ]:
            del holders[instance]

    @on(MemberReplaced)
    def _replaced(self, line: Line, event: MemberReplaced) -> None:
        self._of(line)[event.group_instance_id] = _Holder(event.member_id, line.at_ms)
        for stored in self._stored.get(
            line.group or "", {}
        ).values():  # whether that is stored depends on how it came back
            stored.pop(event.group_instance_id, None)

    @on(ConsumerMemberReplaced)
    def _consumer_replaced(self, line: Line, event: ConsumerMemberReplaced) -> None:
        instance = event.subscription.group_instance_id
        if instance is not None:
            self._of(line)[instance] = _Holder(event.member_id, line.at_ms)

    @on(MemberJoined, ConsumerMemberSubscribed)
    def _came(self, line: Line, event: MemberJoined | ConsumerMemberSubscribed) -> None:
        if event.group_instance_id is not None:
            self._took(line, event.group_instance_id, event.member_id)

    @on(GenerationStored)
    def _generation_stored(self, line: Line, event: GenerationStored) -> None:
        named = {
            row.group_instance_id: row.member_id
            for row in event.members
            if row.group_instance_id is not None
        }
        known = self._stored.setdefault(line.group or "", {})
        known[event.generation] = {
            instance: _Holder(member, line.at_ms) for instance, member in named.items()
        }
        for old in sorted(known)[:-_GENERATIONS_KEPT]:
            del known[old]
        for row in event.members:
            if row.group_instance_id is not None:
                self._took(line, row.group_instance_id, row.member_id)

    @on(GroupLoaded)
    def _loaded(self, line: Line, event: GroupLoaded) -> None:
        group, holders = line.group or "", self._of(line)
        if group in self._consumers:
            kept = {
                instance: holder
                for instance, holder in holders.items()
                if holder.since < line.at_ms - _COPIED_WITHIN_MS
            }
        else:
            kept = dict(self._stored.get(group, {}).get(event.generation, {}))
        holders.clear()
        if not self._unclean:
            holders.update(kept)

    def _took(self, line: Line, instance: str, member: str) -> None:
        holders = self._of(line)
        holder = holders.setdefault(instance, _Holder(member, line.at_ms)).member
        if holder != member:
            self.blame(
                line,
                f"{member} and {holder} are both members with the group instance id {instance}",
            )
            holders[instance] = _Holder(member, line.at_ms)
