"""Judges commits: they belong to the current generation or epoch and to partitions that the
member was assigned; offsets go back only on request."""

from __future__ import annotations

from coordinator.events.cluster import TopicCreated, TopicDeleted
from coordinator.events.groups import GroupDeleted, GroupLoaded, GroupUnloaded
from coordinator.events.groups.classic import (
    GenerationStored,
    GroupEmptied,
    MemberJoined,
    MemberRejoined,
    MemberRemoved,
    MemberReplaced,
    RebalanceStarted,
)
from coordinator.events.groups.consumer import (
    ConsumerGroupCreated,
    ConsumerGroupDowngraded,
    ConsumerGroupUpgraded,
    ConsumerMemberRemoved,
    ConsumerMemberReplaced,
    ConsumerMemberSubscribed,
    MembershipReset,
)
from coordinator.events.groups.offsets import (
    CommittedOffset,
    OffsetsCommitted,
    OffsetsPending,
    OffsetsRemoved,
    PendingOffsetsEnded,
)
from coordinator.events.handlers import on
from coordinator.events.members import PositionReset, Rewound
from coordinator.events.wire import RequestAnswered, RequestRefused, RequestSeen

from ..world.blobs import Partitions, assignment, by_topic, subscription
from ..world.groups.consumer_groups import CHANGES, ConsumerGroup
from .base import Judge, KnowsConsumerGroups, Line

_NONE = -1
_EXPIRED = "expired"
_TOPIC_DELETED = "topic deleted"


class CommitsStayWithinGeneration(KnowsConsumerGroups):
    """Judges that no commit of a former generation is accepted."""

    name = "no_stale_commit"
    promise = (
        "a commit is accepted only from a member of the group in its current generation. Without a generation it is accepted only "
        "while the group is Empty (OC-1, OC-2); in a transaction, also without a member id (TXN-2). In a consumer group it is "
        "accepted only with the member's epoch, or with an earlier one for partitions that the member has had since then "
        "(K8-OFF-1, KIP-1251)"
    )
    needs = frozenset({"group", "wire"})

    def __init__(self) -> None:
        super().__init__()
        self._requests: dict[int, Line] = {}
        self._members: dict[str, set[str]] = {}
        self._stored: dict[
            str, list[str]
        ] = {}  # the members of each group's stored generation: a coordinator loads those (ERR-7)

    @on(RequestSeen)
    def _seen(self, line: Line, event: RequestSeen) -> None:
        if event.api in ("offset_commit", "txn_offset_commit"):
            self._requests[line.seq] = line

    @on(RequestAnswered, RequestRefused)
    def _answered(self, line: Line, _: RequestAnswered | RequestRefused) -> None:
        self._requests.pop(line.cause or _NONE, None)

    def _of(self, line: Line) -> set[str]:
        return self._members.setdefault(line.group or "", set())

    @on(MemberJoined)
    def _joined(self, line: Line, event: MemberJoined) -> None:
        self._of(line).add(event.member_id)

    @on(MemberReplaced)
    def _replaced(self, line: Line, event: MemberReplaced) -> None:
        members = self._of(line)
        members.discard(event.replaced)
        members.add(event.member_id)

    @on(MemberRemoved)
    def _removed(self, line: Line, event: MemberRemoved) -> None:
        self._of(line).discard(event.member_id)

    @on(GroupUnloaded)
    def _unloaded(self, line: Line, _: GroupUnloaded) -> None:
        self._of(line).clear()

    @on(GroupEmptied)
    def _emptied(self, line: Line, _: GroupEmptied) -> None:
        self._of(line).clear()
        self._stored.pop(line.group or "", None)

    @on(GroupLoaded)
    def _loaded(self, line: Line, _: GroupLoaded) -> None:
        self._of(line).update(self._stored.get(line.group or "", ()))

    @on(GenerationStored)
    def _generation_stored(self, line: Line, event: GenerationStored) -> None:
        self._has_members(line, [member.member_id for member in event.members])

    def _has_members(self, line: Line, stored: list[str]) -> None:
        self._stored[line.group or ""] = stored
        members = self._of(line)
        members.clear()
        members.update(stored)

    @on(*CHANGES)
    def _changed(self, line: Line, event: object) -> None:
        self.consumers.see(line)
        if isinstance(event, GroupDeleted):
            self._of(line).clear()
            self._stored.pop(line.group or "", None)
        elif isinstance(event, ConsumerGroupDowngraded):
            self._has_members(line, [member.member_id for member in event.members])

    @on(OffsetsCommitted, OffsetsPending)
    def _committed(self, line: Line, event: OffsetsCommitted | OffsetsPending) -> None:
        consumers = self.consumers.get(line.group or "")
        pending = isinstance(event, OffsetsPending)
        if consumers is None:
            self._committed_in_classic_group(line, event.member_id, self._of(line), pending)
        else:
            self._committed_in_consumer_group(line, event, consumers, pending)

    def _committed_in_classic_group(
        self, line: Line, member: str, members: set[str], pending: bool
    ) -> None:
        if member and member not in members:
            self.blame(
                line,
                f"a commit of {member} was accepted, although it is no member of group {line.group}",
            )
        request = self._requests.get(line.cause or _NONE)
        if request is None:
            return
        generation = _NONE if request.generation is None else request.generation
        if generation != _NONE and generation != line.generation:
            self.blame(
                line,
                f"a commit of generation {generation} was accepted in generation {line.generation}",
            )
        if generation == _NONE and members and not pending and not member:
            self.blame(
                line,
                f"a commit without generation was accepted while the group had {len(members)} members",
            )

    def _committed_in_consumer_group(
        self,
        line: Line,
        event: OffsetsCommitted | OffsetsPending,
        group: ConsumerGroup,
        pending: bool,
    ) -> None:
        request, name = self._requests.get(line.cause or _NONE), event.member_id
        epoch = _NONE if request is None or request.generation is None else request.generation
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
                f"a commit of {name} was accepted, although it is no member of group {line.group}",
            )
        elif request is not None and (epoch > member.epoch or (pending and epoch != member.epoch)):
            self.blame(
                line,
                f"a commit of {name} with epoch {epoch} was accepted at its epoch {member.epoch}",
            )
        elif request is not None and epoch < member.epoch:
            for row in event.offsets:
                since = member.had_since((row.topic, row.partition))
                if since is None or since > epoch:
                    where = f"{row.topic}-{row.partition}"
                    self.blame(
                        line,
                        f"a commit of {name} with epoch {epoch} was accepted for {where}, which it did not have at that epoch",
                    )


