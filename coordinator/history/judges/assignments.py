"""Judges assignments: as complete, as even and as sticky as the assignor promises.
`assignors.judge`, which shares no code with the assignors, decides.

It judges Kafka's own assignors, for groups whose members all subscribe to the same topics by
name. The topics must be unchanged since the group's first member joined, and visible to every
client: otherwise the leader's metadata may know less than the log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from assignors.judge import Fault, verdict
from coordinator.events.cluster import PartitionsAdded, TopicCreated, TopicDeleted
from coordinator.events.groups import GroupDeleted
from coordinator.events.groups.classic import GenerationStarted, GenerationStored, MemberJoined
from coordinator.events.groups.consumer import (
    ConsumerGroupUpgraded,
    ConsumerMemberRemoved,
    ConsumerMemberReplaced,
    ConsumerMemberSubscribed,
    MembershipReset,
    TargetAssigned,
)
from coordinator.events.handlers import on
from coordinator.events.wire import AuthorizationRefused

from ..world.blobs import COOPERATIVE, Partitions, assignment, claims, subscription
from ..world.groups.consumer_groups import CHANGES, ConsumerGroup
from .base import KnowsConsumerGroups, Line

_PER_TOPIC: Final = frozenset({"range"})
"""Assignors that distribute each topic separately."""
_EVEN: Final = frozenset({"roundrobin", "sticky", COOPERATIVE, "uniform"})
_STICKY: Final = frozenset({"sticky", COOPERATIVE})


class _Said(NamedTuple):
    """A member's subscription and the partitions that it claims to own."""

    topics: tuple[str, ...]
    owned_partitions: tuple[tuple[str, int], ...]
    generation: int | None


