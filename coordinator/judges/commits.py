"""Commits: only of the current generation or epoch, only of what the member was given; offsets go
back only when somebody asked."""

from __future__ import annotations

from typing import ClassVar

from ..history.blobs import Partitions, assignment, by_topic, subscription
from ..history.consumer_groups import CHANGES, ConsumerGroup
from .base import Judge, KnowsConsumerGroups, Line

_NONE = -1
_NOT_STABLE = frozenset(
    {
        "RebalanceStarted",
        "GroupEmptied",
        "GroupUnloaded",
        "GroupDeleted",
        "ConsumerGroupCreated",
        "ConsumerGroupUpgraded",
        "ConsumerGroupDowngraded",
        "MembershipReset",
    }
)
"""After these nothing is known of what a group's members subscribe to."""


class CommitsStayWithinGeneration(KnowsConsumerGroups):
    """No commit is accepted from a stale generation."""

    name = "no_stale_commit"
    promise = (
        "a commit is accepted only from a member of the group and in its current generation; commits without a generation "
        "only while the group is Empty (OC-1, OC-2), commits in transactions also without a member (TXN-2); in a consumer group only "
        "at the member's epoch, or at an earlier one for partitions that it has had since then (K8-OFF-1, KIP-1251)"
    )
    needs = frozenset({"group", "wire"})
    looks_at = CHANGES | {
        "RequestSeen",
        "RequestAnswered",
        "RequestRefused",
        "MemberJoined",
        "MemberReplaced",
        "MemberRemoved",
        "GroupUnloaded",
        "GroupEmptied",
        "GroupLoaded",
        "GenerationStored",
        "OffsetsCommitted",
        "OffsetsPending",
    }

    def __init__(self) -> None:
        super().__init__()
        self._requests: dict[int, Line] = {}
        self._members: dict[str, set[str]] = {}
        self._stored: dict[
            str, list[str]
        ] = {}  # the members of each group's stored generation: a coordinator loads those (ERR-7)

    def see(self, line: Line) -> None:
        kind = line["type"]
        if kind == "RequestSeen":
            if line.get("api") in ("offset_commit", "txn_offset_commit"):
                self._requests[line["seq"]] = line
        elif kind in ("RequestAnswered", "RequestRefused"):
            self._requests.pop(line["cause"] or _NONE, None)
        else:
            self._see_group(line, kind, line.get("group", ""))

    def _see_group(self, line: Line, kind: str, group: str) -> None:
        members = self._members.setdefault(group, set())
        self.consumers.see(line)
        consumers = self.consumers.get(group)
        if kind == "MemberJoined":
            members.add(line["member"])
        elif kind == "MemberReplaced":
            members.discard(line["replaced"])
            members.add(line["member"])
        elif kind == "MemberRemoved":
            members.discard(line["member"])
        elif kind in ("GroupUnloaded", "GroupDeleted", "GroupEmptied"):
            members.clear()
            if kind != "GroupUnloaded":
                self._stored.pop(group, None)
        elif kind == "GenerationStored":
            stored = self._stored[group] = [member["member_id"] for member in line["members"]]
            members.clear()
            members.update(stored)
        elif kind == "GroupLoaded":
            members.update(self._stored.get(group, ()))
        elif kind == "ConsumerGroupDowngraded":
            stored = self._stored[group] = [member["member_id"] for member in line["members"]]
            members.clear()
            members.update(stored)
        elif kind in ("OffsetsCommitted", "OffsetsPending") and consumers is not None:
            self._committed_in_consumer_group(line, consumers)
        elif kind in ("OffsetsCommitted", "OffsetsPending"):
            self._committed(line, members)

    def _committed(self, line: Line, members: set[str]) -> None:
        member = line.get("member", "")
        if member and member not in members:
            self.blame(
                line,
                f"a commit of {member} was accepted, which is no member of group {line['group']}",
            )
        request = self._requests.get(line["cause"] or _NONE)
        if request is None:
            return
        generation = request.get("generation", _NONE)
        if generation != _NONE and generation != line["generation"]:
            self.blame(
                line,
                f"a commit of generation {generation} was accepted in generation {line['generation']}",
            )
        if generation == _NONE and members and line["type"] == "OffsetsCommitted" and not member:
            self.blame(
                line,
                f"a commit without generation was accepted while the group had {len(members)} members",
            )

    def _committed_in_consumer_group(self, line: Line, group: ConsumerGroup) -> None:
        request = self._requests.get(line["cause"] or _NONE)
        name, epoch = (
            line.get("member", ""),
            _NONE if request is None else request.get("generation", _NONE),
        )
        pending = line["type"] == "OffsetsPending"
        if not name:
            if group.members and not pending:
                self.blame(
                    line,
                    f"a commit without member was accepted while the group had {len(group.members)} members",
                )
            return
        member = group.members.get(name)
        if request is not None and epoch == _NONE and not group.members and not pending:
            return  # one that was a member, and says no epoch: taken from anybody while nobody is there
        if member is None:
            self.blame(
                line,
                f"a commit of {name} was accepted, which is no member of group {line['group']}",
            )
        elif request is not None and (epoch > member.epoch or (pending and epoch != member.epoch)):
            self.blame(
                line,
                f"a commit of epoch {epoch} of {name} was accepted at its epoch {member.epoch}",
            )
        elif request is not None and epoch < member.epoch:
            for row in line["offsets"]:
                since = member.had_since((row["topic"], row["partition"]))
                if since is None or since > epoch:
                    where = f"{row['topic']}-{row['partition']}"
                    self.blame(
                        line,
                        f"a commit of epoch {epoch} of {name} was accepted for {where}, which it did not have then",
                    )