class _Stored:
    """A member's part of a stored generation. Its bytes are read when it commits, which most
    members of large groups do seldom."""

    __slots__ = ("_assignment", "_places", "_subscription")

    def __init__(self, assignment: bytes, subscription: bytes) -> None:
        self._assignment = assignment
        self._subscription = subscription
        self._places: set[tuple[str, int]] | None = None

    def rejoined(self) -> None:
        """Drop the partitions that it owned when it joined."""
        self._subscription, self._places = b"", None

    def places(self) -> set[tuple[str, int]]:
        """Return the partitions for which it may commit."""
        if self._places is None:
            read = subscription(self._subscription)
            owned = set() if read is None else _flat(by_topic(read.owned_partitions))
            self._places = owned | self.assigned()
        return self._places

    def assigned(self) -> set[tuple[str, int]]:
        """Return the partitions that it was assigned."""
        return _flat(assignment(self._assignment) or {})


class CommitsStayWithinAssignment(KnowsConsumerGroups):
    """Judges that a member commits only for its partitions. Kafka does not check that; an
    application that breaks it commits for other members."""

    name = "commits_within_assignment"
    promise = (
        "a member commits only for partitions that it was assigned in the current generation or revoked in the running rebalance. "
        "A cooperative member also commits for partitions that it owned when it joined this generation, until it joins again, "
        "because it revokes them at its next poll and may still process records of the last one (KIP-429). In a consumer group, a "
        "member commits only for partitions that it has, has to revoke, or had of a deleted topic (which its coordinator takes "
        "away at once)"
    )
    needs = frozenset({"group"})

    def __init__(self) -> None:
        super().__init__()
        self._given: dict[str, dict[str, _Stored]] = {}
        """The stored generation of each group, by member."""
        self._deleted: set[str] = set()

    @on(*CHANGES)
    def _changed(self, line: Line, event: object) -> None:
        self.consumers.see(line)
        if isinstance(
            event, ConsumerGroupCreated | ConsumerGroupUpgraded | ConsumerGroupDowngraded
        ):
            self._given.pop(line.group or "", None)
        elif isinstance(event, TopicDeleted):
            self._deleted.add(event.topic)

    @on(GenerationStored)
    def _stored(self, line: Line, event: GenerationStored) -> None:
        if event.protocol_type == "consumer":
            self._given[line.group or ""] = {
                row.member_id: _Stored(row.assignment, row.subscription) for row in event.members
            }

    @on(MemberRejoined)
    def _rejoined(self, line: Line, event: MemberRejoined) -> None:
        given = self._given.get(line.group or "", {}).get(event.member_id)
        if given is not None:
            given.rejoined()

    @on(OffsetsCommitted)
    def _committed(self, line: Line, event: OffsetsCommitted) -> None:
        self._judge(line, event.member_id, event.offsets)

    def _judge(self, line: Line, member: str, offsets: tuple[CommittedOffset, ...]) -> None:
        group = line.group or ""
        places = self._given_to(group, member) if member else None
        if places is None:
            return
        gone = set() if self.consumers.get(group) is None else self._deleted
        for row in offsets:
            if (row.topic, row.partition) not in places and row.topic not in gone:
                self.blame(
                    line,
                    f"{member} committed offset {row.offset} of {row.topic}-{row.partition}, a partition that it did not have",
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
    """Judges that committed offsets go back only by a commit, a deletion, an expiry or a deleted
    topic."""

    name = "offsets_never_go_back_unasked"
    promise = (
        "a committed offset changes only by a commit or by the end of a transaction in which it was pending. It disappears only "
        "if it is deleted, its topic or group is deleted, or it expires; it does not expire while members of a stable group "
        "subscribe to its topic (EXP-2)"
    )

    def __init__(self) -> None:
        super().__init__()
        self._subscribed: dict[str, dict[str, frozenset[str] | bytes]] = {}
        """Of each group that is stable, or a consumer group: what each member subscribes to; as it
        stands in its subscription, until it is asked for."""
        self._pending: dict[tuple[str, int], dict[tuple[str, int], int]] = {}
        self._deleted: set[str] = set()
        self._never_deleted: set[str] = set()
        """Topics whose creation is in the log, and no deletion."""

    @on(TopicCreated)
    def _created(self, _: Line, event: TopicCreated) -> None:
        if event.topic not in self._deleted:
            self._never_deleted.add(event.topic)

    @on(TopicDeleted)
    def _topic_deleted(self, _: Line, event: TopicDeleted) -> None:
        self._deleted.add(event.topic)
        self._never_deleted.discard(event.topic)

    @on(OffsetsPending)
    def _is_pending(self, line: Line, event: OffsetsPending) -> None:
        table = self._pending.setdefault((line.group or "", event.producer_id), {})
        table.update({(row.topic, row.partition): row.offset for row in event.offsets})

    @on(PendingOffsetsEnded)
    def _ended(self, line: Line, event: PendingOffsetsEnded) -> None:
        table = self._pending.pop((line.group or "", event.producer_id), {})
        for topic, partition in event.partitions:
            if (topic, partition) not in table:
                self.blame(
                    line,
                    f"a transaction ended with an offset of {topic}-{partition} that was never pending",
                )
        if event.partitions and not event.committed:
            self.blame(line, "an aborted transaction changed committed offsets")

    @on(GenerationStored)
    def _stored(self, line: Line, event: GenerationStored) -> None:
        self._subscribed[line.group or ""] = {
            row.member_id: row.subscription for row in event.members
        }

    @on(ConsumerMemberSubscribed)
    def _subscribes(self, line: Line, event: ConsumerMemberSubscribed) -> None:
        members = self._subscribed.setdefault(line.group or "", {})
        members[event.member_id] = frozenset(event.topics)

    @on(ConsumerMemberReplaced)
    def _replaced(self, line: Line, event: ConsumerMemberReplaced) -> None:
        members = self._subscribed.setdefault(line.group or "", {})
        members[event.member_id] = members.pop(event.replaced, frozenset())

    @on(ConsumerMemberRemoved)
    def _gone(self, line: Line, event: ConsumerMemberRemoved) -> None:
        self._subscribed.get(line.group or "", {}).pop(event.member_id, None)

    @on(
        RebalanceStarted,
        GroupEmptied,
        GroupUnloaded,
        GroupDeleted,
        ConsumerGroupCreated,
        ConsumerGroupUpgraded,
        ConsumerGroupDowngraded,
        MembershipReset,
    )
    def _is_not_stable(self, line: Line, _: object) -> None:
        """After these events the subscriptions of a group's members are unknown."""
        self._subscribed.pop(line.group or "", None)

    @on(OffsetsRemoved)
    def _removed(self, line: Line, event: OffsetsRemoved) -> None:
        if event.reason == _TOPIC_DELETED:
            self._went_with_its_topic(line, event)
        if event.reason != _EXPIRED:
            return
        members = self._subscribed.get(line.group or "", {}).values()
        subscribed = frozenset[str]().union(*map(_topics_of, members))
        used = next((place for place in event.partitions if place[0] in subscribed), None)
        if used is not None:
            where = f"{used[0]}-{used[1]}"
            self.blame(
                line,
                f"the offset of {where} expired, although members of group {line.group} subscribe to its topic",
            )

    def _went_with_its_topic(self, line: Line, event: OffsetsRemoved) -> None:
        there = next((place for place in event.partitions if place[0] in self._never_deleted), None)
        if there is not None:
            self.blame(
                line,
                f"the offset of {there[0]}-{there[1]} in group {line.group} was deleted with its topic, but the topic was not deleted",
            )


def _topics_of(subscribed: frozenset[str] | bytes) -> frozenset[str]:
    if isinstance(subscribed, frozenset):
        return subscribed
    found = subscription(subscribed)
    return frozenset() if found is None else frozenset(found.topics)


class CommittedOffsetsGrow(Judge):
    """Judges that the commits of a group's members go forward."""

    name = "committed_offsets_grow"
    promise = (
        "a group's committed offset goes back only after a commit from outside the group, a position that was reset or rewound, a "
        "deletion or an expiry, or if an older commit was delayed and arrived over another connection after a newer one"
    )
    needs = frozenset({"group", "wire"})

    def __init__(self) -> None:
        super().__init__()
        self._peers: dict[int, str] = {}
        self._committed: dict[tuple[str, str, int], tuple[int, str]] = {}

    @on(RequestSeen)
    def _seen(self, line: Line, event: RequestSeen) -> None:
        if event.api == "offset_commit":
            self._peers[line.seq] = event.peer

    @on(RequestAnswered, RequestRefused)
    def _answered(self, line: Line, _: RequestAnswered | RequestRefused) -> None:
        self._peers.pop(line.cause or _NONE, None)

    @on(PositionReset, Rewound)
    def _moved(self, line: Line, _: PositionReset | Rewound) -> None:
        self._committed.pop((line.group or "", line.topic or "", line.partition or 0), None)

    @on(OffsetsRemoved, PendingOffsetsEnded)
    def _changed(self, line: Line, event: OffsetsRemoved | PendingOffsetsEnded) -> None:
        for place in event.partitions:
            self._committed.pop((line.group or "", *place), None)

    @on(GroupDeleted, GroupUnloaded, GroupLoaded)
    def _begins_anew(self, line: Line, _: GroupDeleted | GroupUnloaded | GroupLoaded) -> None:
        self._committed = {
            key: found for key, found in self._committed.items() if key[0] != line.group
        }

    @on(OffsetsCommitted)
    def _commits(self, line: Line, event: OffsetsCommitted) -> None:
        peer, member = self._peers.get(line.cause or _NONE, ""), event.member_id
        for row in event.offsets:
            key = (line.group or "", row.topic, row.partition)
            before, sender = self._committed.get(key, (0, peer))
            if row.offset < before and sender == peer and member:
                self.blame(
                    line,
                    f"{member} committed {key[1]}-{key[2]} at {row.offset} after {before}",
                )
            self._committed[key] = (row.offset, peer)
