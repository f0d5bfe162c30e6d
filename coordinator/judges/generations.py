"""Generations and epochs only grow, each generation has one leader who is a member, and a static identity one member at a time."""

from __future__ import annotations

from .base import Judge, Line
from .consumer_groups import LEFT_FOR_NOW


class GenerationsGrow(Judge):
    """A group's generation never goes back, nor do the epochs of a consumer group."""

    name = "generations_grow"
    promise = (
        "a group's generation never decreases, and each begins once (a deleted group begins anew, a loaded one where it was stored); "
        "nor do the group epoch and the member epochs of a consumer group"
    )

    def __init__(self) -> None:
        super().__init__()
        self._generations: dict[str, int] = {}
        self._group_epochs: dict[str, int] = {}
        self._member_epochs: dict[tuple[str, str], int] = {}

    def see(self, line: Line) -> None:
        if line["stream"] != "group" or "group" not in line:
            return
        group, kind = line["group"], line["type"]
        if kind in ("GroupDeleted", "GroupUnloaded", "GroupLoaded", "ConsumerGroupCreated", "MembershipReset"):
            self._generations.pop(group, None)
            self._group_epochs.pop(group, None)
            self._member_epochs = {key: epoch for key, epoch in self._member_epochs.items() if key[0] != group}
            return
        if kind == "GroupEpochBumped":
            self._bumped(line, group)
        elif kind in ("ConsumerMemberRemoved", "ConsumerMemberReplaced"):
            self._member_epochs.pop((group, line["member"]), None)
        elif kind == "ConsumerMemberReconciled":
            self._reconciled(line, group)
        generation, before = line.get("generation"), self._generations.get(group)
        if generation is None:
            return
        if before is not None and generation < before:
            self.blame(line, f"generation {generation} of group {group} after {before}")
        elif before is not None and generation == before and kind in ("GenerationStarted", "GroupEmptied"):
            self.blame(line, f"generation {generation} of group {group} began twice")
        self._generations[group] = generation

    def _bumped(self, line: Line, group: str) -> None:
        epoch, before = line["group_epoch"], self._group_epochs.get(group)
        if before is not None and epoch <= before:
            self.blame(line, f"epoch {epoch} of group {group} after {before}")
        self._group_epochs[group] = epoch

    def _reconciled(self, line: Line, group: str) -> None:
        epoch, key = line["member_epoch"], (group, line["member"])
        before = self._member_epochs.get(key)
        if before is not None and LEFT_FOR_NOW < epoch < before:
            self.blame(line, f"{key[1]} is at epoch {epoch} after {before}")
        self._member_epochs[key] = epoch


class OneLeader(Judge):
    """Each generation has one leader, and it is a member."""

    name = "one_leader"
    promise = "each generation with members has one leader, which is one of them"

    def __init__(self) -> None:
        super().__init__()
        self._leaders: dict[tuple[str, int], str] = {}

    def see(self, line: Line) -> None:
        kind = line["type"]
        if kind in ("GroupDeleted", "GroupUnloaded", "GroupLoaded"):  # a generation that was not stored begins again (ERR-7)
            self._leaders = {key: leader for key, leader in self._leaders.items() if key[0] != line["group"]}
        if kind not in ("GenerationStarted", "GenerationStored"):
            return
        members = [member if isinstance(member, str) else member["member_id"] for member in line["members"]]
        leader = line["leader"]
        if members and leader not in members:
            self.blame(line, f"generation {line['generation']} is led by {leader}, which is not a member of it")
        if kind == "GenerationStarted":
            other = self._leaders.setdefault((line["group"], line["generation"]), leader)
            if other != leader:
                self.blame(line, f"generation {line['generation']} has two leaders, {other} and {leader}")


class StaticIdentity(Judge):
    """A group instance id belongs to one member at a time."""

    name = "static_identity"
    promise = "a group instance id belongs to one member at a time: who comes later replaces, and fences, who had it (KIP-345)"

    def __init__(self) -> None:
        super().__init__()
        self._holders: dict[tuple[str, str], str] = {}
        self._stored: dict[str, set[str]] = {}  # the members of each group's stored generation: a coordinator loads those (ERR-7)

    def see(self, line: Line) -> None:
        kind, group = line["type"], line.get("group", "")
        if kind == "GroupLoaded":
            loaded = self._stored.get(group, set())
            self._holders = {key: holder for key, holder in self._holders.items() if key[0] != group or holder in loaded}
        elif kind in ("GroupUnloaded", "GroupDeleted"):
            self._holders = {key: holder for key, holder in self._holders.items() if key[0] != group}
        elif kind in ("MemberRemoved", "ConsumerMemberRemoved"):
            self._holders = {key: holder for key, holder in self._holders.items() if (key[0], holder) != (group, line["member"])}
        elif kind == "MemberReplaced":
            self._holders[group, line["group_instance_id"]] = line["member"]
        elif kind == "ConsumerMemberReplaced":
            self._holders[group, line["subscription"]["group_instance_id"]] = line["member"]
        elif kind in ("MemberJoined", "ConsumerMemberSubscribed") and line["group_instance_id"] is not None:
            self._took(line, line["group_instance_id"], line["member"])
        elif kind == "GenerationStored":
            self._stored[group] = {member["member_id"] for member in line["members"]}
            for member in line["members"]:
                if member["group_instance_id"] is not None:
                    self._took(line, member["group_instance_id"], member["member_id"])

    def _took(self, line: Line, instance: str, member: str) -> None:
        holder = self._holders.setdefault((line["group"], instance), member)
        if holder != member:
            self.blame(line, f"{instance} is {member} and {holder} at once")
            self._holders[line["group"], instance] = member