class _Stored:
    """A member's part of a stored generation. Its bytes are read when it commits, which most
    members of large groups do seldom."""

    __slots__ = ("_assignment", "_places", "_subscription")

    def __init__(self, assignment: str, subscription: str) -> None:
        self._assignment = assignment
        self._subscription = subscription
        self._places: set[tuple[str, int]] | None = None

    def rejoined(self) -> None:
        """Partitions owned when it joined do not count any more."""
        self._subscription, self._places = "", None

    def places(self) -> set[tuple[str, int]]:
        """The partitions that it may commit for."""
        if self._places is None:
            read = subscription(self._subscription)
            owned = set() if read is None else _flat(by_topic(read.owned_partitions))
            self._places = owned | self.assigned()
        return self._places

    def assigned(self) -> set[tuple[str, int]]:
        """The partitions that it was given."""
        return _flat(assignment(self._assignment) or {})


class CommitsStayWithinAssignment(KnowsConsumerGroups):
    """A member commits for what it was given. Kafka does not ask for that; an application that
    breaks it commits for others."""

    name = "commits_within_assignment"
    promise = (
        "a member commits only for partitions that it was given in the current generation, or gave up in the rebalance that runs; if "
        "cooperative, also for those that it owned when it joined this generation, until it joins again: it gives them up at its next "
        "poll, and may be at work on what the last one returned (KIP-429); in a consumer group, for what it has or is to give up, or had "
        "of a topic that was deleted, which its coordinator took at once"
    )
    needs = frozenset({"group"})
    looks_at = CHANGES | {"GenerationStored", "MemberRejoined", "OffsetsCommitted"}
    event: ClassVar[str] = "OffsetsCommitted"
    """The type of the lines that tell of commits."""

    def __init__(self) -> None:
        super().__init__()
        self._given: dict[str, dict[str, _Stored]] = {}
        """Of each group's stored generation, by member."""
        self._deleted: set[str] = set()

    def see(self, line: Line) -> None:
        kind, group = line["type"], line.get("group", "")
        self.consumers.see(line)
        if kind in ("ConsumerGroupCreated", "ConsumerGroupUpgraded", "ConsumerGroupDowngraded"):
            self._given.pop(group, None)
        if kind == "TopicDeleted":
            self._deleted.add(line["topic"])
        if kind == "GenerationStored" and line["protocol_type"] == "consumer":
            self._given[group] = {
                row["member_id"]: _Stored(row["assignment"], row["subscription"])
                for row in line["members"]
            }
        elif kind == "MemberRejoined":
            given = self._given.get(group, {})
            if line["member"] in given:
                given[line["member"]].rejoined()
        elif kind == self.event and line.get("member"):
            places = self._given_to(group, line["member"])
            if places is None:
                return
            gone = set() if self.consumers.get(group) is None else self._deleted
            for row in line["offsets"]:
                if (row["topic"], row["partition"]) not in places and row["topic"] not in gone:
                    who = line["member"]
                    self.blame(
                        line,
                        f"{who} committed {row['topic']}-{row['partition']} at {row['offset']}, which it did not have",
                    )

    def _given_to(self, group: str, member: str) -> set[tuple[str, int]] | None:
        consumers = self.consumers.get(group)
        if consumers is None:
            given = self._given.get(group, {}).get(member)
            return None if given is None else given.places()
        seen = consumers.members.get(member)
        return None if seen is None else {*seen.held, *seen.revoking}


def _flat(topics: Partitions) -> set[tuple[str, int]]:
    return {(topic, number) for topic, numbers in topics.items() for number in numbers}


