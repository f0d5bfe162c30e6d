"""Generations and epochs only grow, each generation has one leader who is a member, and a static
identity one member at a time."""

from __future__ import annotations

from typing import Final, NamedTuple

from ..history.consumer_groups import LEFT_FOR_NOW
from .base import Judge, Line

_OTHER_MEMBERSHIP: Final = frozenset(
    {
        "GroupDeleted",
        "MembershipReset",
        "ConsumerGroupCreated",
        "ConsumerGroupUpgraded",
        "ConsumerGroupDowngraded",
    }
)
_GENERATIONS_KEPT: Final = 3
_COPIED_WITHIN_MS: Final = 60_000
"""What a coordinator wrote longer ago than that, all replicas in sync have, or they are not in sync
(replica.lag.time.max.ms)."""


class _Holder(NamedTuple):
    member: str
    since: int


class GenerationsGrow(Judge):
    """A group's generation never goes back, nor do the epochs of a consumer group."""

    name = "generations_grow"
    promise = (
        "a group's generation never decreases, and each begins once (a deleted group begins anew, a loaded one where it was stored); "
        "nor do the group epoch and the member epochs of a consumer group"
    )
    of_streams = frozenset({"group"})

    def __init__(self) -> None:
        super().__init__()
        self._generations: dict[str, int] = {}
        self._group_epochs: dict[str, int] = {}
        self._member_epochs: dict[tuple[str, str], int] = {}

    def see(self, line: Line) -> None:
        if line["stream"] != "group" or "group" not in line:
            return
        group, kind = line["group"], line["type"]
        if kind in (
            "GroupDeleted",
            "GroupUnloaded",
            "GroupLoaded",
            "ConsumerGroupCreated",
            "MembershipReset",
        ):
            self._generations.pop(group, None)
            self._group_epochs.pop(group, None)
            self._member_epochs = {
                key: epoch for key, epoch in self._member_epochs.items() if key[0] != group
            }
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
        elif (
            before is not None
            and generation == before
            and kind in ("GenerationStarted", "GroupEmptied")
        ):
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
    looks_at = frozenset(
        {"GroupDeleted", "GroupUnloaded", "GroupLoaded", "GenerationStarted", "GenerationStored"}
    )

    def __init__(self) -> None:
        super().__init__()
        self._leaders: dict[tuple[str, int], str] = {}

    def see(self, line: Line) -> None:
        kind = line["type"]
        if kind in (
            "GroupDeleted",
            "GroupUnloaded",
            "GroupLoaded",
        ):  # a generation that was not stored begins again (ERR-7)
            self._leaders = {
                key: leader for key, leader in self._leaders.items() if key[0] != line["group"]
            }
        if kind not in ("GenerationStarted", "GenerationStored"):
            return
        members = [
            member if isinstance(member, str) else member["member_id"] for member in line["members"]
        ]
        leader = line["leader"]
        if members and leader not in members:
            self.blame(
                line,
                f"generation {line['generation']} is led by {leader}, which is not a member of it",
            )
        if kind == "GenerationStarted":
            other = self._leaders.setdefault((line["group"], line["generation"]), leader)
            if other != leader:
                self.blame(
                    line, f"generation {line['generation']} has two leaders, {other} and {leader}"
                )


class StaticIdentity(Judge):
    """A group instance id belongs to one member at a time."""

    name = "static_identity"
    promise = (
        "a group instance id belongs to one member at a time: who comes later replaces, and fences, who had it (KIP-345); a coordinator "
        "that loads a group has the members of the generation that it loads, or those of a consumer group, the last minute aside, of which "
        "a broker that crashed may not have told the others all"
    )
    looks_at = _OTHER_MEMBERSHIP | {
        "LeaderElected",
        "GroupLoaded",
        "MemberJoined",
        "ConsumerMemberSubscribed",
        "MemberRemoved",
        "ConsumerMemberRemoved",
        "MemberReplaced",
        "ConsumerMemberReplaced",
        "GenerationStored",
    }

    def __init__(self) -> None:
        super().__init__()
        self._holders: dict[str, dict[str, _Holder]] = {}
        self._stored: dict[str, dict[int, dict[str, _Holder]]] = {}
        """Of each group's latest generations, as far as they are stored for certain: a coordinator
        loads those (ERR-7)."""
        self._consumers: set[str] = set()
        self._unclean = False

    def see(self, line: Line) -> None:
        kind, group = line["type"], line.get("group", "")
        if (
            kind == "LeaderElected"
            and line.get("topic") == "__consumer_offsets"
            and "nclean" in str(line.get("reason", ""))
        ):
            self._unclean = True
        elif line["stream"] == "group":
            self._of_group(line, kind, group, self._holders.setdefault(group, {}))

    def _of_group(self, line: Line, kind: str, group: str, holders: dict[str, _Holder]) -> None:
        if kind == "GroupLoaded":
            self._loaded(line, group, holders)
        elif kind in _OTHER_MEMBERSHIP:
            holders.clear()
            self._stored.pop(group, None)
            self._consumers.discard(group)
            if kind in ("ConsumerGroupCreated", "ConsumerGroupUpgraded"):
                self._consumers.add(group)
        elif kind in ("MemberRemoved", "ConsumerMemberRemoved"):
            for instance in [
                instance for instance, holder in holders.items() if holder.member == line["member"]
            ]:
                del holders[instance]
        elif kind == "MemberReplaced":
            holders[line["group_instance_id"]] = _Holder(line["member"], line["at_ms"])
            for stored in self._stored.get(
                group, {}
            ).values():  # whether that is stored depends on how it came back
                stored.pop(line["group_instance_id"], None)
        elif kind == "ConsumerMemberReplaced":
            holders[line["subscription"]["group_instance_id"]] = _Holder(
                line["member"], line["at_ms"]
            )
        elif (
            kind in ("MemberJoined", "ConsumerMemberSubscribed")
            and line["group_instance_id"] is not None
        ):
            self._took(line, line["group_instance_id"], line["member"])
        elif kind == "GenerationStored":
            named = {
                row["group_instance_id"]: row["member_id"]
                for row in line["members"]
                if row["group_instance_id"] is not None
            }
            known = self._stored.setdefault(group, {})
            known[line["generation"]] = {
                instance: _Holder(member, line["at_ms"]) for instance, member in named.items()
            }
            for old in sorted(known)[:-_GENERATIONS_KEPT]:
                del known[old]
            for row in line["members"]:
                if row["group_instance_id"] is not None:
                    self._took(line, row["group_instance_id"], row["member_id"])

    def _loaded(self, line: Line, group: str, holders: dict[str, _Holder]) -> None:
        if group in self._consumers:
            kept = {
                instance: holder
                for instance, holder in holders.items()
                if holder.since < line["at_ms"] - _COPIED_WITHIN_MS
            }
        else:
            kept = dict(self._stored.get(group, {}).get(line.get("generation", -1), {}))
        holders.clear()
        if not self._unclean:
            holders.update(kept)

    def _took(self, line: Line, instance: str, member: str) -> None:
        holders = self._holders[line["group"]]
        holder = holders.setdefault(instance, _Holder(member, line["at_ms"])).member
        if holder != member:
            self.blame(line, f"{instance} is {member} and {holder} at once")
            holders[instance] = _Holder(member, line["at_ms"])
