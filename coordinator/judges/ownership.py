"""Who owns a partition: never two members of one generation, and never a new owner before the old
one gave it up."""

from __future__ import annotations

from ..history.blobs import owners_of
from ..history.consumer_groups import (
    CHANGES,
    LEFT_FOR_NOW,
    ConsumerGroup,
)
from .base import Judge, KnowsConsumerGroups, Line


class SingleOwner(KnowsConsumerGroups):
    """One owner of a partition: within a generation, and in a consumer group at every moment."""

    name = "single_owner"
    promise = (
        "within a generation each partition has at most one owner, and in a consumer group a partition is given to nobody "
        "before its owner has given it up (groups whose assignments are not a consumer's are passed over)"
    )
    looks_at = CHANGES | {"GenerationStored"}

    def see(self, line: Line) -> None:
        group = self.consumers.see(line)
        if group is not None and line["type"] in (
            "ConsumerMemberReconciled",
            "ConsumerMemberReplaced",
        ):
            self._see_member(line, group)
        if line["type"] != "GenerationStored" or line["protocol_type"] != "consumer":
            return
        for (topic, number), members in owners_of(line).items():
            if len(members) > 1:
                names = " and ".join(members)
                self.blame(
                    line,
                    f"{topic}-{number} was given to {names} in generation {line['generation']}",
                )

    def _see_member(self, line: Line, group: ConsumerGroup) -> None:
        """K8-REC-5: from the event that gives a partition until the one that takes it away it is
        nobody else's."""
        name = line["member"]
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
                        f"{where} was given to {name} at epoch {had.epoch}, and {other} has it since epoch {since}",
                    )


class RevokedBeforeAssigned(Judge):
    """A partition changes hands only after its old owner let go of it, by the members' own word."""

    name = "revoked_before_assigned"
    promise = (
        "a member is told of a partition only after its former owner's listener gave it up (revoked or lost), "
        "or after the coordinator removed that owner, or began a generation for which that owner, a static member, did not rejoin in time, "
        "or was replaced by its successor, who owns nothing until it is told, or the group was deleted; who was removed or replaced and "
        "does not know yet owns nothing, nor who is told late of a generation that is over; a static member of a consumer group that left "
        "for a while keeps only what it was not to give up (K8-LV-2); a topic that was deleted and is made "
        "again under its name is another one"
    )
    needs = frozenset({"group", "member"})
    looks_at = frozenset(
        {
            "PartitionsAssigned",
            "PartitionsRevoked",
            "PartitionsLost",
            "MemberJoined",
            "MemberRejoined",
            "MemberRemoved",
            "MemberReplaced",
            "GenerationStarted",
            "GroupDeleted",
            "GroupLoaded",
            "ConsumerMemberSubscribed",
            "ConsumerMemberReconciled",
            "ConsumerMemberRemoved",
            "ConsumerMemberReplaced",
            "ConsumerGroupDowngraded",
            "TopicDeleted",
        }
    )

    def __init__(self) -> None:
        super().__init__()
        self._holders: dict[tuple[str, str, int], str] = {}
        self._rejoined: dict[str, set[str]] = {}
        self._static: set[tuple[str, str]] = set()
        self._removed: set[tuple[str, str]] = set()
        self._generations: dict[str, int] = {}
        """The generation of each classic group that began last."""
        self._of_client: dict[tuple[str, str], str] = {}
        """The member id of each client, which it has forgotten when it tells that its partitions
        are lost."""

    def see(self, line: Line) -> None:
        kind, group, member = line["type"], line.get("group", ""), line.get("member", "")
        self._see_membership(line, kind, group, member)
        if line["stream"] == "member":
            # who was paused may be told of a generation that is over, and owns nothing by that
            late = (line.get("generation") or 0) < self._generations.get(group, 0)
            if kind == "PartitionsAssigned" and not late and (group, member) not in self._removed:
                self._of_client[group, line.get("client", "")] = member
                self._assigned(line, group, member)
            elif kind in ("PartitionsRevoked", "PartitionsLost"):
                member = member or self._of_client.get((group, line.get("client", "")), "")
                for row in line["partitions"]:
                    key = (group, row["topic"], row["partition"])
                    if self._holders.get(key) == member:
                        del self._holders[key]
        elif kind in ("MemberJoined", "MemberRejoined"):
            self._rejoined.setdefault(group, set()).add(member)
        elif (
            kind == "GenerationStarted"
        ):  # a static member that did not rejoin stays a member, and does not know (KIP-345)
            self._generations[group] = line["generation"]
            rejoined = self._rejoined.pop(group, set())
            self._holders = {
                key: holder
                for key, holder in self._holders.items()
                if key[0] != group or holder in rejoined or (group, holder) not in self._static
            }
        elif kind in ("MemberRemoved", "ConsumerMemberRemoved", "GroupDeleted"):
            gone = kind == "GroupDeleted"
            if gone:
                self._generations.pop(group, None)
            self._holders = {
                key: holder
                for key, holder in self._holders.items()
                if key[0] != group or not (gone or holder == member)
            }
        elif kind == "ConsumerMemberReconciled" and line["member_epoch"] == LEFT_FOR_NOW:
            kept = {
                (row["topic"], partition) for row in line["held"] for partition in row["partitions"]
            }
            self._holders = {
                key: holder
                for key, holder in self._holders.items()
                if (key[0], holder) != (group, member) or key[1:] in kept
            }
        elif kind == "TopicDeleted":
            self._holders = {
                key: holder for key, holder in self._holders.items() if key[1] != line["topic"]
            }
        elif kind == "ConsumerGroupDowngraded":
            self._holders = {
                key: holder
                for key, holder in self._holders.items()
                if key[0] != group or holder not in line["left"]
            }
        elif kind in ("MemberReplaced", "ConsumerMemberReplaced"):
            if line.get("parked", False):
                self._rejoined.setdefault(group, set()).add(member)
            old = (
                group,
                line["replaced"],
            )  # who comes back has nothing until it is told, and may rejoin before that
            self._holders = {
                key: holder for key, holder in self._holders.items() if (key[0], holder) != old
            }

    def _see_membership(self, line: Line, kind: str, group: str, member: str) -> None:
        if kind in ("MemberJoined", "ConsumerMemberSubscribed"):
            self._removed.discard((group, member))
        elif kind in ("MemberRemoved", "ConsumerMemberRemoved"):
            self._removed.add((group, member))
        elif kind in ("MemberReplaced", "ConsumerMemberReplaced"):
            self._removed.add((group, line["replaced"]))
        elif (
            kind == "GroupLoaded"
        ):  # a coordinator loads the members of the stored generation (ERR-7)
            self._removed = {key for key in self._removed if key[0] != group}
            self._generations.pop(group, None)
        if kind in ("MemberJoined", "MemberReplaced") and line.get("group_instance_id") is not None:
            self._static.add((group, member))

    def _assigned(self, line: Line, group: str, member: str) -> None:
        for row in line["partitions"]:
            key = (group, row["topic"], row["partition"])
            holder = self._holders.get(key)
            if holder is not None and holder != member:
                self.blame(line, f"{member} got {key[1]}-{key[2]} while {holder} still had it")
            self._holders[key] = member