class OffsetsOnlyGoBackWhenAsked(Judge):
    """Committed offsets go back only by a commit, a deletion, an expiry or a deleted topic."""

    name = "offsets_never_go_back_unasked"
    promise = (
        "a committed offset changes only by a commit, by the end of a transaction that had it pending, or because it was deleted, "
        "its topic or group is gone, or it expired, which it does not while a stable group's members subscribe to its topic (EXP-2)"
    )
    looks_at = CHANGES | {
        "OffsetsPending",
        "PendingOffsetsEnded",
        "OffsetsRemoved",
        "GenerationStored",
        "RebalanceStarted",
        "GroupEmptied",
        "GroupUnloaded",
    }

    def __init__(self) -> None:
        super().__init__()
        self._subscribed: dict[str, dict[str, frozenset[str] | str]] = {}
        """Of each group that is stable, or a consumer group: what each member subscribes to; in
        hexadecimal, until it is asked for."""
        self._pending: dict[tuple[str, int], dict[tuple[str, int], int]] = {}

    def see(self, line: Line) -> None:
        kind, group = line["type"], line.get("group", "")
        if kind == "OffsetsRemoved":
            self._removed(line, group)
        elif kind == "OffsetsPending":
            table = self._pending.setdefault((group, line["producer_id"]), {})
            table.update(
                {(row["topic"], row["partition"]): row["offset"] for row in line["offsets"]}
            )
        elif kind == "PendingOffsetsEnded":
            table = self._pending.pop((group, line["producer_id"]), {})
            for row in line["partitions"]:
                if (row["topic"], row["partition"]) not in table:
                    self.blame(
                        line,
                        f"a transaction ended with an offset of {row['topic']}-{row['partition']} that was never pending",
                    )
            if line["partitions"] and not line["committed"]:
                self.blame(line, "an aborted transaction changed committed offsets")
        elif kind == "GenerationStored":
            self._subscribed[group] = {
                row["member_id"]: row.get("subscription", "") for row in line["members"]
            }
        elif kind == "ConsumerMemberSubscribed":
            self._subscribed.setdefault(group, {})[line["member"]] = frozenset(line["topics"])
        elif kind == "ConsumerMemberReplaced":
            members = self._subscribed.setdefault(group, {})
            members[line["member"]] = members.pop(line["replaced"], frozenset())
        elif kind == "ConsumerMemberRemoved":
            self._subscribed.get(group, {}).pop(line["member"], None)
        elif kind in _NOT_STABLE:
            self._subscribed.pop(group, None)

    def _removed(self, line: Line, group: str) -> None:
        members = self._subscribed.get(group, {}).values() if line["reason"] == "expired" else ()
        subscribed = frozenset[str]().union(*map(_topics_of, members))
        used = next((row for row in line["partitions"] if row["topic"] in subscribed), None)
        if used is not None:
            where = f"{used['topic']}-{used['partition']}"
            self.blame(
                line,
                f"the offset of {where} expired, although members of group {group} subscribe to its topic",
            )


def _topics_of(subscribed: frozenset[str] | str) -> frozenset[str]:
    found = subscription(subscribed) if isinstance(subscribed, str) else None
    return (
        subscribed
        if isinstance(subscribed, frozenset)
        else frozenset(found.topics)
        if found is not None
        else frozenset()
    )


class CommittedOffsetsGrow(Judge):
    """A group's members commit forwards."""

    name = "committed_offsets_grow"
    promise = (
        "a group's committed offset goes back only when somebody asks for it: a commit from outside the group, a position that was reset "
        "or rewound, a deletion or an expiry; or when a commit was held up on its way: over another connection than the later one"
    )
    needs = frozenset({"group", "wire"})
    looks_at = frozenset(
        {
            "RequestSeen",
            "RequestAnswered",
            "RequestRefused",
            "PositionReset",
            "Rewound",
            "OffsetsCommitted",
            "OffsetsRemoved",
            "PendingOffsetsEnded",
            "GroupDeleted",
            "GroupUnloaded",
            "GroupLoaded",
        }
    )

    def __init__(self) -> None:
        super().__init__()
        self._peers: dict[int, str] = {}
        self._committed: dict[tuple[str, str, int], tuple[int, str]] = {}

    def see(self, line: Line) -> None:
        kind = line["type"]
        if kind == "RequestSeen" and line["api"] == "offset_commit":
            self._peers[line["seq"]] = line["peer"]
        elif kind in ("RequestAnswered", "RequestRefused"):
            self._peers.pop(line["cause"] or _NONE, None)
        elif kind in ("PositionReset", "Rewound"):
            self._committed.pop((line["group"], line["topic"], line["partition"]), None)
        elif kind in ("OffsetsRemoved", "PendingOffsetsEnded"):
            for row in line["partitions"]:
                self._committed.pop((line["group"], row["topic"], row["partition"]), None)
        elif kind in ("GroupDeleted", "GroupUnloaded", "GroupLoaded"):
            self._committed = {
                key: found for key, found in self._committed.items() if key[0] != line["group"]
            }
        elif kind == "OffsetsCommitted":
            peer = self._peers.get(line["cause"] or _NONE, "")
            for row in line["offsets"]:
                key = (line["group"], row["topic"], row["partition"])
                before, sender = self._committed.get(key, (0, peer))
                if row["offset"] < before and sender == peer and line.get("member"):
                    self.blame(
                        line,
                        f"{line['member']} committed {key[1]}-{key[2]} at {row['offset']} after {before}",
                    )
                self._committed[key] = (row["offset"], peer)