class AssignedWell(KnowsConsumerGroups):
    """Judges that an assignment is what its assignor promises."""

    name = "assigned_well"
    promise = (
        "the assignors range, roundrobin, sticky, cooperative-sticky and uniform assign each partition of the topics that all "
        "members subscribe to, each to one member; cooperative-sticky leaves out a partition that another member must revoke "
        "first. range balances each topic by itself, the others all partitions together. sticky and cooperative-sticky move no "
        "more partitions than necessary"
    )
    needs = frozenset({"group", "cluster"})
    unasked = True

    def __init__(self) -> None:
        super().__init__()
        self._partitions: dict[str, int] = {}
        self._changed: dict[str, int] = {}
        """For each topic, the instant when it was created or changed last."""
        self._hidden: dict[str, int] = {}
        """For each topic, the instant when its metadata was last refused to a client."""
        self._began: dict[str, int] = {}
        """For each group, the instant when its first member joined."""
        self._begun: dict[str, int] = {}
        """For each group the generation whose assignment has not been stored yet."""
        self._topics: dict[str, dict[str, tuple[str, ...] | None]] = {}
        """The topics of each member of a consumer group; None if it subscribes by pattern, or if
        they are unknown."""

    @on(TopicCreated, PartitionsAdded)
    def _of_topic(self, line: Line, event: TopicCreated | PartitionsAdded) -> None:
        first = event.first if isinstance(event, PartitionsAdded) else 0
        self._changed[event.topic] = line.at_ms
        self._partitions[event.topic] = first + len(event.replicas)

    @on(AuthorizationRefused)
    def _refused(self, line: Line, event: AuthorizationRefused) -> None:
        if event.api == "metadata":
            self._hidden[event.name] = line.at_ms

    @on(MemberJoined)
    def _joined(self, line: Line, _: MemberJoined) -> None:
        self._began.setdefault(line.group or "", line.at_ms)

    @on(*CHANGES)
    def _of_consumer_group(self, line: Line, event: object) -> None:
        group, name = self.consumers.see(line), line.group or ""
        match event:
            case TopicDeleted(topic):
                self._changed[topic] = line.at_ms
                self._partitions.pop(topic, None)
            case GroupDeleted() | ConsumerGroupUpgraded() | MembershipReset():
                self._topics.pop(name, None)
            case ConsumerMemberSubscribed():
                self._began.setdefault(name, line.at_ms)
                self._subscribed(name, event.member_id, event)
            case ConsumerMemberReplaced(member, replaced, subscribed):
                self._topics.setdefault(name, {}).pop(replaced, None)
                self._subscribed(name, member, subscribed)
            case ConsumerMemberRemoved(member):
                self._topics.get(name, {}).pop(member, None)
            case TargetAssigned() if group is not None:
                self._target(line, name, group, event)

    def _subscribed(self, group: str, member: str, said: ConsumerMemberSubscribed) -> None:
        by_name = not said.topic_regex and said.classic is None
        members = self._topics.setdefault(group, {})
        members[member] = tuple(sorted(said.topics)) if by_name else None

    @on(GenerationStarted)
    def _generation(self, line: Line, event: GenerationStarted) -> None:
        self._begun[line.group or ""] = event.generation

    @on(GenerationStored)
    def _generation_stored(self, line: Line, event: GenerationStored) -> None:
        group = line.group or ""
        if self._begun.get(group) == event.generation:
            del self._begun[group]  # of a static member that comes back none is made (STA-2)
            if event.protocol_type == "consumer":
                self._stored(line, group, event)

    def _known(
        self, group: str, asked: Iterable[tuple[str, ...] | None], by_leader: bool
    ) -> dict[str, int] | None:
        """Return the topics that all of these subscribe to, with their numbers of partitions.
        None if the subscriptions differ, or if the assignor (the coordinator's, or `by_leader` a
        leader's) may know other metadata than the log."""
        kinds = set(asked)
        topics = kinds.pop() if len(kinds) == 1 else None
        began = self._began.get(group)
        if not topics or began is None:
            return None
        if any(self._changed.get(topic, began) >= began for topic in topics):
            return None
        if by_leader and any(self._hidden.get(topic, -1) >= began for topic in topics):
            return None
        return {topic: self._partitions[topic] for topic in topics if topic in self._partitions}

    def _stored(self, line: Line, group: str, event: GenerationStored) -> None:
        """Judge an assignment that a leader computed."""
        assignor = event.protocol_name
        if assignor not in _PER_TOPIC | _EVEN:
            return
        members: dict[str, _Said] = {}
        given: dict[str, Partitions] = {}
        doubtful = False
        for row in event.members:
            read, has = subscription(row.subscription), assignment(row.assignment)
            if read is None or has is None:
                return
            owned, generation = claims(assignor, row.subscription) or ({}, None)
            doubtful |= bool(owned) and generation != read.generation_id
            members[row.member_id] = _Said(tuple(sorted(read.topics)), _flat(owned), generation)
            given[row.member_id] = has
        claimed = Counter(each for said in members.values() for each in said.owned_partitions)
        sticky = not (doubtful and max(claimed.values(), default=0) > 1)
        self._judge(line, group, assignor, members, given, sticky=sticky, by_leader=True)

    def _target(self, line: Line, name: str, group: ConsumerGroup, event: TargetAssigned) -> None:
        """Judge an assignment that the coordinator computed."""
        assignor = event.assignor
        if assignor is None or assignor not in _PER_TOPIC | _EVEN:
            return
        asked = self._topics.get(name, {})
        members = {
            member: _Said(topics or (), (), None)
            for member in group.members
            if (topics := asked.get(member)) is not None
        }
        if len(members) == len(group.members):
            given = {member: group.target(member) for member in members}
            self._judge(line, name, assignor, members, given, by_leader=False)

    def _judge(
        self,
        line: Line,
        group: str,
        assignor: str,
        members: Mapping[str, _Said],
        given: Mapping[str, Partitions],
        *,
        by_leader: bool,
        sticky: bool = True,
    ) -> None:
        """`sticky`: the log tells for certain which partitions each member owned. Of two claims
        to one partition Kafka's sticky assignor compares the generation in one member's user
        data with that in the other's subscription; the two differ in a member whose SyncGroup
        failed (STK-1, STK-5)."""
        known = self._known(group, (said.topics for said in members.values()), by_leader)
        if known is None or (assignor not in _STICKY and _is_plainly_well(known, given, assignor)):
            return
        plan = {member: _flat(partitions) for member, partitions in given.items()}
        found = verdict(known, members, plan, cooperative=assignor == COOPERATIVE)
        what = f"the assignment of group {group} by {assignor}"
        wrong = [finding for finding in found.findings if finding.fault is not Fault.TWICE]
        if wrong:  # of two owners others tell
            self.blame(line, f"{what} is not valid: {wrong[0]}")
        elif assignor in _PER_TOPIC:
            self._per_topic(line, what, given)
        elif not found.withheld and found.imbalance is not None:
            self.blame(line, f"{what} is not even: {found.imbalance}")
        elif assignor in _STICKY and sticky and found.least.exact and not found.is_sticky:
            self.blame(
                line,
                f"{what} moves {len(found.moves)} partitions; {found.least.moves} would have been enough",
            )

    def _per_topic(self, line: Line, what: str, given: Mapping[str, Partitions]) -> None:
        topics = {topic for partitions in given.values() for topic in partitions}
        for topic in sorted(topics):
            counts = Counter(
                {member: len(partitions.get(topic, ())) for member, partitions in given.items()}
            )
            (most, many), (least, few) = counts.most_common(1)[0], counts.most_common()[-1]
            if many - few > 1:
                self.blame(
                    line,
                    f"{what} is not even: {most} has {many} partitions of {topic}, {least} has {few}",
                )
                return


def _is_plainly_well(
    known: Mapping[str, int], given: Mapping[str, Partitions], assignor: str
) -> bool:
    """Return True if every partition is assigned once and no member has two more than another.
    This quick count suffices for most assignments."""
    places = {(topic, number) for has in given.values() for topic in has for number in has[topic]}
    total = sum(known.values())
    if len(places) != total or any(number >= known.get(topic, 0) for topic, number in places):
        return False
    counts = [[sum(map(len, has.values())) for has in given.values()]]
    if sum(counts[0]) != total:
        return False
    if assignor in _PER_TOPIC:
        counts = [[len(has.get(topic, ())) for has in given.values()] for topic in known]
    return all(max(each) - min(each) <= 1 for each in counts)


def _flat(topics: Partitions) -> tuple[tuple[str, int], ...]:
    return tuple((topic, number) for topic, numbers in topics.items() for number in numbers)
